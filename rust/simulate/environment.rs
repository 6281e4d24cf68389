//! What a simulated world has to offer.

use crate::rng::Rng;

/// What one step shows the agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub observation: usize,
    pub reward: f64,
    pub terminated: bool,
}

/// A partially observed world with finitely many actions and observations. Its state is kept outside, so
/// one world serves any number of episodes at once.
pub trait Environment: Send + Sync {
    type State: Clone + Send;

    fn n_actions(&self) -> usize;
    fn n_observations(&self) -> usize;
    fn start(&self, rng: &mut Rng) -> Self::State;
    fn step(&self, state: &mut Self::State, action: usize, rng: &mut Rng) -> Outcome;
    fn action_name(&self, action: usize) -> String;
    fn observation_name(&self, observation: usize) -> String;
    /// The state as a few lines of text, for replays.
    fn render(&self, state: &Self::State) -> String;
}
