//! From trajectories to the numbers of an automaton: words → projection → Hankel statistics → operators.

pub mod double;
pub mod words;
pub mod pairs;
pub mod projection;
pub mod target;
pub mod cuts;
pub mod hankel;
pub mod product;
pub mod operators;
pub mod events;
pub mod clones;
pub mod baum_welch;
