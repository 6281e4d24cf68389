//! Acting on the state of an affine filter.

use std::mem::take;
use std::sync::Arc;

use crate::error::Result;
use crate::learn::spectral::filter::Filter;
use crate::policies::array::Array;
use crate::policies::places::{Places, UNSEEN};
use crate::policies::{Parted, check_finite, check_shape, check_sizes};
use crate::simulate::policy::{Described, Policy, Rule};

/// q(h, a) = weights[0, a] + Σ_i state(h)[i] · weights[1 + i, a].
#[derive(Clone, Debug)]
pub struct FilterPolicy {
    /// All but the operators, which the filter has.
    parts: Parts,
    pub(crate) filter: Arc<Filter>,
    places: Places,
}

#[derive(Clone, Debug)]
pub struct Parts {
    pub symbols: Vec<i64>,
    /// (seen, 1 + rank, rank): state after a symbol = [1, state] · operator.
    pub operators: Array<f32, 3>,
    pub(crate) n_observations: usize,
    pub start: Vec<f32>,
    /// Root mean square to which longer states are shortened.
    pub reach: f32,
    /// (1 + rank, actions)
    pub weights: Array<f64, 2>,
    pub(crate) rule: Rule,
}

/// What the policy carries through an episode: the state.
#[derive(Clone, Debug)]
pub struct Memory(Vec<f32>);

impl FilterPolicy {
    /// (seen, 1 + rank, rank)
    pub(crate) fn operators(&self) -> Array<f32, 3> {
        Array { entries: self.filter.operators(), ..self.parts.operators }
    }
}

impl Parted for FilterPolicy {
    type Parts = Parts;

    fn new(mut parts: Parts) -> Result<Self> {
        let operators = take(&mut parts.operators.entries);
        let filter = Arc::new(Filter::new(parts.operators.shape[2], &operators, parts.reach)?);
        let (rank, n_actions) = (filter.rank(), parts.weights.shape[1]);
        check_shape("operators", &parts.operators, [parts.symbols.len(), 1 + rank, rank])?;
        check_sizes([("start", parts.start.len(), rank)])?;
        check_shape("weights", &parts.weights, [1 + rank, n_actions.max(1)])?;
        check_finite("start", &parts.start)?;
        check_finite("weights", &parts.weights)?;
        parts.rule.check(n_actions)?;
        // What is shown before the first action is the answer to one more.
        let n_symbols = n_actions.saturating_add(1).saturating_mul(parts.n_observations);
        let places = Places::new(&parts.symbols, n_symbols, "a filter")?;
        Ok(FilterPolicy { parts, filter, places })
    }

    fn parts(&self) -> Parts {
        Parts { operators: self.operators(), ..self.parts.clone() }
    }
}

impl Described for FilterPolicy {
    sizes_and_rule!(self: self.parts.weights.shape[1], self.parts.n_observations);

    fn describe(&self) -> String {
        let n_symbols = self.n_actions() * self.n_observations();
        let seen = self.parts.symbols.iter().filter(|&&symbol| (symbol as usize) < n_symbols).count();
        format!("rank {}, {seen} of {n_symbols} symbols seen", self.filter.rank())
    }
}

impl Policy for FilterPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        Memory(self.parts.start.clone())
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        let (bias, slopes) = self.parts.weights.split_at(values.len());
        values.copy_from_slice(bias);
        for (&x, slopes) in memory.0.iter().zip(slopes.chunks_exact(values.len())) {
            values.iter_mut().zip(slopes).for_each(|(value, slope)| *value += f64::from(x) * slope);
        }
    }

    /// A symbol that the data never showed changes nothing.
    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        let place = self.places.of(action * self.n_observations() + observation);
        if place != UNSEEN {
            let mut next = vec![0.0; memory.0.len()];
            self.filter.step(&memory.0, place as i32, &mut next);
            memory.0 = next;
        }
    }
}
