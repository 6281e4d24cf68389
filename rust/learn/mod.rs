//! What is learned from episodes: automata, hidden Markov models, contexts, forests on summaries.

pub mod spectral;
pub mod beliefs;
pub mod contexts;
pub mod values;
pub mod hidden;
pub mod plan;
pub mod summaries;
pub mod forests;
