//! What is learned about a history: how likely it is, the reward it ends with, or the return from there on.

use crate::error::{Error, Result};
use crate::learn::spectral::double::Quantum;

/// A real-valued function of histories, given by its value y on every prefix of a logged episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// y = 1: the automaton computes the probability of a history.
    Probability,
    /// y = r_t: the paper's choice.
    Reward,
    /// y = r_t + γ r_{t+1} + … + offset; for the empty history γ times the return of the episode, + offset.
    Return { discount: f64, offset: f64 },
}

impl Target {
    /// By the name that users give.
    pub fn named(name: &str, discount: f64, offset: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&discount) {
            return Err(Error::argument("discount", discount, "give a number in [0, 1]"));
        }
        if !offset.is_finite() {
            return Err(Error::argument("offset", offset, "give a finite number"));
        }
        match name {
            "probability" => Ok(Target::Probability),
            "reward" if offset != 0.0 => {
                let remedy = "the reward target is not invariant to an offset; use target=\"return\"";
                Err(Error::argument("offset", offset, remedy))
            }
            "reward" => Ok(Target::Reward),
            "return" => Ok(Target::Return { discount, offset }),
            _ => Err(Error::argument("target", name, "choose reward, return or probability")),
        }
    }

    /// The values of λ, x₁, x₁x₂, … for an episode with these rewards: one more than there are steps.
    /// They are rounded to the grid on which sums are exact.
    pub fn values(&self, rewards: &[f64], quantum: Quantum, values: &mut Vec<f64>) {
        values.clear();
        match *self {
            Target::Probability => values.resize(rewards.len() + 1, 1.0),
            Target::Reward => {
                values.push(0.0);
                values.extend_from_slice(rewards);
            }
            Target::Return { discount, offset } => {
                values.resize(rewards.len() + 1, 0.0);
                let mut total = 0.0;
                for (step, reward) in rewards.iter().enumerate().rev() {
                    total = reward + discount * total;
                    values[step + 1] = total + offset;
                }
                values[0] = discount * total + offset;
            }
        }
        values.iter_mut().for_each(|value| *value = quantum.round(*value));
    }
}
