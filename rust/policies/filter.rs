//! Acting on the state of an affine filter.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::learn::spectral::filter::Filter;
use crate::policies::places::{Places, UNSEEN};
use crate::policies::{check_finite, check_sizes, check_temperature};
use crate::simulate::policy::Policy;

/// q(h, a) = weights[0, a] + Σ_i state(h)[i] · weights[1 + i, a].
#[derive(Clone, Debug)]
pub struct FilterPolicy {
    n_actions: usize,
    n_observations: usize,
    pub(crate) filter: Arc<Filter>,
    /// Of the matrices.
    pub places: Places,
    pub(crate) start: Vec<f32>,
    /// (1 + rank, actions)
    pub weights: Vec<f64>,
    temperature: f64,
}

/// What a policy of so many actions and observations is made of.
pub struct Parts<'a> {
    /// Number of actions.
    pub n_actions: usize,
    /// Number of observations.
    pub n_observations: usize,
    /// Those that were seen, in the order of the filter's matrices.
    pub symbols: &'a [i64],
    /// Steps the state.
    pub filter: Filter,
    /// State before the first step.
    pub start: Vec<f32>,
    /// (1 + rank, actions)
    pub weights: Vec<f64>,
    /// 0 acts greedily.
    pub temperature: f64,
}

/// What the policy carries through an episode: the state.
#[derive(Clone, Debug)]
pub struct Memory(Vec<f32>);

impl FilterPolicy {
    /// Refuses parts that do not fit together.
    pub fn new(parts: Parts<'_>) -> Result<Self> {
        let Parts { n_actions, n_observations, symbols, filter, start, weights, temperature } = parts;
        let rank = filter.rank();
        check_sizes([
            ("symbols", symbols.len(), filter.n_symbols()),
            ("start", start.len(), rank),
            ("weights", weights.len(), (1 + rank).saturating_mul(n_actions.max(1))),
        ])?;
        if let Some(bad) = start.iter().find(|x| !x.is_finite()) {
            return Err(Error::argument("start", bad, "all numbers of a policy must be finite"));
        }
        check_finite("weights", &weights)?;
        check_temperature(temperature)?;
        // What is shown before the first action is the answer to one more.
        let n_symbols = n_actions.saturating_add(1).saturating_mul(n_observations);
        let places = Places::new(symbols, n_symbols, "a filter")?;
        let filter = Arc::new(filter);
        Ok(FilterPolicy { n_actions, n_observations, filter, places, start, weights, temperature })
    }
}

impl Policy for FilterPolicy {
    type Memory = Memory;

    sizes_and_temperature!();

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
