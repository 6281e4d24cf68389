//! Acting on beliefs: values that are linear in what several cloned hidden Markov models believe.

use std::mem::take;

use pulp::Arch;

use crate::error::{Error, Result};
use crate::learn::beliefs::{CloneModel, along};
use crate::parallel::Ticker;
use crate::policies::array::Array;
use crate::policies::belief_filter::{Filter, Weigh};
use crate::policies::{Parted, check_finite, check_sizes, indices, listed};
use crate::simulate::policy::{Described, Policy, Rule};
use crate::trajectories::View;

/// A family of models; the features of a history are their beliefs, one after the other.
#[derive(Clone, Debug)]
pub struct Beliefs {
    pub(crate) filters: Vec<Filter>,
    /// Which of the transition matrices an action has.
    pub kinds: Vec<u32>,
    /// Whether the models know what an episode shows before its first action; otherwise it is not looked at.
    pub opens: bool,
    pub(crate) n_features: usize,
}

/// The arrays of several models, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Joined {
    /// (models)
    pub states: Vec<i64>,
    /// What is believed before the first step.
    pub starts: Vec<f32>,
    /// (kinds, states, states) of each.
    pub transitions: Vec<f32>,
    /// (observations, states) of each; empty or None where states show one observation only.
    pub shown: Option<Vec<f32>>,
    /// (models, observations, 2): first and last + 1 of the states that show an observation.
    pub ranges: Array<i64, 3>,
    /// (actions): which of the transition matrices each has.
    pub kinds: Vec<i64>,
    /// Whether the models know what an episode shows before its first action.
    pub opens: bool,
}

/// Beliefs after a history, and where each of them is not zero.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) values: Vec<f32>,
    pub(crate) supports: Vec<(u32, u32)>,
}

impl Beliefs {
    /// The models as they go on in one of the tasks that they were trained on.
    pub fn new(models: &[CloneModel], task: usize) -> Self {
        let filter = |model: &CloneModel| {
            let (layout, mut transitions) = (&model.layout, model.transitions.clone());
            for (row, goes_on) in transitions.chunks_exact_mut(layout.n_states).zip(model.goes_on(task)) {
                row.iter_mut().for_each(|t| *t *= goes_on);
            }
            let shown = model.shown();
            let row = |code: &u32| &shown[*code as usize * layout.n_states..][..layout.n_states];
            let observations = 0..layout.ranges.len();
            Filter {
                n_states: layout.n_states,
                ranges: observations.map(|o| layout.range(o)).map(|(a, b)| (a as u32, b as u32)).collect(),
                start: model.start.clone(),
                transitions,
                shown: if layout.noisy() {
                    layout.codes.iter().flat_map(row).copied().collect()
                } else {
                    Vec::new()
                },
            }
        };
        let kinds = models.first().map_or(Vec::new(), |model| model.layout.kinds.clone());
        let opens = models.first().is_some_and(|model| model.layout.opens);
        Self::of(models.iter().map(filter).collect(), kinds, opens)
    }

    fn of(filters: Vec<Filter>, kinds: Vec<u32>, opens: bool) -> Self {
        let n_features = filters.iter().map(|filter| filter.n_states).sum();
        Beliefs { filters, kinds, opens, n_features }
    }

    pub(crate) fn n_observations(&self) -> usize {
        self.filters.first().map_or(0, |filter| filter.ranges.len())
    }

    pub fn joined(&self) -> Joined {
        let filters = &self.filters;
        let one = |part: fn(&Filter) -> &Vec<f32>| filters.iter().flat_map(part).copied().collect();
        let ranges = filters.iter().flat_map(|filter| &filter.ranges).flat_map(|&(low, high)| [low, high]);
        Joined {
            states: filters.iter().map(|filter| filter.n_states as i64).collect(),
            starts: one(|filter| &filter.start),
            transitions: one(|filter| &filter.transitions),
            shown: Some(one(|filter| &filter.shown)),
            ranges: Array { entries: listed(ranges), shape: [filters.len(), self.n_observations(), 2] },
            kinds: listed(self.kinds.iter().copied()),
            opens: self.opens,
        }
    }

