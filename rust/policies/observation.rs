//! A policy that looks at the last observation only.

use crate::error::{Error, Result};
use crate::policies::{check_finite, check_temperature};
use crate::simulate::policy::Policy;

/// Values by last observation, (observations + 1, actions); the last row is for the start of an episode that showed
/// nothing.
#[derive(Clone, Debug)]
pub struct ObservationPolicy {
    n_actions: usize,
    n_observations: usize,
    /// (observations + 1, actions), row-major.
    pub values: Vec<f64>,
    temperature: f64,
}

/// The row of what was seen last; a type of its own, so that no memory of a table passes for it.
#[derive(Clone, Copy, Debug)]
pub struct Row(usize);

impl ObservationPolicy {
    /// `values` has a row for every observation, then one for the start.
    pub fn new(values: Vec<f64>, n_actions: usize, temperature: f64) -> Result<Self> {
        let rows = values.len().checked_div(n_actions).unwrap_or(0);
        if rows < 2 || rows * n_actions != values.len() {
            let remedy =
                "give a row for every observation and one for the start, with a number for every action";
            return Err(Error::argument("values", format!("{rows} rows of {n_actions}"), remedy));
        }
        check_finite("values", &values)?;
        check_temperature(temperature)?;
        Ok(ObservationPolicy { n_actions, n_observations: rows - 1, values, temperature })
    }
}

impl Policy for ObservationPolicy {
    type Memory = Row;

    sizes_and_temperature!();

    fn describe(&self) -> String {
        "looks at the last observation".to_owned()
    }

    fn start(&self) -> Row {
        Row(self.n_observations)
    }

    fn knows(&self, row: &Row) -> bool {
        row.0 <= self.n_observations
    }

    fn q_values(&self, row: &Row, values: &mut [f64]) {
        values.copy_from_slice(&self.values[row.0 * self.n_actions..(row.0 + 1) * self.n_actions]);
    }

    #[inline]
    fn update(&self, row: &mut Row, _action: usize, observation: usize) {
        row.0 = observation;
    }
}
