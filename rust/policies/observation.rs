//! A policy that looks at the last observation only.

use crate::error::{Error, Result};
use crate::policies::array::Array;
use crate::policies::{Parted, check_finite};
use crate::simulate::policy::{Described, Policy, Rule};

#[derive(Clone, Debug)]
pub struct ObservationPolicy {
    pub(crate) parts: Parts,
}

#[derive(Clone, Debug)]
pub struct Parts {
    /// (observations + 1, actions); the last row is for the start of an episode that showed nothing.
    pub values: Array<f64, 2>,
    pub(crate) rule: Rule,
}

impl Parted for ObservationPolicy {
    type Parts = Parts;

    fn new(parts: Parts) -> Result<Self> {
        let [rows, n_actions] = parts.values.shape;
        if rows < 2 || n_actions == 0 {
            let remedy =
                "give a row for every observation and one for the start, with a number for every action";
            return Err(Error::argument("values", format!("{rows} rows of {n_actions}"), remedy));
        }
        check_finite("values", &parts.values)?;
        parts.rule.check(n_actions)?;
        Ok(ObservationPolicy { parts })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl Described for ObservationPolicy {
    sizes_and_rule!(self: self.parts.values.shape[1], self.parts.values.shape[0] - 1);

    fn describe(&self) -> String {
        "looks at the last observation".to_owned()
    }
}

impl Policy for ObservationPolicy {
    /// The row of what was seen last.
    type Memory = usize;

    fn start(&self) -> usize {
        self.n_observations()
    }

    fn q_values(&self, row: &usize, values: &mut [f64]) {
        values.copy_from_slice(self.parts.values.row(*row));
    }

    #[inline]
    fn update(&self, row: &mut usize, _action: usize, observation: usize) {
        *row = observation;
    }
}
