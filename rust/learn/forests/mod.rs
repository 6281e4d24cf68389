//! Forests of histogram trees on summaries of histories, and values that are fitted with them.

pub mod bins;
pub mod errors;
pub mod fitted;
pub mod flat;
mod histogram;
mod regression;
mod sweeps;
#[cfg(test)]
mod tests;
pub mod tree;
