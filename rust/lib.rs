//! The compiled core of `uqf`: worlds → trajectories → memory → policy.
//!
//! A module uses only modules declared above it; only `bindings` knows that Python exists.

pub mod error;
pub mod reserve;
pub mod rng;
pub mod parallel;
pub mod trajectories;
mod sample;
pub mod sums;
pub mod simulate;
pub mod domains;
pub mod learn;
pub mod policies;
#[cfg(feature = "python")]
mod bindings;
