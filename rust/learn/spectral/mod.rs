//! Two passes over the cuts of all episodes: a Hankel block, and the operators of its decomposition. And affine filters.

pub mod double;
pub mod words;
pub mod projection;
pub mod target;
mod rows;
pub mod cuts;
pub mod hankel;
mod product;
pub mod operators;
pub mod filter;
