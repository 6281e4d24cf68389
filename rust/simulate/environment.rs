//! What a simulated world has to offer.

use crate::rng::Rng;

/// What one step shows the agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub(crate) observation: usize,
    pub(crate) reward: f64,
    pub(crate) terminated: bool,
}

/// A partially observed world with finitely many actions and observations. Its state is kept outside, so
/// one world serves any number of episodes at once.
pub trait Environment: Send + Sync + 'static {
    /// What the world knows of one episode.
    type State: Clone + Send + Sync + 'static;

    fn n_actions(&self) -> usize;
    fn n_observations(&self) -> usize;
    /// The state in which an episode begins.
    fn start(&self, rng: &mut Rng) -> Self::State;
    /// Whether episodes show an observation before their first action.
    fn shows_first(&self) -> bool {
        false
    }
    /// What a start state shows before the first action, in worlds that show anything.
    fn first_observation(&self, _state: &Self::State, _rng: &mut Rng) -> Option<usize> {
        None
    }
    /// What an action does to the state, and shows.
    fn step(&self, state: &mut Self::State, action: usize, rng: &mut Rng) -> Outcome;
    fn action_name(&self, action: usize) -> String;
    fn observation_name(&self, observation: usize) -> String;
    /// The state as lines of text, for replays.
    fn render(&self, state: &Self::State) -> String;
}
