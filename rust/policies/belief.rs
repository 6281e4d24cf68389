//! Acting on beliefs: values that are linear in what several cloned hidden Markov models believe.

use pulp::{Arch, Simd, WithSimd};

use crate::error::Result;
use crate::parallel::Ticker;
use crate::policies::array::Array;
pub use crate::policies::belief_models::Joined;
use crate::policies::belief_models::Span;
use crate::policies::{Parted, check_finite, check_shape, check_sizes};
use crate::simulate::policy::{Described, Policy, Rule};
use crate::simulate::replay::at_cuts;
use crate::trajectories::View;

/// q(h, a) = bias[a] + max_v Σ_s weights[s, v, a] · belief(h)[s]: one vector for values that are linear in beliefs,
/// several for plans.
#[derive(Clone, Debug)]
pub struct BeliefPolicy {
    pub(crate) parts: Parts,
    models: Vec<Span>,
    /// States of all models.
    pub(crate) n_features: usize,
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
        parts.joined.shown.get_or_insert_default();
        let models = parts.joined.spans()?;
        let (n_actions, n_features) = (parts.bias.len(), parts.joined.starts.len());
        check_sizes([
            ("kinds", parts.joined.kinds.len(), n_actions),
            ("states", n_features, n_features.max(1)),
            ("bias", n_actions, n_actions.max(1)),
        ])?;
        check_shape("weights", &parts.weights, [n_features, parts.weights.shape[1].max(1), n_actions])?;
        check_finite("weights", &parts.weights)?;
        check_finite("bias", &parts.bias)?;
        parts.rule.check(n_actions)?;
        Ok(BeliefPolicy { parts, models, n_features })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl BeliefPolicy {
    /// [1, beliefs] at every cut of the data, also after the last step of an episode:
    /// (steps + episodes, 1 + features).
    pub fn at_cuts(&self, view: &View, threads: usize, ticker: &Ticker) -> Result<Vec<f32>> {
        let update = |memory: &mut Memory, action, observation| self.update(memory, action, observation);
        let write = |memory: &Memory, row: &mut [f32]| {
            row[0] = 1.0;
            row[1..].copy_from_slice(&memory.values);
        };
        at_cuts(view, 1 + self.n_features, threads, ticker, || self.start(), update, write)
    }
}

/// Beliefs after a history, and where each of them is not zero.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) values: Vec<f32>,
    pub(crate) supports: Vec<(u32, u32)>,
}

impl Described for BeliefPolicy {
    sizes_and_rule!(self: self.parts.bias.len(), self.parts.joined.ranges.shape[1]);

    fn describe(&self) -> String {
        let sizes: Vec<String> = self.parts.joined.states.iter().map(i64::to_string).collect();
        format!("models of {} states", sizes.join(", "))
    }
}

impl Policy for BeliefPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        let support = |model: &Span| (model.first as u32, (model.first + model.states) as u32);
        let supports = self.models.iter().map(support).collect();
        Memory { values: self.parts.joined.starts.clone(), supports }
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

    /// Bayes' rule. An observation that a model holds impossible makes its belief even over the clones of that
    /// observation. One of which nothing is known has all states for clones, and only the transition counts.
    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        let joined = &self.parts.joined;
        if action == joined.kinds.len() && !joined.opens {
            return;
        }
        let mut next = vec![0.0f32; self.n_features];
        for (model, support) in self.models.iter().zip(&mut memory.supports) {
            let (first, (low, high)) = (model.first, joined.range(model, observation));
            let target = &mut next[first + low..first + high];
            match joined.kinds.get(action) {
                None => target.copy_from_slice(&memory.values[first + low..first + high]),
                Some(&kind) => {
                    let transitions = joined.transitions(model, kind);
                    for s in support.0 as usize - first..support.1 as usize - first {
                        let weight = memory.values[first + s];
                        let row = &transitions[s * model.states + low..s * model.states + high];
                        target.iter_mut().zip(row).for_each(|(entry, t)| *entry += weight * t);
                    }
                }
            }
            if let Some(shown) = joined.shown(model, observation) {
                target.iter_mut().zip(shown).for_each(|(entry, p)| *entry *= p);
            }
            let total: f32 = target.iter().sum();
            if total > 1e-12 {
                target.iter_mut().for_each(|entry| *entry /= total);
            } else {
                target.fill(1.0 / (high - low) as f32);
            }
            *support = ((first + low) as u32, (first + high) as u32);
        }
        memory.values = next;
    }
}

/// products += Σ weight · row, over pairs of where a row of the weights begins and its weight. Always in this order, so
/// that every processor gives the same bits.
pub struct Weigh<'a> {
    pub(crate) believed: &'a [(usize, f64)],
    pub(crate) weights: &'a [f64],
    pub(crate) products: &'a mut [f64],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.products.len();
        let row = |place: usize| &self.weights[place..][..width];
        // Four at a time, so that a sum is loaded and stored once for all of them.
        let (fours, rest) = self.believed.as_chunks::<4>();
        for &[a, b, c, d] in fours {
            let rows = row(a.0).iter().zip(row(b.0)).zip(row(c.0)).zip(row(d.0));
            for (sum, (((w, x), y), z)) in self.products.iter_mut().zip(rows) {
                *sum = *sum + a.1 * w + b.1 * x + c.1 * y + d.1 * z;
            }
        }
        for &(place, weight) in rest {
            self.products.iter_mut().zip(row(place)).for_each(|(sum, w)| *sum += weight * w);
        }
    }
}
