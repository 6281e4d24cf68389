//! The expectation step of cloned hidden Markov models: forward and backward along every episode.

use pulp::{Arch, Simd, WithSimd};

use super::lanes::{Block, PAD, add_product, combine};
use super::{CloneModel, TINY};
use crate::error::Result;
use crate::learn::beliefs::events::Tasks;
use crate::parallel::Ticker;
use crate::trajectories::View;

/// Sums of one expectation step.
pub struct Expected {
    pub transitions: Vec<f32>,
    pub events: Vec<f32>,
    pub start: Vec<f32>,
    /// Mean over the steps.
    pub log_likelihood: f64,
}

/// One episode as the models see it.
pub struct Sequence {
    actions: Vec<u32>,
    observations: Vec<u32>,
    events: Vec<u32>,
    terminated: bool,
    task: usize,
}

impl Sequence {
    pub fn n_steps(&self) -> usize {
        self.actions.len()
    }

    /// All episodes of a data set.
    pub fn all(view: &View, tasks: &Tasks) -> Vec<Self> {
        (0..view.n_episodes()).map(|episode| Sequence::of(view, tasks, episode)).collect()
    }

    pub fn of(view: &View, tasks: &Tasks, episode: usize) -> Self {
        let (steps, terminated) = (view.episode(episode), view.terminated[episode]);
        let last = steps.end - 1;
        let task = tasks.of_episode(episode);
        let event =
            |step: usize| tasks.classes(task).event(view.rewards[step], terminated && step == last) as u32;
        Sequence {
            actions: view.actions[steps.clone()].iter().map(|&a| a as u32).collect(),
            observations: view.observations[steps.clone()].iter().map(|&o| o as u32).collect(),
            events: steps.map(event).collect(),
            terminated,
            task,
        }
    }
}

/// A pass over sequences with the widest vectors that the processor has. A struct, because a closure is called through
/// a shim of the compiler's own, which is built, with all that is inlined into it, for the oldest processor.
struct Pass<'a> {
    model: &'a CloneModel,
    sequences: &'a [Sequence],
    ticker: &'a Ticker,
    /// What is expected is added here; without it the pass is for the likelihood alone.
    sums: Option<&'a mut Expected>,
}

impl WithSimd for Pass<'_> {
    /// Mean log-likelihood of a step.
    type Output = Result<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) -> Result<f64> {
        let (model, states) = (self.model, self.model.n_states);
        let (mut alive, mut weighted) = (Vec::new(), Vec::new());
        let (mut ahead, mut through) = (vec![0.0f32; states], vec![0.0f32; states]);
        let from = model.padded();
        let into = if self.sums.is_some() { model.transposed() } else { Vec::new() };
        let (mut log_likelihood, mut steps) = (0.0, 0);
        for episode in self.sequences {
            self.ticker.check()?;
            steps += episode.n_steps();
            log_likelihood += model.forward(episode, &from, &mut alive, &mut weighted);
            if let Some(sums) = &mut self.sums {
                model.backward(episode, &into, &mut weighted, &mut ahead, &mut through, sums);
                self.ticker.advance(episode.n_steps());
            }
        }
        Ok(log_likelihood / steps as f64)
    }
}

impl CloneModel {
    fn range(&self, observation: u32) -> (usize, usize) {
        let (low, high) = self.ranges[observation as usize];
        (low as usize, high as usize)
    }

    pub fn expectation(&self, sequences: &[Sequence], ticker: &Ticker) -> Result<Expected> {
        let mut sums = Expected {
            transitions: vec![0.0; self.transitions.len() + PAD],
            events: vec![0.0; self.events.len()],
            start: vec![0.0; self.n_states],
            log_likelihood: 0.0,
        };
        let pass = Pass { model: self, sequences, ticker, sums: Some(&mut sums) };
        sums.log_likelihood = Arch::new().dispatch(pass)?;
        sums.transitions.truncate(self.transitions.len());
        Ok(sums)
    }

    /// T_a, padded: (actions, states left, states arrived in).
    fn padded(&self) -> Vec<f32> {
        let mut from = self.transitions.clone();
        from.resize(from.len() + PAD, 0.0);
        from
    }

    /// T_aᵀ, padded: (actions, states arrived in, states left).
    fn transposed(&self) -> Vec<f32> {
        let states = self.n_states;
        let mut into = vec![0.0; self.transitions.len() + PAD];
        for (block, from) in
            into.chunks_exact_mut(states * states).zip(self.transitions.chunks_exact(states * states))
        {
            for (s, row) in from.chunks_exact(states).enumerate() {
                row.iter().enumerate().for_each(|(j, t)| block[j * states + s] = *t);
            }
        }
        into
    }

    /// Mean log-likelihood of a step.
    pub fn log_likelihood_of(&self, sequences: &[Sequence], ticker: &Ticker) -> Result<f64> {
        Arch::new().dispatch(Pass { model: self, sequences, ticker, sums: None })
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
    fn forward(
        &self,
        episode: &Sequence,
        from: &[f32],
        alive: &mut Vec<f32>,
        weighted: &mut Vec<f32>,
    ) -> f64 {
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
            combine(&now[low..high], self.block(from, episode, step, (low, first)), next);
            let total = next.iter().sum::<f32>() + TINY;
            log_likelihood += f64::from(total).ln();
            next.iter_mut().for_each(|entry| *entry /= total);
        }
        log_likelihood
    }

    /// Adds the expected counts of one episode; uses `weighted` up.
    #[inline(always)]
    fn backward(
        &self,
        episode: &Sequence,
        into: &[f32],
        weighted: &mut [f32],
        ahead: &mut [f32],
        through: &mut [f32],
        sums: &mut Expected,
    ) {
        let states = self.n_states;
        ahead.fill(1.0);
        for step in (0..episode.actions.len()).rev() {
            let (low, high) = self.support(episode, step);
            let now = &mut weighted[step * states..(step + 1) * states];
            let ended = Self::ended(episode, step);
            let (first, last) = self.range(episode.observations[step]);
            if ended {
                through[low..high].fill(1.0);
            } else {
                let columns = self.block(into, episode, step, (first, low));
                combine(&ahead[first..last], columns, &mut through[low..high]);
            }
            let mut total = TINY;
            for s in low..high {
                total += now[s] * through[s];
            }
            let event = self.event_place(episode, step);
            for s in low..high {
                sums.events[event + s] += now[s] * through[s] / total;
            }
            if !ended {
                now[low..high].iter_mut().for_each(|weight| *weight /= total);
                let counts = self.block(&mut sums.transitions[..], episode, step, (low, first));
                add_product(&now[low..high], &ahead[first..last], counts);
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

    /// The block of the matrix of the action taken that begins at this row and column.
    fn block<M>(
        &self,
        matrix: M,
        episode: &Sequence,
        step: usize,
        (row, column): (usize, usize),
    ) -> Block<M> {
        let states = self.n_states;
        let place = (episode.actions[step] as usize * states + row) * states + column;
        Block { matrix, stride: states, place }
    }

    fn event_place(&self, episode: &Sequence, step: usize) -> usize {
        let law = episode.task * self.n_actions + episode.actions[step] as usize;
        (law * self.n_events + episode.events[step] as usize) * self.n_states
    }

    fn event_row(&self, episode: &Sequence, step: usize) -> &[f32] {
        let place = self.event_place(episode, step);
        &self.events[place..place + self.n_states]
    }
}
