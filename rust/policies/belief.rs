//! Acting on beliefs: values that are linear in what several cloned hidden Markov models believe.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::learn::beliefs::CloneModel;
use crate::parallel::Ticker;
use crate::policies::{check_finite, check_sizes, check_temperature};
use crate::simulate::policy::Policy;
use crate::simulate::replay::at_cuts;
use crate::trajectories::View;

/// One model, ready to be stepped.
#[derive(Clone, Debug)]
pub struct Filter {
    pub n_states: usize,
    /// First and last + 1 of the states that show an observation.
    pub ranges: Vec<(u32, u32)>,
    pub start: Vec<f32>,
    /// (actions, states, states): probability of going on and of the next state.
    pub moves: Vec<f32>,
}

impl Filter {
    pub fn validate(&self, n_actions: usize, n_observations: usize) -> Result<()> {
        let states = self.n_states;
        check_sizes([
            ("starts", self.start.len(), states.max(1)),
            ("moves", self.moves.len(), n_actions.saturating_mul(states).saturating_mul(states)),
            ("ranges", self.ranges.len(), n_observations),
        ])?;
        if self.ranges.iter().any(|&(low, high)| low > high || high as usize > states) {
            return Err(Error::argument("ranges", "beyond the states", format!("there are {states} states")));
        }
        if self.start.iter().chain(&self.moves).any(|p| !(0.0..=1.001).contains(p)) {
            return Err(Error::argument("moves", "not probabilities", "give numbers in [0, 1]"));
        }
        Ok(())
    }
}

/// A family of models; the features of a history are their beliefs, one after the other.
#[derive(Clone, Debug)]
pub struct Beliefs {
    filters: Vec<Filter>,
    n_features: usize,
}

/// Beliefs after a history, and where each of them is not zero.
#[derive(Clone, Debug)]
pub struct Memory {
    pub values: Vec<f32>,
    pub supports: Vec<(u32, u32)>,
}

impl Beliefs {
    /// The models as they move in one of the tasks that they were trained on.
    pub fn new(models: &[CloneModel], task: usize) -> Self {
        let filter = |model: &CloneModel| {
            let mut moves = model.transitions.clone();
            for (row, end) in moves.chunks_exact_mut(model.n_states).zip(model.ends(task)) {
                row.iter_mut().for_each(|t| *t *= 1.0 - end);
            }
            Filter {
                n_states: model.n_states,
                ranges: model.ranges.clone(),
                start: model.start.clone(),
                moves,
            }
        };
        Self::of(models.iter().map(filter).collect())
    }

    pub fn of(filters: Vec<Filter>) -> Self {
        let n_features = filters.iter().map(|filter| filter.n_states).sum();
        Beliefs { filters, n_features }
    }

    /// Models whose arrays lie one after the other: states (models), starts, moves, and (models, observations, 2) ranges.
    pub fn cut(
        states: &[i64],
        mut starts: &[f32],
        mut moves: &[f32],
        ranges: &[u32],
        n_actions: usize,
        n_observations: usize,
    ) -> Result<Self> {
        check_sizes([(
            "ranges",
            ranges.len(),
            states.len().saturating_mul(n_observations).saturating_mul(2),
        )])?;
        let mut filters = Vec::with_capacity(states.len());
        for (place, &states) in states.iter().enumerate() {
            let n_states = usize::try_from(states).unwrap_or(0);
            let cells = n_actions.saturating_mul(n_states).saturating_mul(n_states);
            if n_states == 0 || n_states > starts.len() || cells > moves.len() {
                let given = format!("{} starts and {} moves are left", starts.len(), moves.len());
                return Err(Error::argument(
                    "states",
                    given,
                    format!("a model of {states} states needs more"),
                ));
            }
            let (start, moved) = (starts[..n_states].to_vec(), moves[..cells].to_vec());
            (starts, moves) = (&starts[n_states..], &moves[cells..]);
            let shown = &ranges[2 * place * n_observations..2 * (place + 1) * n_observations];
            let ranges = shown.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            filters.push(Filter { n_states, ranges, start, moves: moved });
        }
        check_sizes([("starts", starts.len(), 0), ("moves", moves.len(), 0)])?;
        Ok(Self::of(filters))
    }

    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    pub fn n_features(&self) -> usize {
        self.n_features
    }

