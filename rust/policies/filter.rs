//! Acting on the state of an affine filter.

use std::sync::Arc;

use crate::error::Result;
use crate::learn::spectral::filter::Filter;
use crate::policies::array::Array;
use crate::policies::places::{Places, UNSEEN};
use crate::policies::{Parted, check_finite, check_sizes};
use crate::simulate::policy::{Policy, Rule};

/// q(h, a) = weights[0, a] + Σ_i state(h)[i] · weights[1 + i, a].
#[derive(Clone, Debug)]
pub struct FilterPolicy {
    n_actions: usize,
    n_observations: usize,
    pub(crate) filter: Arc<Filter>,
    /// Of the matrices.
    places: Places,
    start: Vec<f32>,
    weights: Array<f64, 2>,
    rule: Rule,
}

/// What it is made of.
pub struct Parts {
    /// Those that were seen.
    pub symbols: Vec<i64>,
    /// (seen, 1 + rank, rank): state after a symbol = [1, state] · operator.
    pub operators: Array<f32, 3>,
    /// Number of observations.
    pub n_observations: usize,
    /// State before the first step.
    pub start: Vec<f32>,
    /// Root mean square to which longer states are shortened.
    pub reach: f32,
    /// (1 + rank, actions)
    pub weights: Array<f64, 2>,
    /// Of acting.
    pub rule: Rule,
}

/// What the policy carries through an episode: the state.
#[derive(Clone, Debug)]
pub struct Memory(Vec<f32>);

impl FilterPolicy {
    /// (seen, 1 + rank, rank)
    pub(crate) fn operators(&self) -> Array<f32, 3> {
        let rank = self.filter.rank();
        Array { entries: self.filter.operators(), shape: [self.filter.n_symbols(), 1 + rank, rank] }
    }
}

impl Parted for FilterPolicy {
    type Parts = Parts;

    fn new(parts: Parts) -> Result<Self> {
        let Parts { symbols, operators, n_observations, start, reach, weights, rule } = parts;
        let filter = Filter::new(operators.shape[2], &operators, reach)?;
        let (rank, n_actions) = (filter.rank(), weights.shape[1]);
        check_sizes([
            ("symbols", symbols.len(), filter.n_symbols()),
            ("start", start.len(), rank),
            ("weights", weights.len(), (1 + rank).saturating_mul(n_actions.max(1))),
        ])?;
        check_finite("start", &start)?;
        check_finite("weights", &weights)?;
        rule.check(n_actions)?;
        // What is shown before the first action is the answer to one more.
        let n_symbols = n_actions.saturating_add(1).saturating_mul(n_observations);
        let places = Places::new(&symbols, n_symbols, "a filter")?;
        let filter = Arc::new(filter);
        Ok(FilterPolicy { n_actions, n_observations, filter, places, start, weights, rule })
    }

    fn parts(&self) -> Parts {
        Parts {
            symbols: self.places.symbols(),
            operators: self.operators(),
            n_observations: self.n_observations,
            start: self.start.clone(),
            reach: self.filter.reach(),
            weights: self.weights.clone(),
            rule: self.rule.clone(),
        }
    }
}

impl Policy for FilterPolicy {
    type Memory = Memory;

    sizes_and_rule!();

    fn describe(&self) -> String {
        let n_symbols = self.n_actions * self.n_observations;
        let seen = (0..n_symbols).filter(|&symbol| self.places.of(symbol) != UNSEEN).count();
        format!("rank {}, {seen} of {n_symbols} symbols seen", self.filter.rank())
    }

    fn start(&self) -> Memory {
        Memory(self.start.clone())
    }

    fn knows(&self, memory: &Memory) -> bool {
        memory.0.len() == self.filter.rank()
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        let (bias, slopes) = self.weights.split_at(self.n_actions);
        values.copy_from_slice(bias);
        for (&x, slopes) in memory.0.iter().zip(slopes.chunks_exact(self.n_actions)) {
            values.iter_mut().zip(slopes).for_each(|(value, slope)| *value += f64::from(x) * slope);
        }
    }

    /// A symbol that the data never showed changes nothing.
    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        let place = self.places.of(action * self.n_observations + observation);
        if place != UNSEEN {
            let mut next = vec![0.0; memory.0.len()];
            self.filter.step(&memory.0, place as i32, &mut next);
            memory.0 = next;
        }
    }
}
