//! Acting in a simulated world and recording what happens.

pub mod environment;
pub mod planning;
pub mod policy;
pub mod replay;
pub mod batch;
pub mod rollout;
