//! Acting in a simulated world and recording what happens.

pub mod environment;
pub(crate) mod planning;
pub mod policy;
pub(crate) mod replay;
pub mod batch;
pub mod rollout;
