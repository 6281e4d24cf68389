//! Hidden Markov models driven by actions, in which a state may show any observation.
//!
//! In state s, action a earns a reward of class c and leads to s', which shows o; the end of an episode is one more
//! observation:
//!
//!   P(s', o, c | s, a) = T_a[s, s'] · E[o, s'] · R_a[c | o, s].
//!
//! Rewards are drawn given what is seen, so that a reward which the observation explains says nothing about the state.
//! Models with few observations are learned well by these; clones (`beliefs`) suit many observations that do not err.

mod batch;
pub mod coded;
pub mod grow;
mod maximise;
mod pass;
mod split;
mod tables;

pub use coded::Coded;
pub use grow::{Growth, grown};

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::parallel::Ticker;

/// The parameters of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// States.
    pub states: usize,
    /// (states)
    pub start: Vec<f32>,
    /// (actions, states, states)
    pub transitions: Vec<f32>,
    /// (codes, states): what states show; the last code is the end.
    pub emissions: Vec<f32>,
    /// (actions, events, states): the probability of an event's reward, given its observation and the state left.
    pub rewards: Vec<f32>,
}

impl Model {
    /// (actions, states): the mean reward of an action in a state.
    pub fn mean_rewards(&self, coded: &Coded) -> Vec<f32> {
        let states = self.states;
        let mut means = Vec::with_capacity(coded.n_actions * states);
        for action in 0..coded.n_actions {
            let transitions = &self.transitions[action * states * states..][..states * states];
            for (state, row) in transitions.chunks_exact(states).enumerate() {
                let mut sum = 0.0;
                let shown: Vec<f32> = self
                    .emissions
                    .chunks_exact(states)
                    .map(|emission| row.iter().zip(emission).map(|(t, p)| t * p).sum())
                    .collect();
                for (event, (&code, &reward)) in
                    coded.event_codes.iter().zip(&coded.event_rewards).enumerate()
                {
                    let prob = self.rewards[(action * coded.n_events() + event) * states + state];
                    sum += shown[code as usize] * prob * reward as f32;
                }
                means.push(sum);
            }
        }
        means
    }

    /// (states): the probability that reaching a state is the end.
    pub fn ends(&self) -> &[f32] {
        &self.emissions[self.emissions.len() - self.states..]
    }

    /// (actions, states, states): the probability of the next state and of going on.
    pub fn going(&self) -> Vec<f32> {
        let rows = self.transitions.chunks_exact(self.states);
        rows.flat_map(|row| row.iter().zip(self.ends()).map(|(t, end)| t * (1.0 - end))).collect()
    }

    /// (observations, states): what a state shows if the episode goes on; ones for what was never seen.
    pub fn shown(&self, coded: &Coded) -> Vec<f32> {
        let mut shown = Vec::with_capacity(coded.codes.len() * self.states);
        for code in &coded.codes {
            match code {
                None => shown.extend(std::iter::repeat_n(1.0, self.states)),
                Some(code) => {
                    let row = &self.emissions[*code as usize * self.states..][..self.states];
                    let going = row.iter().zip(self.ends()).map(|(p, end)| p / (1.0 - end).max(1e-9));
                    shown.extend(going.map(|p| p.min(1.0)));
                }
            }
        }
        shown
    }

    /// The log-likelihood of every episode: of observations, rewards and ends.
    pub fn likelihoods(&self, coded: &Coded, ticker: &Ticker) -> Result<Vec<f64>> {
        let all: Vec<usize> = (0..coded.n_episodes()).collect();
        pass::likelihoods(self, coded, &all, ticker)
    }
}

fn normalise(row: &mut [f32]) {
    let scale = 1.0 / row.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    row.iter_mut().for_each(|x| *x *= scale);
}

/// The columns of a (rows, states) table sum to one.
fn normalise_columns(table: &mut [f32], states: usize) {
    let mut totals = vec![0.0f32; states];
    for row in table.chunks_exact(states) {
        totals.iter_mut().zip(row).for_each(|(total, x)| *total += x);
    }
    for row in table.chunks_exact_mut(states) {
        row.iter_mut().zip(&totals).for_each(|(x, total)| *x /= total.max(f32::MIN_POSITIVE));
    }
}
