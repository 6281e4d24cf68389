//! Cloned hidden Markov models: every hidden state shows one observation only, and several states (clones) may
//! show the same. They are automata with non-negative operators,
//!
//!   A_{ao}[s, s'] = (1 − end_a[s]) · T_a[s, s'] · 1{s' shows o},     α = start,     ω = 1,
//!
//! so their normalised state is a belief: it never blows up and needs no re-anchoring. The likelihood has no
//! closed-form maximum; Baum and Welch's iteration finds a local one. A step of it touches only
//! clones(o_{t−1}) × clones(o_t) transitions, which makes it cheap where there are many observations.

pub mod events;
pub mod baum_welch;
mod expectation;
mod lanes;

use crate::error::{Error, Result};
use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::expectation::{Expected, Sequence};
use crate::parallel::{Ticker, map_blocks};
use crate::rng::Rng;
use crate::trajectories::View;

/// How the models are trained.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    /// Hidden states of a model, shared out among the observations by their frequency.
    pub states: usize,
    pub models: usize,
    pub iterations: usize,
    /// Episodes used at most, drawn by chance: more make the iterations dearer, hardly better.
    pub episodes: usize,
    pub seed: u64,
    pub threads: usize,
}

/// Pseudo-count of a row of transitions, and of the law of events.
const TRANSITION_PRIOR: f32 = 0.5;
const EVENT_PRIOR: f32 = 1.0;

/// How far a step goes beyond the plain update: at first, growing while the likelihood rises, and at most.
const OVERSHOOT: f32 = 0.8;
const GROWTH: f32 = 1.1;
const MAX_OVERSHOOT: f32 = 2.0;

/// Steps that the first iterations see.
const FIRST_STEPS: usize = 10_000;

pub(super) const TINY: f32 = 1e-30;

#[derive(Clone, Debug)]
pub struct CloneModel {
    pub n_states: usize,
    pub n_actions: usize,
    /// States that show observation o: ranges[o].0 .. ranges[o].1; empty if o was never seen.
    pub ranges: Vec<(u32, u32)>,
    pub start: Vec<f32>,
    /// (actions, states, states)
    pub transitions: Vec<f32>,
    /// (tasks, actions, events, states): probability of the reward class and of the end, given the state left.
    pub events: Vec<f32>,
    pub n_events: usize,
    /// Mean log-likelihood of a step in the data trained on.
    pub log_likelihood: f64,
}

/// Trains `training.models` models from different random starts, one after the other on each thread.
pub fn train(view: &View, tasks: &Tasks, training: &Training, ticker: &Ticker) -> Result<Vec<CloneModel>> {
    if training.states == 0 || training.models == 0 {
        let given = format!("{} states, {} models", training.states, training.models);
        return Err(Error::argument("clones", given, "give at least one of each"));
    }
    let mut order: Vec<usize> = (0..view.n_episodes()).collect();
    let mut rng = Rng::stream(training.seed, u64::MAX);
    for place in 0..order.len().min(training.episodes) {
        let left = order.len() - place;
        order.swap(place, place + rng.below(left));
    }
    order.truncate(training.episodes.max(1));
    let sequences: Vec<Sequence> = order.iter().map(|&e| Sequence::of(view, tasks, e)).collect();
    map_blocks(training.threads, training.models, 1, ticker, |which| {
        let mut model = CloneModel::random(view, tasks, training, which.start as u64);
        model.improve(&sequences, training.iterations, ticker)?;
        Ok(model)
    })
}

/// How many iterations see few steps, half of the episodes, and all of them.
fn stages(iterations: usize) -> [usize; 3] {
    [0.6, 0.2, 0.2].map(|share| (share * iterations as f64).ceil() as usize)
}

