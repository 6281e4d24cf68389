//! Policies that are stepped here, without a call to Python per step.

/// The sizes and the rule of a policy, from its parts.
macro_rules! sizes_and_rule {
    ($policy:ident: $n_actions:expr, $n_observations:expr) => {
        #[inline]
        fn n_actions(&$policy) -> usize {
            $n_actions
        }

        #[inline]
        fn n_observations(&$policy) -> usize {
            $n_observations
        }

        fn rule(&$policy) -> &Rule {
            &$policy.parts.rule
        }
    };
}

pub mod array;
pub mod places;
pub mod table;
pub mod observation;
pub mod automaton;
pub mod automaton_policy;
pub mod belief_models;
pub mod belief;
pub mod context;
pub mod filter;
pub mod features;
pub mod forest;
pub mod summary;
pub mod pomcp;
pub mod any;
pub mod near;

use crate::error::{Error, Result};
use crate::policies::array::Array;

/// A policy that can be taken apart and made again.
pub trait Parted: Sized {
    type Parts;

    /// Refuses parts that do not fit together.
    fn new(parts: Self::Parts) -> Result<Self>;

    /// Copies of the arguments that make this policy again.
    fn parts(&self) -> Self::Parts;
}

/// Refuses numbers that are not finite.
fn check_finite<T: Copy + Into<f64>>(name: &'static str, numbers: &[T]) -> Result<()> {
    match numbers.iter().map(|&x| x.into()).find(|x: &f64| !x.is_finite()) {
        None => Ok(()),
        Some(bad) => Err(Error::argument(name, bad, "all numbers of a policy must be finite")),
    }
}

/// Numbers from 0 up to 2³² − 1, as policies keep them.
fn indices(name: &'static str, given: &[i64]) -> Result<Vec<u32>> {
    let convert = |&value: &i64| {
        u32::try_from(value).map_err(|_| Error::argument(name, value, "give numbers from 0 to 4294967295"))
    };
    given.iter().map(convert).collect()
}

/// The same as Python gives and takes them.
fn listed(indices: impl IntoIterator<Item = u32>) -> Vec<i64> {
    indices.into_iter().map(i64::from).collect()
}

/// Refuses an array of another shape than expected, of as many entries as it may be.
fn check_shape<T, const D: usize>(
    name: &'static str,
    array: &Array<T, D>,
    expected: [usize; D],
) -> Result<()> {
    if array.shape == expected {
        return Ok(());
    }
    let written = |shape: [usize; D]| shape.map(|size| size.to_string()).join(" × ");
    Err(Error::argument(name, written(array.shape), format!("expected {}", written(expected))))
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
