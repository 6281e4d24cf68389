//! Cloned hidden Markov models: every hidden state shows one observation only, and several states (clones) may
//! show the same. They are automata with non-negative operators,
//!
//!   A_{ao}[s, s'] = (1 − end_a[s]) · T_a[s, s'] · 1{s' shows o},     α = start,     ω = 1,
//!
//! so their normalised state is a belief: it never blows up and needs no re-anchoring. The likelihood has no
//! closed-form maximum; Baum and Welch's iteration finds a local one. A step of it touches only
//! clones(o_{t−1}) × clones(o_t) transitions, which makes it cheap where there are many observations.

use pulp::Arch;

use crate::error::{Error, Result};
use crate::learn::events::RewardClasses;
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

/// Exponent of the over-relaxed update T ∝ T_new · (T_new / T_old)^0.8: half the iterations of the plain one.
const OVERSHOOT: f32 = 0.8;

const TINY: f32 = 1e-30;

#[derive(Clone, Debug)]
pub struct CloneModel {
    pub n_states: usize,
    pub n_actions: usize,
    /// States that show observation o: ranges[o].0 .. ranges[o].1; empty if o was never seen.
    pub ranges: Vec<(u32, u32)>,
    pub start: Vec<f32>,
    /// (actions, states, states)
    pub transitions: Vec<f32>,
    /// (actions, events, states): probability of the reward class and of the end, given the state left.
    pub events: Vec<f32>,
    pub n_events: usize,
    /// Mean log-likelihood of a step in the data trained on.
    pub log_likelihood: f64,
}

/// Sums of one expectation step.
struct Expected {
    transitions: Vec<f32>,
    events: Vec<f32>,
    start: Vec<f32>,
    log_likelihood: f64,
}

/// One episode as the models see it.
struct Sequence {
    actions: Vec<u32>,
    observations: Vec<u32>,
    events: Vec<u32>,
    terminated: bool,
}

/// Trains `training.models` models from different random starts, one after the other on each thread.
pub fn train(
    view: &View,
    terminated: &[bool],
    classes: &RewardClasses,
    training: &Training,
    ticker: &Ticker,
) -> Result<Vec<CloneModel>> {
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
    let sequences: Vec<Sequence> = order.iter().map(|&e| sequence(view, terminated[e], classes, e)).collect();
    map_blocks(training.threads, training.models, 1, ticker, |which| {
        let mut model = CloneModel::random(view, classes, training, which.start as u64);
        model.improve(&sequences, training.iterations, ticker)?;
        Ok(model)
    })
}

fn sequence(view: &View, terminated: bool, classes: &RewardClasses, episode: usize) -> Sequence {
    let steps = view.episode(episode);
    let last = steps.end - 1;
    let event = |step: usize| classes.event(view.rewards[step], terminated && step == last) as u32;
    Sequence {
        actions: view.actions[steps.clone()].iter().map(|&a| a as u32).collect(),
        observations: view.observations[steps.clone()].iter().map(|&o| o as u32).collect(),
        events: steps.map(event).collect(),
        terminated,
    }
}

fn normalise(row: &mut [f32]) {
    let total: f32 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= total);
}

