//! A policy that looks at the last symbol only.

use crate::error::{Error, Result};
use crate::simulate::policy::Policy;

/// Action probabilities by last symbol; the row after the last symbol's is for the start of an episode.
#[derive(Clone, Debug)]
pub struct TablePolicy {
    n_actions: usize,
    n_observations: usize,
    probs: Vec<f64>,
}

impl TablePolicy {
    pub fn new(probs: Vec<f64>, n_actions: usize, n_observations: usize) -> Result<Self> {
        let rows = n_actions.saturating_mul(n_observations).saturating_add(1);
        if n_actions == 0 || n_observations == 0 || probs.len() != rows.saturating_mul(n_actions) {
            let remedy = format!("expected {rows} rows (one per symbol, one for the start) of {n_actions}");
            return Err(Error::argument("probs", format!("{} entries", probs.len()), remedy));
        }
        for (row, entries) in probs.chunks_exact(n_actions).enumerate() {
            let total: f64 = entries.iter().sum();
            if entries.iter().any(|p| !(0.0..=1.0).contains(p)) || (total - 1.0).abs() > 1e-9 {
                let problem = format!("{entries:?} is not a probability distribution");
                return Err(Error::Distribution { table: "probs", row: row.to_string(), problem });
            }
        }
        Ok(TablePolicy { n_actions, n_observations, probs })
    }

    pub fn n_actions(&self) -> usize {
        self.n_actions
    }

    pub fn n_observations(&self) -> usize {
        self.n_observations
    }

    /// (symbols + 1, actions), row-major.
    pub fn probs(&self) -> &[f64] {
        &self.probs
    }
}

impl Policy for TablePolicy {
    type Memory = usize;

    fn start(&self) -> usize {
        self.n_actions * self.n_observations
    }

    #[inline]
    fn action_probs(&self, row: &usize, probs: &mut [f64]) {
        probs.copy_from_slice(&self.probs[row * self.n_actions..(row + 1) * self.n_actions]);
    }

    #[inline]
    fn update(&self, row: &mut usize, action: usize, observation: usize) {
        *row = action * self.n_observations + observation;
    }
}
