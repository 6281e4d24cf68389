//! Cloned hidden Markov models: every hidden state shows one observation only, and several states (clones) may
//! show the same. They are automata with non-negative operators,
//!
//!   A_{ao}[s, s'] = (1 − end_a[s]) · T_a[s, s'] · 1{s' shows o},     α = start,     ω = 1,
//!
//! so their normalised state is a belief: it never blows up and needs no re-anchoring. The likelihood has no
//! closed-form maximum; Baum and Welch's iteration finds a local one. A step of it touches only
//! clones(o_{t−1}) × clones(o_t) transitions, which makes it cheap where there are many observations.

pub mod events;
mod expectation;
pub mod layout;
mod lockstep;
pub mod noisy;
mod rooms;
mod start;
pub(crate) mod tiles;
pub mod training;

use std::sync::Arc;

pub use expectation::Expected;

use crate::error::Result;
use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::layout::Layout;
use crate::learn::beliefs::lockstep::Lockstep;
use crate::parallel::Ticker;
use crate::trajectories::View;

/// Pseudo-count of a row of transitions, spread evenly.
///
/// It is added in every minibatch, so it weighs many times as much as once for all episodes. A row has some fifty counts
/// there: with half a pseudo-count, half of the states of a large model lose all their visits while it is trained.
const TRANSITION_PRIOR: f32 = 0.05;

const TINY: f32 = 1e-30;

/// A cloned hidden Markov model.
#[derive(Clone, Debug)]
pub struct CloneModel {
    pub(crate) layout: Arc<Layout>,
    pub(crate) start: Vec<f32>,
    /// (kinds of actions, states, states)
    pub transitions: Vec<f32>,
    /// (tasks, kinds, events, states): probability of the reward class and of the end, given the state left. In noisy
    /// models (tasks, kinds, events, shown, states): also of what that state showed.
    pub events: Vec<f32>,
    /// Mean log-likelihood of a step in the data trained on.
    pub log_likelihood: f64,
}

fn normalise(row: &mut [f32]) {
    let scale = 1.0 / row.iter().sum::<f32>();
    row.iter_mut().for_each(|x| *x *= scale);
}

/// In every (events, states) part the events of a state sum to one.
fn normalise_events(events: &mut [f32], layout: &Layout) {
    let states = layout.n_states;
    for part in events.chunks_exact_mut(layout.n_events * states) {
        for state in 0..states {
            let total: f32 = part.iter().skip(state).step_by(states).sum();
            part.iter_mut().skip(state).step_by(states).for_each(|p| *p /= total + TINY);
        }
    }
}

impl CloneModel {
    /// The model that makes `scale` times the expected counts likeliest, going `overshoot` of the way beyond:
    /// T ∝ T_new · (T_new / T_old)^overshoot takes less than half the iterations of the plain update.
    ///
    /// Counts of transitions come with the factor T. `law` are the pseudo-counts of events, (tasks, kinds, events).
    fn maximised(&self, counts: &Expected, scale: f32, overshoot: f32, law: &[f32]) -> Self {
        let states = self.layout.n_states;
        let prior = TRANSITION_PRIOR / states as f32 + 1e-10;
        let mut transitions: Vec<f32> =
            counts.transitions.iter().map(|count| count * scale + prior).collect();
        for (row, old) in transitions.chunks_exact_mut(states).zip(self.transitions.chunks_exact(states)) {
            normalise(row);
            if overshoot > 0.0 {
                for (new, old) in row.iter_mut().zip(old) {
                    let ratio = *new / old.max(1e-12);
                    let ratio = if overshoot == 1.0 { ratio } else { libm::powf(ratio, overshoot) };
                    *new = *new * ratio + 1e-10;
                }
                normalise(row);
            }
        }
        let events = if self.layout.noisy() {
            noisy::maximised(&counts.events, scale, law, &self.layout)
        } else {
            let mut events = Vec::with_capacity(self.events.len());
            for (counts, law) in counts.events.chunks_exact(states).zip(law) {
                events.extend(counts.iter().map(|count| count * scale + law + 1e-12));
            }
            normalise_events(&mut events, &self.layout);
            events
        };
        let mut start: Vec<f32> = counts.start.iter().map(|count| count * scale + 1e-6).collect();
        normalise(&mut start);
        let log_likelihood = counts.log_likelihood;
        CloneModel { layout: self.layout.clone(), start, transitions, events, log_likelihood }
    }

    /// What is expected of these episodes, transitions with their factor.
    pub fn expected_counts(&self, episodes: &Lockstep, ticker: &Ticker) -> Result<Expected> {
        let mut expected = self.expectation(episodes, ticker)?;
        expected.transitions.iter_mut().zip(&self.transitions).for_each(|(count, t)| *count *= t);
        Ok(expected)
    }

    /// The model after one plain iteration.
    pub fn iterated(&self, episodes: &Lockstep, tasks: &Tasks, ticker: &Ticker) -> Result<Self> {
        Ok(self.maximised(&self.expected_counts(episodes, ticker)?, 1.0, 0.0, &tasks.law(&self.layout)))
    }

    /// Episodes of any data, of the tasks that this model knows.
    pub fn lockstep(&self, view: &View, tasks: &Tasks) -> Lockstep {
        let all: Vec<usize> = (0..view.n_episodes()).collect();
        Lockstep::new(view, tasks, &self.layout, &all)
    }

    /// Probability that an action in state s ends the episode of a task: (kinds, states).
    pub fn ends(&self, task: usize) -> Vec<f32> {
        self.over_events(task, |event| if event % 2 == 1 { 1.0 } else { 0.0 })
    }

    /// Probability that the episode goes on: (kinds, states).
    pub fn goes_on(&self, task: usize) -> Vec<f32> {
        self.over_events(task, |event| if event % 2 == 1 { 0.0 } else { 1.0 })
    }

    /// Expected reward of an action in state s in a task: (kinds, states).
    pub fn rewards(&self, task: usize, tasks: &Tasks) -> Vec<f32> {
        self.over_events(task, |event| tasks.classes(task).mean_reward(event))
    }

    fn over_events(&self, task: usize, worth: impl Fn(usize) -> f32) -> Vec<f32> {
        let Layout { n_kinds, n_states, n_events, n_shown, .. } = *self.layout;
        let mut sums = vec![0.0; n_kinds * n_states];
        let laws = self.events.chunks_exact(n_kinds * n_events * n_shown * n_states).nth(task);
        // The last of what is shown is nothing: there the law is that of the event alone.
        let rows = laws.unwrap_or_default().chunks_exact(n_states).skip(n_shown - 1).step_by(n_shown);
        for (place, row) in rows.enumerate() {
            let (kind, event) = (place / n_events, place % n_events);
            let target = &mut sums[kind * n_states..(kind + 1) * n_states];
            target.iter_mut().zip(row).for_each(|(sum, p)| *sum += worth(event) * p);
        }
        sums
    }
}
