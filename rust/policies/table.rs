//! A policy that looks at the last symbol only.

use crate::error::{Error, Result};
use crate::policies::Parted;
use crate::policies::array::Array;
use crate::simulate::policy::{Policy, Rule};

/// Action probabilities by last symbol; the row after the last symbol's is for the start of an episode.
///
/// The value of an action is the logarithm of its probability, so that temperature 1 gives the table itself.
#[derive(Clone, Debug)]
pub struct TablePolicy {
    n_actions: usize,
    n_observations: usize,
    pub(crate) probs: Array<f64, 2>,
    rule: Rule,
}

/// What it is made of.
pub struct Parts {
    /// (symbols + 1, actions): a row for every symbol, then one for the start.
    pub probs: Array<f64, 2>,
    /// Number of observations.
    pub n_observations: usize,
    /// Of acting.
    pub rule: Rule,
}

impl Parted for TablePolicy {
    type Parts = Parts;

    fn new(Parts { probs, n_observations, rule }: Parts) -> Result<Self> {
        let n_actions = probs.shape[1];
        let rows = n_actions.saturating_mul(n_observations).saturating_add(1);
        if n_actions == 0 || n_observations == 0 || probs.shape[0] != rows {
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
        rule.check(n_actions)?;
        Ok(TablePolicy { n_actions, n_observations, probs, rule })
    }

    fn parts(&self) -> Parts {
        Parts { probs: self.probs.clone(), n_observations: self.n_observations, rule: self.rule.clone() }
    }
}

impl Policy for TablePolicy {
    type Memory = usize;

    sizes_and_rule!();

    fn describe(&self) -> String {
        format!("{} rows", self.probs.shape[0])
    }

    fn start(&self) -> usize {
        self.n_actions * self.n_observations
    }

    fn knows(&self, row: &usize) -> bool {
        *row <= self.start()
    }

    fn q_values(&self, row: &usize, values: &mut [f64]) {
        values.iter_mut().zip(self.probs.row(*row)).for_each(|(value, p)| *value = p.ln());
    }

    #[inline]
    fn action_probs(&self, row: &usize, probs: &mut [f64]) {
        if self.rule.temperature == 1.0 && self.rule.supported.is_none() {
            probs.copy_from_slice(self.probs.row(*row));
        } else {
            self.q_values(row, probs);
            self.rule.softmax(probs);
        }
    }

    #[inline]
    fn update(&self, row: &mut usize, action: usize, observation: usize) {
        // What is shown before the first action is not looked at: the last row is for every start.
        *row = (action * self.n_observations + observation).min(self.start());
    }
}
