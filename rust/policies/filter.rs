//! Acting on the state of an affine filter.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::learn::spectral::filter::{Filter, UNSEEN};
use crate::policies::{check_finite, check_sizes, check_temperature};
use crate::simulate::policy::Policy;

/// q(h, a) = weights[0, a] + Σ_i state(h)[i] · weights[1 + i, a].
#[derive(Clone, Debug)]
pub struct FilterPolicy {
    n_actions: usize,
    n_observations: usize,
    filter: Arc<Filter>,
    /// Place of every symbol's matrix, or `UNSEEN`.
    places: Vec<i32>,
    start: Vec<f32>,
    /// (1 + rank, actions)
    weights: Vec<f64>,
    temperature: f64,
}

/// What a policy of so many actions and observations is made of.
pub struct Parts<'a> {
    pub n_actions: usize,
    pub n_observations: usize,
    pub symbols: &'a [i64],
    pub filter: Filter,
    pub start: Vec<f32>,
    pub weights: Vec<f64>,
    pub temperature: f64,
}

/// What the policy carries through an episode: the state.
#[derive(Clone, Debug)]
pub struct Memory(Vec<f32>);

impl FilterPolicy {
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
        let n_symbols = n_actions.saturating_mul(n_observations);
        if n_symbols >= i32::MAX as usize {
            let given = format!("{n_symbols} symbols");
            return Err(Error::argument("n_observations", given, "too many for a filter"));
        }
        let mut places = vec![UNSEEN; n_symbols];
        for (place, &symbol) in symbols.iter().enumerate() {
            match usize::try_from(symbol).ok().and_then(|symbol| places.get_mut(symbol)) {
                Some(entry) if *entry == UNSEEN => *entry = place as i32,
                Some(_) => return Err(Error::argument("symbols", symbol, "this symbol is listed twice")),
                None => return Err(Error::argument("symbols", symbol, format!("outside 0..{n_symbols}"))),
            }
        }
        let filter = Arc::new(filter);
        Ok(FilterPolicy { n_actions, n_observations, filter, places, start, weights, temperature })
    }

    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    pub fn first_state(&self) -> &[f32] {
        &self.start
    }

    /// (1 + rank, actions)
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The seen symbols, in the order of their matrices.
    pub fn symbols(&self) -> Vec<i64> {
        let mut symbols = vec![0; self.filter.n_symbols()];
        for (symbol, &place) in self.places.iter().enumerate().filter(|(_, place)| **place != UNSEEN) {
            symbols[place as usize] = symbol as i64;
        }
        symbols
    }
}

impl Policy for FilterPolicy {
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
        format!(
            "rank {}, {} of {} symbols seen",
            self.filter.rank(),
            self.filter.n_symbols(),
            self.places.len()
        )
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
        let place = self.places.get(action * self.n_observations + observation).copied().unwrap_or(UNSEEN);
        if place != UNSEEN {
            let mut next = vec![0.0; memory.0.len()];
            self.filter.step(&memory.0, place, &mut next);
            memory.0 = next;
        }
    }
}
