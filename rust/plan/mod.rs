//! Policies that are stepped here, without a call to Python per step.

pub mod table;
pub mod automaton;
pub mod automaton_policy;
pub mod context;
pub mod features;
pub mod forest;
pub mod pomcp;
pub mod beliefs;
pub mod context_table;
pub mod sum_policy;