    fn cut(arrays: &Joined) -> Result<Self> {
        let n_observations = arrays.ranges.shape[1];
        let (ranges, kinds) = (indices("ranges", &arrays.ranges)?, indices("kinds", &arrays.kinds)?);
        let (mut starts, mut transitions) = (&arrays.starts[..], &arrays.transitions[..]);
        let mut shown = arrays.shown.as_deref().unwrap_or_default();
        let expected = arrays.states.len().saturating_mul(n_observations).saturating_mul(2);
        check_sizes([("ranges", ranges.len(), expected)])?;
        let (n_kinds, noisy) = (kinds.iter().max().map_or(0, |&kind| kind as usize + 1), !shown.is_empty());
        let mut filters = Vec::with_capacity(arrays.states.len());
        for (place, &states) in arrays.states.iter().enumerate() {
            let n_states = usize::try_from(states).unwrap_or(0);
            let cells = n_kinds.saturating_mul(n_states).saturating_mul(n_states);
            if n_states == 0 || n_states > starts.len() || cells > transitions.len() {
                let given = format!("{} starts and {} transitions are left", starts.len(), transitions.len());
                let remedy = format!("a model of {states} states needs more");
                return Err(Error::argument("states", given, remedy));
            }
            let (start, moved) = (starts[..n_states].to_vec(), transitions[..cells].to_vec());
            (starts, transitions) = (&starts[n_states..], &transitions[cells..]);
            let own = &ranges[2 * place * n_observations..2 * (place + 1) * n_observations];
            let ranges = own.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let seen = if noisy { n_observations.saturating_mul(n_states) } else { 0 };
            let Some((mine, rest)) = shown.split_at_checked(seen) else {
                let given = format!("{} are left", shown.len());
                let remedy = format!("a model of {states} states needs {seen}");
                return Err(Error::argument("shown", given, remedy));
            };
            shown = rest;
            let filter = Filter { n_states, ranges, start, transitions: moved, shown: mine.to_vec() };
            filter.validate(n_kinds, n_observations)?;
            filters.push(filter);
        }
        check_sizes([
            ("starts", starts.len(), 0),
            ("transitions", transitions.len(), 0),
            ("shown", shown.len(), 0),
        ])?;
        Ok(Self::of(filters, kinds, arrays.opens))
    }

    /// [1, beliefs] at every cut of the data, also after the last step of an episode:
    /// (steps + episodes, 1 + features).
    pub fn at_cuts(&self, view: &View, threads: usize, ticker: &Ticker) -> Result<Vec<f32>> {
        let models: Vec<CloneModel> =
            self.filters.iter().map(|filter| filter.as_model(&self.kinds, self.opens)).collect();
        along(&models, view, threads, ticker)
    }

    pub(crate) fn start(&self) -> Memory {
        let mut supports = Vec::with_capacity(self.filters.len());
        let mut from = 0;
        for filter in &self.filters {
            supports.push((from, from + filter.n_states as u32));
            from += filter.n_states as u32;
        }
        let values = self.filters.iter().flat_map(|filter| filter.start.iter().copied()).collect();
        Memory { values, supports }
    }

    /// Bayes' rule. An observation that a model holds impossible makes its belief even over the clones of that
    /// observation. One of which nothing is known has all states for clones, and only the transition counts.
    pub fn update(&self, belief: &mut Memory, action: usize, observation: usize) {
        if action == self.kinds.len() && !self.opens {
            return;
        }
        let mut next = vec![0.0f32; self.n_features];
        let mut from = 0;
        for (filter, support) in self.filters.iter().zip(&mut belief.supports) {
            let states = filter.n_states;
            let (low, high) = filter.ranges[observation];
            let (low, high) = (low as usize, high as usize);
            let target = &mut next[from + low..from + high];
            match self.kinds.get(action) {
                None => target.copy_from_slice(&belief.values[from + low..from + high]),
                Some(&kind) => {
                    let transitions =
                        &filter.transitions[kind as usize * states * states..][..states * states];
                    for s in support.0 as usize - from..support.1 as usize - from {
                        let weight = belief.values[from + s];
                        let row = &transitions[s * states + low..s * states + high];
                        target.iter_mut().zip(row).for_each(|(entry, t)| *entry += weight * t);
                    }
                }
            }
            if let Some(shown) = filter.shown.chunks_exact(states).nth(observation) {
                target.iter_mut().zip(shown).for_each(|(entry, p)| *entry *= p);
            }
            let total: f32 = target.iter().sum();
            if total > 1e-12 {
                target.iter_mut().for_each(|entry| *entry /= total);
            } else {
                target.fill(1.0 / (high - low) as f32);
            }
            *support = ((from + low) as u32, (from + high) as u32);
            from += states;
        }
        belief.values = next;
    }
}

