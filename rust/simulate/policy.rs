//! What a policy has to offer, and the uniform one.

use crate::rng::Rng;

/// A rule for choosing actions, separate from its memory of one episode.
pub trait Policy: Sync {
    type Memory: Clone + Send;

    /// Whether a step may take long, as it does for a planner. Episodes are then handed to threads one by
    /// one, and the wish to stop is heard at every step.
    const DELIBERATES: bool = false;

    fn start(&self) -> Self::Memory;

    /// Memory of a policy that draws numbers of its own while it thinks; `rng` is this episode's alone.
    fn start_with(&self, _rng: Rng) -> Self::Memory {
        self.start()
    }

    /// Probability of every action; `probs` has one place per action and is overwritten.
    fn action_probs(&self, memory: &Self::Memory, probs: &mut [f64]);

    /// Takes in what happened.
    fn update(&self, memory: &mut Self::Memory, action: usize, observation: usize);

    /// An action and its probability, when with probability `epsilon` a uniform one replaces the policy's own.
    #[inline]
    fn act(&self, memory: &Self::Memory, epsilon: f64, probs: &mut [f64], rng: &mut Rng) -> (usize, f64) {
        self.action_probs(memory, probs);
        if epsilon > 0.0 {
            let uniform = epsilon / probs.len() as f64;
            probs.iter_mut().for_each(|p| *p = (1.0 - epsilon) * *p + uniform);
        }
        let action = rng.choose(probs, 1.0);
        (action, probs[action])
    }
}

/// Every action alike: the behaviour of the first data set.
pub struct Uniform;

impl Policy for Uniform {
    type Memory = ();

    fn start(&self) {}

    fn action_probs(&self, _memory: &(), probs: &mut [f64]) {
        probs.fill(1.0 / probs.len() as f64);
    }

    fn update(&self, _memory: &mut (), _action: usize, _observation: usize) {}

    #[inline]
    fn act(&self, _memory: &(), _epsilon: f64, probs: &mut [f64], rng: &mut Rng) -> (usize, f64) {
        (rng.below(probs.len()), 1.0 / probs.len() as f64)
    }
}
