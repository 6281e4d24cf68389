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

/// The row of what was seen last; a type of its own, so that no memory of a table passes for it.
#[derive(Clone, Copy, Debug)]
pub struct Row(usize);

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
    type Memory = Row;

    fn start(&self) -> Row {
        Row(self.n_observations())
    }

    fn knows(&self, row: &Row) -> bool {
        row.0 <= self.n_observations()
    }

    fn q_values(&self, row: &Row, values: &mut [f64]) {
        values.copy_from_slice(self.parts.values.row(row.0));
    }

    #[inline]
    fn update(&self, row: &mut Row, _action: usize, observation: usize) {
        row.0 = observation;
    }
}
