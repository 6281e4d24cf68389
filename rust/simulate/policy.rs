//! What a policy has to offer, and the uniform one.

use crate::rng::Rng;

/// A rule for choosing actions, separate from its memory of one episode.
pub trait Policy: Send + Sync + 'static {
    /// What it remembers of one episode.
    type Memory: Clone + Send + Sync + 'static;

    /// Whether a step may take long, as it does for a planner. Episodes are then handed to threads one by
    /// one, and Ctrl-C is heard at every step.
    const DELIBERATES: bool = false;

    /// Number of actions.
    fn n_actions(&self) -> usize;

    /// Number of observations.
    fn n_observations(&self) -> usize;

    /// 0 acts greedily, ties by chance; otherwise actions are drawn from softmax(q_values / temperature).
    fn temperature(&self) -> f64;

    /// Sizes of the parts, in a few words.
    fn describe(&self) -> String;

    /// Memory before the first step.
    fn start(&self) -> Self::Memory;

    /// Memory of a policy that draws numbers of its own while it thinks; `rng` is this episode's alone.
    fn start_with(&self, _rng: Rng) -> Self::Memory {
        self.start()
    }

    /// Whether a memory can be this policy's own: it may come from the same policy at another temperature.
    fn knows(&self, memory: &Self::Memory) -> bool;

    /// Value of every action; `values` has one place per action and is overwritten.
    fn q_values(&self, memory: &Self::Memory, values: &mut [f64]);

    /// Takes in what happened. The action `n_actions` stands for nobody's: its observation was shown before the first.
    fn update(&self, memory: &mut Self::Memory, action: usize, observation: usize);

    /// Probability of every action; `probs` has one place per action and is overwritten.
    #[inline]
    fn action_probs(&self, memory: &Self::Memory, probs: &mut [f64]) {
        self.q_values(memory, probs);
        softmax(probs, self.temperature());
    }

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

/// Values this close to the best, relative to the largest, count as ties; the same in `python/uqf/policies/policy.py`.
const TIE: f64 = 1e-12;

/// Turns values into probabilities in place. Values that are not numbers give the uniform distribution.
pub fn softmax(values: &mut [f64], temperature: f64) {
    let best = values.iter().fold(f64::NEG_INFINITY, |best, &q| best.max(q));
    if values.iter().any(|q| q.is_nan()) || !best.is_finite() {
        values.fill(1.0 / values.len() as f64);
        return;
    }
    if temperature > 0.0 {
        values.iter_mut().for_each(|q| *q = ((*q - best) / temperature).exp());
    } else {
        let finite = values.iter().filter(|q| q.is_finite());
        let largest = finite.fold(0.0f64, |largest, q| largest.max(q.abs()));
        values.iter_mut().for_each(|q| *q = if best - *q <= TIE * largest { 1.0 } else { 0.0 });
    }
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|p| *p /= total);
}

/// Every action alike: the behaviour of the first data set.
pub struct Uniform {
    pub(crate) n_actions: usize,
    pub(crate) n_observations: usize,
}

impl Policy for Uniform {
    type Memory = ();

    fn n_actions(&self) -> usize {
        self.n_actions
    }

    fn n_observations(&self) -> usize {
        self.n_observations
    }

    fn temperature(&self) -> f64 {
        0.0
    }

    fn describe(&self) -> String {
        "uniform".into()
    }

    fn start(&self) {}

    fn knows(&self, _memory: &()) -> bool {
        true
    }

    fn q_values(&self, _memory: &(), values: &mut [f64]) {
        values.fill(0.0);
    }

    fn update(&self, _memory: &mut (), _action: usize, _observation: usize) {}

    #[inline]
    fn act(&self, _memory: &(), _epsilon: f64, probs: &mut [f64], rng: &mut Rng) -> (usize, f64) {
        (rng.below(probs.len()), 1.0 / probs.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_split_and_nan_is_harmless() {
        for (mut values, temperature, expected) in [
            (vec![1.0, 3.0, 3.0], 0.0, vec![0.0, 0.5, 0.5]),
            (vec![1.0, f64::NAN], 0.0, vec![0.5, 0.5]),
            (vec![1e300, -1e300], 1e-3, vec![1.0, 0.0]),
            (vec![0.0, 0.0], 0.0, vec![0.5, 0.5]),
            (vec![2.0, f64::NEG_INFINITY], 0.0, vec![1.0, 0.0]),
            (vec![2.0, f64::NEG_INFINITY], 1.0, vec![1.0, 0.0]),
        ] {
            softmax(&mut values, temperature);
            assert_eq!(values, expected);
        }
    }
}