impl Training {
    /// About how many steps the iterations of all models read, of data with so many steps and episodes.
    pub fn work(&self, steps: usize, episodes: usize) -> usize {
        let all = steps as f64 * f64::min(1.0, self.episodes as f64 / episodes as f64);
        let few = f64::min(all, FIRST_STEPS as f64);
        let seen = [few, f64::max(few, all / 2.0), all];
        let by_stage =
            seen.iter().zip(stages(self.iterations)).map(|(seen, iterations)| seen * iterations as f64);
        self.models * by_stage.sum::<f64>() as usize
    }
}

/// How many of the sequences have so many steps together.
fn enough(sequences: &[Sequence], steps: usize) -> usize {
    let mut seen = 0;
    let long = |episode: &Sequence| {
        seen += episode.n_steps();
        seen >= steps
    };
    sequences.iter().position(long).map_or(sequences.len(), |last| last + 1)
}

fn normalise(row: &mut [f32]) {
    let total: f32 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= total);
}

impl CloneModel {
    /// Random transitions; the law of events is the same everywhere but for a little noise.
    fn random(view: &View, tasks: &Tasks, training: &Training, which: u64) -> Self {
        let mut counts = vec![0usize; view.n_observations];
        view.observations.iter().for_each(|&o| counts[o as usize] += 1);
        let mut ranges = Vec::with_capacity(counts.len());
        let mut from = 0;
        for &count in &counts {
            let share = (training.states as f64 * count as f64 / view.n_steps() as f64).round() as u32;
            let clones = if count > 0 { share.max(1) } else { 0 };
            ranges.push((from, from + clones));
            from += clones;
        }
        let (n_states, n_actions, n_events) = (from as usize, view.n_actions, tasks.n_events());
        let mut rng = Rng::stream(training.seed, which);
        let mut exponential = || (-libm::logf(1.0 - rng.uniform() as f32)).max(1e-6);
        let mut transitions: Vec<f32> = (0..n_actions * n_states * n_states).map(|_| exponential()).collect();
        transitions.chunks_exact_mut(n_states).for_each(normalise);
        let mut start: Vec<f32> = (0..n_states).map(|_| exponential()).collect();
        normalise(&mut start);
        let law = tasks.law();
        let mut events = vec![0.0; law.len() * n_states];
        for (row, law) in events.chunks_exact_mut(n_states).zip(law) {
            row.iter_mut().for_each(|entry| *entry = law * (0.7 + 0.6 * rng.uniform() as f32));
        }
        let mut model = CloneModel {
            n_states,
            n_actions,
            ranges,
            start,
            transitions,
            events,
            n_events,
            log_likelihood: f64::NEG_INFINITY,
        };
        model.normalise_events();
        model
    }

    fn normalise_events(&mut self) {
        let (states, width) = (self.n_states, self.n_events * self.n_states);
        for block in self.events.chunks_exact_mut(width) {
            for state in 0..states {
                let total: f32 = (0..self.n_events).map(|event| block[event * states + state]).sum();
                (0..self.n_events).for_each(|event| block[event * states + state] /= total + TINY);
            }
        }
    }

    /// Baum–Welch with over-relaxation, which is given up for a step whenever the likelihood falls.
    ///
    /// It takes long until look-alike clones have become different, and few episodes tell that as well as many: the
    /// first iterations see some, and only the last ones all.
    fn improve(&mut self, sequences: &[Sequence], iterations: usize, ticker: &Ticker) -> Result<()> {
        let base = self.events.clone();
        let first = enough(sequences, FIRST_STEPS);
        let counts = [first, usize::max(first, sequences.len() / 2), sequences.len()];
        for (count, iterations) in counts.into_iter().zip(stages(iterations)) {
            self.log_likelihood = f64::NEG_INFINITY;
            let mut overshoot = OVERSHOOT;
            for _ in 0..iterations {
                let expected = self.expectation(&sequences[..count], ticker)?;
                let rising = expected.log_likelihood >= self.log_likelihood - 1e-4;
                let old = std::mem::replace(self, self.maximisation(&expected, &base));
                if rising {
                    self.go_beyond(&old, overshoot);
                    overshoot = (overshoot * GROWTH).min(MAX_OVERSHOOT);
                } else {
                    overshoot = OVERSHOOT;
                }
            }
        }
        self.log_likelihood = self.log_likelihood_of(sequences, ticker)?;
        Ok(())
    }

