//! Policies that are stepped here, without a call to Python per step.

/// What every policy tells by its fields.
macro_rules! sizes_and_temperature {
    () => {
        fn n_actions(&self) -> usize {
            self.n_actions
        }

        fn n_observations(&self) -> usize {
            self.n_observations
        }

        fn temperature(&self) -> f64 {
            self.temperature
        }
    };
}

pub mod places;
pub mod table;
pub mod observation;
pub mod automaton;
pub mod automaton_policy;
pub mod belief_filter;
pub mod belief;
pub mod context;
pub mod filter;
pub mod features;
pub mod forest;
pub mod pomcp;
pub mod any;

use crate::error::{Error, Result};

/// Refuses a temperature that is negative or not a number.
fn check_temperature(temperature: f64) -> Result<()> {
    if temperature >= 0.0 && temperature.is_finite() {
        return Ok(());
    }
    Err(Error::argument("temperature", temperature, "give 0 (greedy) or a positive number"))
}

/// Refuses numbers that are not finite.
fn check_finite(name: &'static str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(bad) => Err(Error::argument(name, bad, "all numbers of a policy must be finite")),
    }
}

/// Refuses arrays of another length than expected.
fn check_sizes<const N: usize>(sizes: [(&'static str, usize, usize); N]) -> Result<()> {
    match sizes.into_iter().find(|(_, given, expected)| given != expected) {
        None => Ok(()),
        Some((name, given, expected)) => {
            Err(Error::argument(name, format!("{given} entries"), format!("expected {expected}")))
        }
    }
}
