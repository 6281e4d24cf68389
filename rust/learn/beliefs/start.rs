//! Where training begins: a clone guessed for every step, and the counts that follow.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::layout::Layout;
use crate::learn::beliefs::{CloneModel, noisy, normalise, normalise_events};
use crate::rng::Rng;
use crate::trajectories::View;

/// Share of random transitions: guesses that are all wrong must not be final.
const RANDOM_SHARE: f32 = 0.1;

/// Pseudo-counts: of a row of transitions, spread evenly, and of the law of events.
const TRANSITION_PRIOR: f32 = 0.5;
const EVENT_PRIOR: f32 = 5.0;

impl CloneModel {
    /// The model of the guessed clones: `labels[t]` is the one that step t leads to.
    pub fn started(
        view: &View,
        tasks: &Tasks,
        layout: &Arc<Layout>,
        labels: &[u32],
        rng: &mut Rng,
    ) -> Result<CloneModel> {
        let (states, cells) = (layout.n_states, layout.n_states * layout.n_states);
        if labels.len() != view.n_steps() || labels.iter().any(|&label| label as usize >= states) {
            let given = format!("{} labels", labels.len());
            let remedy = format!("give one of {states} states for each of {} steps", view.n_steps());
            return Err(Error::argument("labels", given, remedy));
        }
        let mut transitions = vec![TRANSITION_PRIOR / states as f32; layout.n_kinds * cells];
        let law = tasks.law(layout);
        let mut events: Vec<f32> =
            law.iter().flat_map(|p| std::iter::repeat_n(EVENT_PRIOR * p + 1e-12, states)).collect();
        for episode in 0..view.n_episodes() {
            let (steps, task) = (view.episode(episode), tasks.of_episode(episode));
            for step in steps.clone().skip(1) {
                let kind = layout.kinds[view.actions[step] as usize] as usize;
                let ended = view.terminated[episode] && step + 1 == steps.end;
                let (left, arrived) = (labels[step - 1] as usize, labels[step] as usize);
                transitions[kind * cells + left * states + arrived] += 1.0;
                let event = tasks.classes(task).event(view.rewards[step], ended);
                events[((task * layout.n_kinds + kind) * layout.n_events + event) * states + left] += 1.0;
            }
        }
        for row in transitions.chunks_exact_mut(states) {
            normalise(row);
            let mut random: Vec<f32> = (0..states).map(|_| rng.exponential()).collect();
            normalise(&mut random);
            row.iter_mut().zip(&random).for_each(|(t, r)| *t = (1.0 - RANDOM_SHARE) * *t + RANDOM_SHARE * r);
        }
        normalise_events(&mut events, layout);
        if layout.noisy() {
            let shown = noisy::guessed(labels, view.observations, layout);
            events = noisy::joined(&shown, &events, layout);
        }
        let mut start: Vec<f32> = (0..states).map(|_| rng.exponential()).collect();
        normalise(&mut start);
        let log_likelihood = f64::NEG_INFINITY;
        Ok(CloneModel { layout: layout.clone(), start, transitions, events, log_likelihood })
    }
}
