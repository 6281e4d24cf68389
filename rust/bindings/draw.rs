//! One action out of probabilities, by the caller's luck or by the policy's own.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::rng::Rng;

/// Counts the actions drawn without a generator: each has luck of its own.
#[derive(Default)]
pub struct Luck(AtomicU64);

impl Luck {
    /// With `rng`, anything with `random()`, or else with a stream of this policy's own.
    pub fn draw(&self, probs: &[f64], rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        let Some(rng) = rng else {
            let mut own = Rng::stream(0, self.0.fetch_add(1, Ordering::Relaxed));
            return Ok(own.choose(probs, 1.0));
        };
        let mut left: f64 = rng.call_method0("random")?.extract()?;
        let last = probs.iter().rposition(|&p| p > 0.0).unwrap_or(0);
        let crossed = probs.iter().position(|&p| {
            left -= p;
            left < 0.0
        });
        Ok(crossed.unwrap_or(last))
    }
}

/// An action or observation that Python gave, if there is such a one.
pub fn entry(name: &str, given: i64, limit: usize) -> PyResult<usize> {
    match usize::try_from(given) {
        Ok(value) if value < limit => Ok(value),
        _ => Err(PyValueError::new_err(format!("{name} = {given}: choose 0 to {}", limit - 1))),
    }
}
