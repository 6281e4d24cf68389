//! The model that makes expected counts likeliest, with what is assumed before anything is seen.

use crate::learn::hidden::pass::Counts;
use crate::learn::hidden::{Coded, Model, normalise, normalise_columns};

/// What is assumed of the rows of a model, in counts of a whole data set.
#[derive(Clone, Copy, Debug)]
pub struct Priors {
    /// Of a row of transitions, spread evenly over states.
    pub transitions: f32,
    /// Of a row of transitions, spread as the row of all actions together: where one action may lead, others may too.
    pub pooled: f32,
    /// Of what a state shows, spread evenly over codes.
    pub emissions: f32,
    /// Of the rewards of an action and observation, spread as they are in all states together.
    pub rewards: f32,
    /// Of every start state.
    pub start: f32,
}

/// An update goes this far beyond the plain one, T ∝ T_new · (T_new / T_old)^overshoot, by this factor at most.
const MAX_RATIO: f32 = 5.0;

pub(super) fn maximised(
    old: &Model,
    counts: &Counts,
    coded: &Coded,
    priors: &Priors,
    overshoot: f32,
) -> Model {
    let states = old.states;
    let even = priors.transitions / states as f32;
    let mut pooled = vec![even; states * states];
    for block in counts.transitions.chunks_exact(states * states) {
        pooled.iter_mut().zip(block).for_each(|(sum, count)| *sum += count);
    }
    pooled.chunks_exact_mut(states).for_each(normalise);
    let mut transitions = Vec::with_capacity(counts.transitions.len());
    for block in counts.transitions.chunks_exact(states * states) {
        transitions.extend(block.iter().zip(&pooled).map(|(count, p)| count + even + priors.pooled * p));
    }
    transitions.chunks_exact_mut(states).for_each(normalise);
    let mut emissions: Vec<f32> =
        counts.emissions.iter().map(|count| count + priors.emissions / coded.n_codes as f32).collect();
    normalise_columns(&mut emissions, states);
    if overshoot > 0.0 {
        beyond(&mut transitions, &old.transitions, overshoot);
        transitions.chunks_exact_mut(states).for_each(normalise);
        beyond(&mut emissions, &old.emissions, overshoot);
        normalise_columns(&mut emissions, states);
    }
    let mut start: Vec<f32> = counts.start.iter().map(|count| count + priors.start).collect();
    normalise(&mut start);
    Model { states, start, transitions, emissions, rewards: rewards(counts, coded, priors, states) }
}

fn beyond(new: &mut [f32], old: &[f32], overshoot: f32) {
    for (new, old) in new.iter_mut().zip(old) {
        let ratio = (*new / old.max(1e-9)).clamp(1.0 / MAX_RATIO, MAX_RATIO);
        *new = (*new * libm::powf(ratio, overshoot)).max(1e-9);
    }
}

/// (actions, events, states): given the code of an event its rewards sum to one.
fn rewards(counts: &Counts, coded: &Coded, priors: &Priors, states: usize) -> Vec<f32> {
    let events = coded.n_events();
    let mut rewards = Vec::with_capacity(counts.rewards.len());
    for (of_action, prior) in
        counts.rewards.chunks_exact(events * states).zip(coded.prior.chunks_exact(events))
    {
        let mut totals = vec![0.0f32; coded.n_codes * states];
        let first = rewards.len();
        for ((row, &prior), &code) in of_action.chunks_exact(states).zip(prior).zip(&coded.event_codes) {
            let place = rewards.len();
            rewards.extend(row.iter().map(|count| count + priors.rewards * prior));
            let total = &mut totals[code as usize * states..][..states];
            total.iter_mut().zip(&rewards[place..]).for_each(|(total, x)| *total += x);
        }
        let own = rewards[first..].chunks_exact_mut(states);
        for (row, &code) in own.zip(&coded.event_codes) {
            let total = &totals[code as usize * states..][..states];
            row.iter_mut().zip(total).for_each(|(x, total)| *x /= total);
        }
    }
    rewards
}