    /// T ∝ T_new · (T_new / T_old)^overshoot: less than half the iterations of the plain update.
    fn go_beyond(&mut self, old: &Self, overshoot: f32) {
        for (t, old) in self.transitions.iter_mut().zip(&old.transitions) {
            *t = *t * libm::powf(*t / old.max(1e-12), overshoot) + 1e-10;
        }
        self.transitions.chunks_exact_mut(self.n_states).for_each(normalise);
    }

    fn maximisation(&self, expected: &Expected, base: &[f32]) -> Self {
        let prior = TRANSITION_PRIOR / self.n_states as f32 + 1e-10;
        let mut next = self.clone();
        // Counts were summed without the factor T, which all of a row's terms share.
        let counted = next.transitions.iter_mut().zip(&expected.transitions);
        counted.for_each(|(t, count)| *t = *t * count + prior);
        next.transitions.chunks_exact_mut(self.n_states).for_each(normalise);
        let counted = expected.events.iter().zip(base);
        next.events = counted.map(|(count, law)| count + EVENT_PRIOR * law + 1e-12).collect();
        next.normalise_events();
        next.start = expected.start.iter().map(|count| count + 1e-6).collect();
        normalise(&mut next.start);
        next.log_likelihood = expected.log_likelihood;
        next
    }

    /// Mean log-likelihood of a step in other data, of the tasks that the model was trained on.
    pub fn score(&self, view: &View, tasks: &Tasks, ticker: &Ticker) -> Result<f64> {
        self.log_likelihood_of(&Sequence::all(view, tasks), ticker)
    }

    /// How often the model expects every transition, event and start to have occurred in other data.
    pub fn expected_counts(&self, view: &View, tasks: &Tasks, ticker: &Ticker) -> Result<Expected> {
        let mut expected = self.expectation(&Sequence::all(view, tasks), ticker)?;
        expected.transitions.iter_mut().zip(&self.transitions).for_each(|(count, t)| *count *= t);
        Ok(expected)
    }

    /// The model after one plain iteration on other data.
    pub fn iterated(&self, view: &View, tasks: &Tasks, ticker: &Ticker) -> Result<Self> {
        let law = tasks.law().into_iter().flat_map(|p| std::iter::repeat_n(p, self.n_states));
        let expected = self.expectation(&Sequence::all(view, tasks), ticker)?;
        Ok(self.maximisation(&expected, &law.collect::<Vec<f32>>()))
    }

    /// Probability that action a in state s ends the episode of a task: (actions, states).
    pub fn ends(&self, task: usize) -> Vec<f32> {
        self.over_events(task, |event| if event % 2 == 1 { 1.0 } else { 0.0 })
    }

    /// Expected reward of action a in state s in a task: (actions, states).
    pub fn rewards(&self, task: usize, tasks: &Tasks) -> Vec<f32> {
        self.over_events(task, |event| tasks.classes(task).mean_reward(event))
    }

    fn over_events(&self, task: usize, worth: impl Fn(usize) -> f32) -> Vec<f32> {
        let mut sums = vec![0.0; self.n_actions * self.n_states];
        let laws = self.events.chunks_exact(self.n_actions * self.n_events * self.n_states).nth(task);
        for (place, row) in laws.unwrap_or_default().chunks_exact(self.n_states).enumerate() {
            let (action, event) = (place / self.n_events, place % self.n_events);
            let target = &mut sums[action * self.n_states..(action + 1) * self.n_states];
            target.iter_mut().zip(row).for_each(|(sum, p)| *sum += worth(event) * p);
        }
        sums
    }
}
