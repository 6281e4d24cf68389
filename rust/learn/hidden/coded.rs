//! Episodes as these models see them: codes of observations, the end among them, and classes of rewards.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::learn::beliefs::events::RewardClasses;
use crate::trajectories::View;

/// What is learned from: all steps, in the order of the episodes.
pub struct Coded {
    /// Actions.
    pub n_actions: usize,
    /// The code of every observation; None if it was never seen.
    pub codes: Vec<Option<u32>>,
    /// Codes; the last one is the end of an episode.
    pub n_codes: usize,
    /// By event, a pair of a code and a class of rewards that occurred: the code and the mean reward.
    pub event_codes: Vec<u32>,
    /// The mean reward.
    pub event_rewards: Vec<f64>,
    /// (actions, events): how often an event occurs, given its action and code.
    pub(super) prior: Vec<f32>,
    /// (codes): how often each is seen.
    pub(super) frequency: Vec<f32>,
    pub(super) actions: Vec<u32>,
    pub(super) shown: Vec<u32>,
    pub(super) events: Vec<u32>,
    pub(super) first: Option<Vec<u32>>,
    offsets: Vec<usize>,
    classes: RewardClasses,
    /// The event of a code and a class.
    numbers: BTreeMap<usize, u32>,
}

/// The code of an observation, or the event of a step, that was never seen in training.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl Coded {
    /// Refuses data without a step.
    pub fn of(view: &View) -> Result<Self> {
        if view.n_steps() == 0 {
            return Err(Error::argument("data", "no step", "give episodes that have one"));
        }
        let mut seen = vec![false; view.n_observations];
        let firsts = view.first_observations.unwrap_or_default();
        view.observations.iter().chain(firsts).for_each(|&o| seen[o as usize] = true);
        let mut next = 0u32;
        let codes: Vec<Option<u32>> = seen
            .iter()
            .map(|&seen| {
                next += u32::from(seen);
                seen.then(|| next - 1)
            })
            .collect();
        let (end, n_codes) = (next, next as usize + 1);
        let (shown, first) = (shown(view, &codes, end), first_codes(view, &codes));
        let classes = RewardClasses::of(view.rewards);
        let n_classes = classes.edges().len();
        let key = |step: usize| shown[step] as usize * n_classes + classes.class(view.rewards[step]);
        let mut numbers: BTreeMap<usize, u32> = (0..view.n_steps()).map(|step| (key(step), 0)).collect();
        numbers.values_mut().enumerate().for_each(|(number, entry)| *entry = number as u32);
        let events: Vec<u32> = (0..view.n_steps()).map(|step| numbers[&key(step)]).collect();
        let event_codes: Vec<u32> = numbers.keys().map(|key| (key / n_classes) as u32).collect();
        let (mut sums, mut counts) = (vec![0.0; event_codes.len()], vec![0.0; event_codes.len()]);
        for (step, &event) in events.iter().enumerate() {
            sums[event as usize] += view.rewards[step];
            counts[event as usize] += 1.0;
        }
        let event_rewards = sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect();
        let mut frequency = vec![0.0f32; n_codes];
        let share = 1.0 / (view.n_steps() + firsts.len()) as f32;
        shown.iter().chain(first.iter().flatten()).for_each(|&code| frequency[code as usize] += share);
        let actions: Vec<u32> = view.actions.iter().map(|&action| action as u32).collect();
        let mut result = Coded {
            n_actions: view.n_actions,
            codes,
            n_codes,
            event_codes,
            event_rewards,
            prior: Vec::new(),
            frequency,
            actions,
            shown,
            events,
            first,
            offsets: view.offsets.iter().map(|&offset| offset as usize).collect(),
            classes,
            numbers,
        };
        result.prior = result.events_by_action(&counts);
        Ok(result)
    }

    /// Other episodes in the codes of these, to be judged by models of these.
    pub fn like(&self, view: &View) -> Self {
        let shown = shown(view, &self.codes, self.n_codes as u32 - 1);
        let event = |(&code, &reward): (&u32, &f64)| {
            let key = code as usize * self.classes.edges().len() + self.classes.class(reward);
            self.numbers.get(&key).copied().unwrap_or(UNKNOWN)
        };
        Coded {
            events: shown.iter().zip(view.rewards).map(event).collect(),
            shown,
            actions: view.actions.iter().map(|&action| action as u32).collect(),
            first: first_codes(view, &self.codes),
            offsets: view.offsets.iter().map(|&offset| offset as usize).collect(),
            codes: self.codes.clone(),
            event_codes: self.event_codes.clone(),
            event_rewards: self.event_rewards.clone(),
            prior: Vec::new(),
            frequency: Vec::new(),
            classes: self.classes.clone(),
            numbers: self.numbers.clone(),
            ..*self
        }
    }

    /// Pairs of a code and a class of rewards.
    pub fn n_events(&self) -> usize {
        self.event_codes.len()
    }

    pub(super) fn n_episodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn n_steps(&self) -> usize {
        self.actions.len()
    }

    pub(super) fn steps(&self, episode: usize) -> std::ops::Range<usize> {
        self.offsets[episode]..self.offsets[episode + 1]
    }

    /// The frequency of an event given its action and code, drawn towards that of all actions by one count.
    fn events_by_action(&self, counts: &[f64]) -> Vec<f32> {
        let (events, codes) = (self.n_events(), self.n_codes);
        let mut own = vec![0.0f64; self.n_actions * events];
        for (&action, &event) in self.actions.iter().zip(&self.events) {
            own[action as usize * events + event as usize] += 1.0;
        }
        let by_code = |row: &[f64]| {
            let mut sums = vec![0.0; codes];
            row.iter().zip(&self.event_codes).for_each(|(count, &code)| sums[code as usize] += count);
            sums
        };
        let all = by_code(counts);
        let pooled: Vec<f64> =
            counts.iter().zip(&self.event_codes).map(|(count, &code)| count / all[code as usize]).collect();
        let mut prior = Vec::with_capacity(own.len());
        for row in own.chunks_exact(events) {
            let totals = by_code(row);
            prior.extend(
                row.iter().zip(&pooled).zip(&self.event_codes).map(|((count, pooled), &code)| {
                    ((count + pooled) / (totals[code as usize] + 1.0)) as f32
                }),
            );
        }
        prior
    }
}

/// The code of an observation; `UNKNOWN` if it has none.
fn code(codes: &[Option<u32>], observation: i32) -> u32 {
    codes.get(observation as usize).copied().flatten().unwrap_or(UNKNOWN)
}

/// The code of what every step shows: that of the end where it ends the episode.
fn shown(view: &View, codes: &[Option<u32>], end: u32) -> Vec<u32> {
    let mut shown: Vec<u32> = view.observations.iter().map(|&o| code(codes, o)).collect();
    for episode in 0..view.n_episodes() {
        if view.terminated[episode] && !view.episode(episode).is_empty() {
            shown[view.episode(episode).end - 1] = end;
        }
    }
    shown
}

/// The code of what `reset` shows in every episode.
fn first_codes(view: &View, codes: &[Option<u32>]) -> Option<Vec<u32>> {
    view.first_observations.map(|first| first.iter().map(|&o| code(codes, o)).collect())
}