impl CloneModel {
    /// Random transitions; the law of events is the same everywhere but for a little noise.
    fn random(view: &View, classes: &RewardClasses, training: &Training, which: u64) -> Self {
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
        let (n_states, n_actions, n_events) = (from as usize, view.n_actions, classes.n_events());
        let mut rng = Rng::stream(training.seed, which);
        let mut exponential = || -libm::logf(1.0 - rng.uniform() as f32).max(1e-6);
        let mut transitions: Vec<f32> = (0..n_actions * n_states * n_states).map(|_| exponential()).collect();
        transitions.chunks_exact_mut(n_states).for_each(normalise);
        let mut start: Vec<f32> = (0..n_states).map(|_| exponential()).collect();
        normalise(&mut start);
        let mut events = vec![0.0; n_actions * n_events * n_states];
        for (row, law) in events.chunks_exact_mut(n_states).zip(classes.law()) {
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
    fn improve(&mut self, sequences: &[Sequence], iterations: usize, ticker: &Ticker) -> Result<()> {
        let base = self.events.clone();
        let arch = Arch::new();
        let mut previous = f64::NEG_INFINITY;
        for _ in 0..iterations {
            ticker.check()?;
            let expected = arch.dispatch(|| self.expectation(sequences));
            let rising = expected.log_likelihood >= previous - 1e-4;
            previous = expected.log_likelihood;
            self.maximisation(expected, &base, rising);
        }
        self.log_likelihood = arch.dispatch(|| self.expectation(sequences)).log_likelihood;
        Ok(())
    }

    fn maximisation(&mut self, expected: Expected, base: &[f32], rising: bool) {
        let prior = TRANSITION_PRIOR / self.n_states as f32 + 1e-10;
        for (row, counts) in self
            .transitions
            .chunks_exact_mut(self.n_states)
            .zip(expected.transitions.chunks_exact(self.n_states))
        {
            let old: Vec<f32> = row.to_vec();
            // Counts were summed without the factor T, which all of a row's terms share.
            row.iter_mut().zip(counts).for_each(|(t, count)| *t = *t * count + prior);
            normalise(row);
            if rising {
                let push =
                    |(t, old): (&mut f32, &f32)| *t = *t * libm::powf(*t / old.max(1e-12), OVERSHOOT) + 1e-10;
                row.iter_mut().zip(&old).for_each(push);
                normalise(row);
            }
        }
        let counted = expected.events.iter().zip(base);
        self.events = counted.map(|(count, law)| count + EVENT_PRIOR * law + 1e-12).collect();
        self.normalise_events();
        self.start = expected.start.iter().map(|count| count + 1e-6).collect();
        normalise(&mut self.start);
    }

    fn range(&self, observation: u32) -> (usize, usize) {
        let (low, high) = self.ranges[observation as usize];
        (low as usize, high as usize)
    }

    #[inline(always)]
    fn expectation(&self, sequences: &[Sequence]) -> Expected {
        let states = self.n_states;
        let mut sums = Expected {
            transitions: vec![0.0; self.transitions.len()],
            events: vec![0.0; self.events.len()],
            start: vec![0.0; states],
            log_likelihood: 0.0,
        };
        let (mut alive, mut weighted) = (Vec::new(), Vec::new());
        let (mut ahead, mut through) = (vec![0.0f32; states], vec![0.0f32; states]);
        let mut steps = 0;
        for episode in sequences {
            steps += episode.actions.len();
            sums.log_likelihood += self.forward(episode, &mut alive, &mut weighted);
            self.backward(episode, &weighted, &mut ahead, &mut through, &mut sums);
        }
        sums.log_likelihood /= steps as f64;
        sums
    }

    /// States that the agent may be in before step t.
    fn support(&self, episode: &Sequence, step: usize) -> (usize, usize) {
        if step == 0 { (0, self.n_states) } else { self.range(episode.observations[step - 1]) }
    }

    fn ended(episode: &Sequence, step: usize) -> bool {
        episode.terminated && step + 1 == episode.actions.len()
    }

    /// `weighted[t]` = belief before step t times the probability of its event. Returns the log-likelihood.
    #[inline(always)]
    fn forward(&self, episode: &Sequence, alive: &mut Vec<f32>, weighted: &mut Vec<f32>) -> f64 {
        let (states, length) = (self.n_states, episode.actions.len());
        alive.clear();
        alive.resize((length + 1) * states, 0.0);
        weighted.clear();
        weighted.resize(length * states, 0.0);
        alive[..states].copy_from_slice(&self.start);
        let mut log_likelihood = 0.0;
        for step in 0..length {
            let (low, high) = self.support(episode, step);
            let law = self.event_row(episode, step);
            let now = &mut weighted[step * states..(step + 1) * states];
            let before = &alive[step * states + low..step * states + high];
            for ((entry, belief), p) in now[low..high].iter_mut().zip(before).zip(&law[low..high]) {
                *entry = belief * p;
            }
            if Self::ended(episode, step) {
                log_likelihood += f64::from(now[low..high].iter().sum::<f32>() + TINY).ln();
                break;
            }
            let (first, last) = self.range(episode.observations[step]);
            let next = &mut alive[(step + 1) * states + first..(step + 1) * states + last];
            for (s, &weight) in (low..high).zip(&now[low..high]) {
                let row = self.row(episode.actions[step], s, first, last);
                next.iter_mut().zip(row).for_each(|(entry, t)| *entry += weight * t);
            }
            let total = next.iter().sum::<f32>() + TINY;
            log_likelihood += f64::from(total).ln();
            next.iter_mut().for_each(|entry| *entry /= total);
        }
        log_likelihood
    }

    /// Adds the expected counts of one episode.
    #[inline(always)]
    fn backward(
        &self,
        episode: &Sequence,
        weighted: &[f32],
        ahead: &mut [f32],
        through: &mut [f32],
        sums: &mut Expected,
    ) {
        let states = self.n_states;
        ahead.fill(1.0);
        for step in (0..episode.actions.len()).rev() {
            let (low, high) = self.support(episode, step);
            let now = &weighted[step * states..(step + 1) * states];
            let ended = Self::ended(episode, step);
            let (first, last) = self.range(episode.observations[step]);
            let mut total = TINY;
            for s in low..high {
                let row = self.row(episode.actions[step], s, first, last);
                through[s] = if ended { 1.0 } else { dot(row, &ahead[first..last]) };
                total += now[s] * through[s];
            }
            let event = self.event_place(episode, step);
            for s in low..high {
                if !ended {
                    let weight = now[s] / total;
                    let place = (episode.actions[step] as usize * states + s) * states;
                    let row = &mut sums.transitions[place + first..place + last];
                    row.iter_mut().zip(&ahead[first..last]).for_each(|(sum, b)| *sum += weight * b);
                }
                sums.events[event + s] += now[s] * through[s] / total;
            }
            let law = self.event_row(episode, step);
            let mut size = TINY;
            for s in low..high {
                ahead[s] = law[s] * through[s];
                size += ahead[s];
            }
            let scale = (high - low) as f32 / size;
            ahead[low..high].iter_mut().for_each(|b| *b *= scale);
        }
        let total = self.start.iter().zip(&*ahead).map(|(p, b)| p * b).sum::<f32>() + TINY;
        for ((sum, p), b) in sums.start.iter_mut().zip(&self.start).zip(&*ahead) {
            *sum += p * b / total;
        }
    }

    fn row(&self, action: u32, state: usize, first: usize, last: usize) -> &[f32] {
        let place = (action as usize * self.n_states + state) * self.n_states;
        &self.transitions[place + first..place + last]
    }

    fn event_place(&self, episode: &Sequence, step: usize) -> usize {
        (episode.actions[step] as usize * self.n_events + episode.events[step] as usize) * self.n_states
    }

    fn event_row(&self, episode: &Sequence, step: usize) -> &[f32] {
        let place = self.event_place(episode, step);
        &self.events[place..place + self.n_states]
    }

    /// Probability that action a in state s ends the episode: (actions, states).
    pub fn ends(&self) -> Vec<f32> {
        self.over_events(|event| if event % 2 == 1 { 1.0 } else { 0.0 })
    }

    /// Expected reward of action a in state s: (actions, states).
    pub fn rewards(&self, classes: &RewardClasses) -> Vec<f32> {
        self.over_events(|event| classes.mean_reward(event))
    }

    fn over_events(&self, worth: impl Fn(usize) -> f32) -> Vec<f32> {
        let mut sums = vec![0.0; self.n_actions * self.n_states];
        for (place, row) in self.events.chunks_exact(self.n_states).enumerate() {
            let (action, event) = (place / self.n_events, place % self.n_events);
            let target = &mut sums[action * self.n_states..(action + 1) * self.n_states];
            target.iter_mut().zip(row).for_each(|(sum, p)| *sum += worth(event) * p);
        }
        sums
    }
}

/// Eight running sums, so that the loop can be vectorised without changing its result from machine to machine.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (head_a, tail_a) = a.as_chunks::<8>();
    let (head_b, tail_b) = b.as_chunks::<8>();
    for (x, y) in head_a.iter().zip(head_b) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let tail: f32 = tail_a.iter().zip(tail_b).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + tail
}
