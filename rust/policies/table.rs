//! A policy that looks at the last symbol only.

use crate::error::{Error, Result};
use crate::policies::check_temperature;
use crate::simulate::policy::{Policy, softmax};

/// Action probabilities by last symbol; the row after the last symbol's is for the start of an episode.
///
/// The value of an action is the logarithm of its probability, so that temperature 1 gives the table itself.
#[derive(Clone, Debug)]
pub struct TablePolicy {
    n_actions: usize,
    n_observations: usize,
    /// (symbols + 1, actions), row-major.
    pub probs: Vec<f64>,
    temperature: f64,
}

impl TablePolicy {
    /// `probs` has a row for every symbol, then one for the start.
    pub fn new(probs: Vec<f64>, n_actions: usize, n_observations: usize, temperature: f64) -> Result<Self> {
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
        check_temperature(temperature)?;
        Ok(TablePolicy { n_actions, n_observations, probs, temperature })
    }

    #[inline]
    fn row(&self, row: usize) -> &[f64] {
        &self.probs[row * self.n_actions..(row + 1) * self.n_actions]
    }
}

impl Policy for TablePolicy {
    type Memory = usize;

    sizes_and_temperature!();

    fn describe(&self) -> String {
        format!("{} rows", self.probs.len() / self.n_actions)
    }

    fn start(&self) -> usize {
        self.n_actions * self.n_observations
    }

    fn knows(&self, row: &usize) -> bool {
        *row <= self.start()
    }

    fn q_values(&self, row: &usize, values: &mut [f64]) {
        values.iter_mut().zip(self.row(*row)).for_each(|(value, p)| *value = p.ln());
    }

    #[inline]
    fn action_probs(&self, row: &usize, probs: &mut [f64]) {
        probs.copy_from_slice(self.row(*row));
        if self.temperature != 1.0 {
            self.q_values(row, probs);
            softmax(probs, self.temperature);
        }
    }

    #[inline]
    fn update(&self, row: &mut usize, action: usize, observation: usize) {
        // What is shown before the first action is not looked at: the last row is for every start.
        *row = (action * self.n_observations + observation).min(self.start());
    }
}
