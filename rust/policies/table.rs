//! A policy that looks at the last symbol only.

use crate::error::{Error, Result};
use crate::policies::Parted;
use crate::policies::array::Array;
use crate::simulate::policy::{Described, Policy, Rule};

/// Action probabilities by last symbol; the row after the last symbol's is for the start of an episode.
///
/// The value of an action is the logarithm of its probability, so that temperature 1 gives the table itself.
#[derive(Clone, Debug)]
pub struct TablePolicy {
    pub(crate) parts: Parts,
}

#[derive(Clone, Debug)]
pub struct Parts {
    /// (symbols + 1, actions)
    pub probs: Array<f64, 2>,
    pub(crate) n_observations: usize,
    pub(crate) rule: Rule,
}

impl Parted for TablePolicy {
    type Parts = Parts;

    fn new(parts: Parts) -> Result<Self> {
        let Parts { probs, n_observations, rule } = &parts;
        let (n_actions, n_observations) = (probs.shape[1], *n_observations);
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
        Ok(TablePolicy { parts })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl Described for TablePolicy {
    sizes_and_rule!(self: self.parts.probs.shape[1], self.parts.n_observations);

    fn describe(&self) -> String {
        format!("{} rows", self.parts.probs.shape[0])
    }
}

impl Policy for TablePolicy {
    type Memory = usize;

    fn start(&self) -> usize {
        self.parts.probs.shape[0] - 1
    }

    fn q_values(&self, row: &usize, values: &mut [f64]) {
        values.iter_mut().zip(self.parts.probs.row(*row)).for_each(|(value, p)| *value = p.ln());
    }

    #[inline]
    fn action_probs(&self, row: &usize, probs: &mut [f64]) {
        if self.rule().temperature == 1.0 && self.rule().supported.is_none() {
            probs.copy_from_slice(self.parts.probs.row(*row));
        } else {
            self.q_values(row, probs);
            self.rule().softmax(probs);
        }
    }

    #[inline]
    fn update(&self, row: &mut usize, action: usize, observation: usize) {
        // What is shown before the first action is not looked at: the last row is for every start.
        *row = (action * self.n_observations() + observation).min(self.start());
    }
}