    pub fn start(&self) -> Memory {
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
    /// observation; one that was never seen in training is passed over, and only the move counts.
    pub fn update(&self, belief: &mut Memory, action: usize, observation: usize) {
        let mut next = vec![0.0f32; self.n_features];
        let mut from = 0;
        for (filter, support) in self.filters.iter().zip(&mut belief.supports) {
            let states = filter.n_states;
            let (low, high) = filter.ranges.get(observation).copied().unwrap_or((0, 0));
            let (low, high) = if high > low { (low as usize, high as usize) } else { (0, states) };
            let moves = &filter.moves[action * states * states..(action + 1) * states * states];
            let target = &mut next[from + low..from + high];
            for s in support.0 as usize - from..support.1 as usize - from {
                let weight = belief.values[from + s];
                let row = &moves[s * states + low..s * states + high];
                target.iter_mut().zip(row).for_each(|(entry, t)| *entry += weight * t);
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

    /// Beliefs at every cut of the data, also after the last step of an episode: (steps + episodes, features).
    pub fn along(&self, view: &View, threads: usize, ticker: &Ticker) -> Result<Vec<f32>> {
        let update = |memory: &mut Memory, action, observation| self.update(memory, action, observation);
        let write = |memory: &Memory, row: &mut [f32]| row.copy_from_slice(&memory.values);
        at_cuts(view, self.n_features, threads, ticker, || self.start(), update, write)
    }
}

/// q(h, a) = bias[a] + Σ_s weights[s, a] · belief(h)[s].
#[derive(Clone, Debug)]
pub struct BeliefPolicy {
    pub n_actions: usize,
    pub n_observations: usize,
    pub beliefs: Arc<Beliefs>,
    /// (features, actions)
    pub weights: Vec<f64>,
    pub bias: Vec<f64>,
    pub temperature: f64,
}

impl BeliefPolicy {
    pub fn validate(&self) -> Result<()> {
        for filter in self.beliefs.filters() {
            filter.validate(self.n_actions, self.n_observations)?;
        }
        check_sizes([
            ("states", self.beliefs.n_features(), self.beliefs.n_features().max(1)),
            ("weights", self.weights.len(), self.beliefs.n_features().saturating_mul(self.n_actions)),
            ("bias", self.bias.len(), self.n_actions.max(1)),
        ])?;
        check_finite("weights", &self.weights)?;
        check_finite("bias", &self.bias)?;
        check_temperature(self.temperature)
    }
}

impl Policy for BeliefPolicy {
    type Memory = Memory;

    fn n_actions(&self) -> usize {
        self.n_actions
    }

    fn n_observations(&self) -> usize {
        self.n_observations
    }

    fn temperature(&self) -> f64 {
        self.temperature
    }

    fn describe(&self) -> String {
        let sizes: Vec<String> =
            self.beliefs.filters().iter().map(|filter| filter.n_states.to_string()).collect();
        format!("models of {} states", sizes.join(", "))
    }

    fn start(&self) -> Memory {
        self.beliefs.start()
    }

    fn knows(&self, memory: &Memory) -> bool {
        let mut from = 0;
        let inside = self.beliefs.filters().iter().zip(&memory.supports).all(|(filter, &(low, high))| {
            let first = from;
            from += filter.n_states as u32;
            first <= low && low <= high && high <= from
        });
        inside
            && memory.values.len() == self.beliefs.n_features()
            && memory.supports.len() == self.beliefs.filters().len()
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        values.copy_from_slice(&self.bias);
        for &(low, high) in &memory.supports {
            for feature in low as usize..high as usize {
                let weight = f64::from(memory.values[feature]);
                let row = &self.weights[feature * values.len()..(feature + 1) * values.len()];
                values.iter_mut().zip(row).for_each(|(sum, w)| *sum += weight * w);
            }
        }
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        self.beliefs.update(memory, action, observation);
    }
}
