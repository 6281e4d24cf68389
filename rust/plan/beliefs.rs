//! Beliefs of several cloned hidden Markov models, side by side, as the features of a history.

use crate::error::{Error, Result};
use crate::learn::clones::CloneModel;

/// One model, ready to be stepped.
#[derive(Clone, Debug)]
pub struct Stepper {
    pub n_states: usize,
    /// First and last + 1 of the states that show an observation.
    pub ranges: Vec<(u32, u32)>,
    pub start: Vec<f32>,
    /// (actions, states, states): probability of going on and of the next state.
    pub moves: Vec<f32>,
}

impl Stepper {
    pub fn validate(&self, n_actions: usize, n_observations: usize) -> Result<()> {
        let states = self.n_states;
        let sizes = [
            ("start", self.start.len(), states),
            ("moves", self.moves.len(), n_actions.saturating_mul(states).saturating_mul(states)),
            ("ranges", self.ranges.len(), n_observations),
        ];
        for (name, given, expected) in sizes {
            if given != expected || states == 0 {
                return Err(Error::argument(
                    name,
                    format!("{given} entries"),
                    format!("expected {expected}"),
                ));
            }
        }
        if self.ranges.iter().any(|&(low, high)| low > high || high as usize > states) {
            return Err(Error::argument("ranges", "beyond the states", format!("there are {states} states")));
        }
        if self.start.iter().chain(&self.moves).any(|p| !(0.0..=1.001).contains(p)) {
            return Err(Error::argument("moves", "not probabilities", "give numbers in [0, 1]"));
        }
        Ok(())
    }
}

/// A family of models; the feature vector of a history is the concatenation of their beliefs.
#[derive(Clone, Debug)]
pub struct Beliefs {
    steppers: Vec<Stepper>,
    n_features: usize,
}

/// Beliefs after a history, and where each of them is not zero.
#[derive(Clone, Debug)]
pub struct Belief {
    pub values: Vec<f32>,
    pub supports: Vec<(u32, u32)>,
}

impl Beliefs {
    /// The models as they move in one of the tasks that they were trained on.
    pub fn new(models: &[CloneModel], task: usize) -> Self {
        let stepper = |model: &CloneModel| {
            let mut moves = model.transitions.clone();
            for (row, end) in moves.chunks_exact_mut(model.n_states).zip(model.ends(task)) {
                row.iter_mut().for_each(|t| *t *= 1.0 - end);
            }
            Stepper {
                n_states: model.n_states,
                ranges: model.ranges.clone(),
                start: model.start.clone(),
                moves,
            }
        };
        Self::of(models.iter().map(stepper).collect())
    }

    pub fn of(steppers: Vec<Stepper>) -> Self {
        let n_features = steppers.iter().map(|stepper| stepper.n_states).sum();
        Beliefs { steppers, n_features }
    }

    pub fn steppers(&self) -> &[Stepper] {
        &self.steppers
    }

    pub fn n_features(&self) -> usize {
        self.n_features
    }

    pub fn start(&self) -> Belief {
        Belief {
            values: self.steppers.iter().flat_map(|stepper| stepper.start.iter().copied()).collect(),
            supports: self.whole(),
        }
    }

    fn whole(&self) -> Vec<(u32, u32)> {
        let mut from = 0;
        let whole = |stepper: &Stepper| {
            let support = (from, from + stepper.n_states as u32);
            from = support.1;
            support
        };
        self.steppers.iter().map(whole).collect()
    }

    /// Bayes' rule. An observation that a model holds impossible makes its belief even over the clones of that
    /// observation; one that was never seen in training is passed over, and only the move counts.
    pub fn update(&self, belief: &mut Belief, action: usize, observation: usize) {
        let mut next = vec![0.0f32; self.n_features];
        let mut from = 0;
        for (stepper, support) in self.steppers.iter().zip(&mut belief.supports) {
            let states = stepper.n_states;
            let (low, high) = stepper.ranges.get(observation).copied().unwrap_or((0, 0));
            let (low, high) = if high > low { (low as usize, high as usize) } else { (0, states) };
            let moves = &stepper.moves[action * states * states..(action + 1) * states * states];
            let target = &mut next[from + low..from + high];
            for s in support.0 as usize - from..support.1 as usize - from {
                let weight = belief.values[from + s];
                let row = &moves[s * states + low..s * states + high];
                target.iter_mut().zip(row).for_each(|(entry, t)| *entry += weight * t);
            }
            let total: f32 = target.iter().sum();
            if total > 1e-12 {
                target.iter_mut().for_each(|entry| *entry /= total);
            } else {
                target.fill(1.0 / (high - low) as f32);
            }
            *support = ((from + low) as u32, (from + high) as u32);
            from += states;
        }
        belief.values = next;
    }
}