/// q(h, a) = bias[a] + max_v Σ_s weights[s, v, a] · belief(h)[s]: one vector for values that are linear in beliefs,
/// several for plans.
#[derive(Clone, Debug)]
pub struct BeliefPolicy {
    pub(crate) beliefs: Beliefs,
    /// All but the arrays of the models.
    pub(crate) parts: Parts,
}

/// What it is made of; weights are (features, vectors, actions).
#[derive(Clone, Debug)]
pub struct Parts {
    pub(crate) joined: Joined,
    pub(crate) weights: Array<f64, 3>,
    pub(crate) bias: Vec<f64>,
    pub(crate) rule: Rule,
}

impl Parted for BeliefPolicy {
    type Parts = Parts;

    fn new(mut parts: Parts) -> Result<Self> {
        let beliefs = Beliefs::cut(&take(&mut parts.joined))?;
        let (n_actions, n_features) = (parts.bias.len(), beliefs.n_features);
        check_sizes([
            ("kinds", beliefs.kinds.len(), n_actions),
            ("states", n_features, n_features.max(1)),
            ("weights", parts.weights.shape[0], n_features),
            ("weights", parts.weights.shape[2], n_actions),
            ("weights", parts.weights.len(), parts.weights.len().max(1)),
            ("bias", n_actions, n_actions.max(1)),
        ])?;
        check_finite("weights", &parts.weights)?;
        check_finite("bias", &parts.bias)?;
        parts.rule.check(n_actions)?;
        Ok(BeliefPolicy { beliefs, parts })
    }

    fn parts(&self) -> Parts {
        Parts { joined: self.beliefs.joined(), ..self.parts.clone() }
    }
}

impl Described for BeliefPolicy {
    sizes_and_rule!(self: self.parts.bias.len(), self.beliefs.n_observations());

    fn describe(&self) -> String {
        let sizes: Vec<String> =
            self.beliefs.filters.iter().map(|filter| filter.n_states.to_string()).collect();
        format!("models of {} states", sizes.join(", "))
    }
}

impl Policy for BeliefPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        self.beliefs.start()
    }

    fn knows(&self, memory: &Memory) -> bool {
        let mut from = 0;
        let inside = self.beliefs.filters.iter().zip(&memory.supports).all(|(filter, &(low, high))| {
            let first = from;
            from += filter.n_states as u32;
            first <= low && low <= high && high <= from
        });
        inside
            && memory.values.len() == self.beliefs.n_features
            && memory.supports.len() == self.beliefs.filters.len()
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        let width = self.parts.weights.shape[1] * values.len();
        let mut products = vec![0.0; width];
        let features = memory.supports.iter().flat_map(|&(low, high)| low as usize..high as usize);
        let believed: Vec<(usize, f64)> = features
            .map(|feature| (feature * width, f64::from(memory.values[feature])))
            .filter(|&(_, weight)| weight > 0.0)
            .collect();
        Arch::new().dispatch(Weigh {
            believed: &believed,
            weights: &self.parts.weights,
            products: &mut products,
        });
        for (action, value) in values.iter_mut().enumerate() {
            let own = products.iter().skip(action).step_by(self.parts.bias.len());
            *value = self.parts.bias[action] + own.copied().fold(f64::NEG_INFINITY, f64::max);
        }
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        self.beliefs.update(memory, action, observation);
    }
}
