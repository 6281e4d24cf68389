//! The compiled core of `uqf`: worlds → trajectories → memory → policy.
//!
//! A module uses only modules declared above it; only `bindings` knows that Python exists.

pub mod error;
pub mod memory;
pub mod rng;
pub mod parallel;
pub mod recorded;
pub mod trajectories;
pub mod along;
pub mod simulate;
pub mod domains;
pub mod formats;
pub mod learn;
pub mod policies;
#[cfg(feature = "python")]
mod bindings;
