//! Models grown from few states: trained, split, and trained again, until they have as many states as wanted.
//!
//! Few states find the coarse shape of a world from almost any start; every split refines it. One state for every
//! observation, which the sensor may take for another, is one more size: it is taken where episodes that are held out are
//! clearly less likely after growth. Training explores first: every iteration sees a minibatch of its own and goes beyond the plain update. Then
//! it averages: statistics of minibatches are averaged with a share of the new that shrinks.

use std::ops::Range;

use crate::error::Result;
use crate::learn::hidden::batch::Batch;
use crate::learn::hidden::maximise::maximised;
use crate::learn::hidden::pass::{Counts, Workspace, expected, likelihoods};
use crate::learn::hidden::{Coded, Model, normalise, normalise_columns};
use crate::parallel::{Ticker, map_blocks};
use crate::rng::Rng;

pub use crate::learn::hidden::maximise::Priors;

/// How models are trained.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// States at the beginning, with random parameters; they are split until there are enough. Zero: nothing is grown.
    pub first: usize,
    /// With one state for every observation: it is what it seems with this probability before anything is learned.
    pub trust: f32,
    /// States at the end, at most: growth ends where episodes that are held out become no likelier.
    pub states: usize,
    /// Share of the episodes that judge the sizes; at the end they are trained on as well.
    pub held_out: f64,
    /// Sizes in a row that may bring nothing.
    pub patience: usize,
    /// Standard errors by which held-out episodes must be likelier with one state for every observation.
    pub evidence: f64,
    /// Iterations at every size; twice as many at the first.
    pub explore: usize,
    /// Iterations at the end.
    pub settle: usize,
    /// Steps of a minibatch.
    pub batch: usize,
    /// How far an iteration goes beyond the plain update while it explores.
    pub overshoot: f32,
    /// What is assumed.
    pub priors: Priors,
    /// Of the random streams.
    pub seed: u64,
}

/// Share of a new minibatch in the averages while settling, at first and at last.
const SHARES: (f32, f32) = (0.9, 0.15);

/// So many models, numbered from `first` on for their random streams.
pub fn grown(
    coded: &Coded,
    growth: &Growth,
    numbers: Range<usize>,
    threads: usize,
    ticker: &Ticker,
) -> Result<Vec<Model>> {
    let mut order: Vec<usize> = (0..coded.n_episodes()).collect();
    let mut rng = Rng::stream(growth.seed, u64::MAX);
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last + 1));
    }
    let judges = (growth.held_out * order.len() as f64).ceil() as usize;
    let (held_out, others) = order.split_at(judges.min(order.len() - 1));
    let explored = minibatches(coded, others, growth.batch);
    let all = minibatches(coded, &order, growth.batch);
    map_blocks(threads, numbers.len(), 1, &Ticker::default(), |which| {
        let number = numbers.start + which.start;
        let mut training = Trainer {
            coded,
            growth,
            explored: &explored,
            all: &all,
            held_out,
            next: 31 * number,
            rng: Rng::stream(growth.seed, number as u64),
            space: Workspace::default(),
            ticker,
        };
        training.train()
    })
}

/// Episodes in this order, cut into parts of about so many steps.
fn minibatches(coded: &Coded, order: &[usize], steps: usize) -> Vec<Vec<Batch>> {
    let parts = (coded.n_steps() as f64 / steps as f64).round().max(1.0);
    let size = coded.n_steps() as f64 / parts;
    let (mut batches, mut part, mut seen) = (Vec::new(), Vec::new(), 0);
    for &episode in order {
        part.push(episode);
        seen += coded.steps(episode).len();
        if seen as f64 >= size * (batches.len() + 1) as f64 - 0.5 {
            batches.push(Batch::all(coded, &std::mem::take(&mut part)));
        }
    }
    if !part.is_empty() {
        batches.push(Batch::all(coded, &part));
    }
    batches.retain(|batch| !batch.is_empty());
    batches
}

pub(super) struct Trainer<'a> {
    pub(super) coded: &'a Coded,
    pub(super) growth: &'a Growth,
    pub(super) explored: &'a [Vec<Batch>],
    all: &'a [Vec<Batch>],
    held_out: &'a [usize],
    next: usize,
    rng: Rng,
    space: Workspace,
    ticker: &'a Ticker,
}

impl Trainer<'_> {
    fn train(&mut self) -> Result<Model> {
        let (first, explore) = (self.growth.first.min(self.growth.states), self.growth.explore);
        let mut seen = None;
        if first == 0 || (1..=self.growth.states).contains(&(self.coded.n_codes - 1)) {
            let model = self.explore(self.seen(), explore)?;
            seen = Some((self.judged(&model)?, model));
        }
        let best = if first == 0 {
            seen
        } else {
            let begun = self.random(first);
            let begun = self.explore(begun, 2 * explore)?;
            let grown = self.grow(begun)?;
            seen.filter(|seen| clearly_less(&grown.0, &seen.0, self.growth.evidence)).or(Some(grown))
        };
        self.settle(best.expect("either is trained").1)
    }

    /// Splits states again and again, and keeps the size at which episodes that are held out are likeliest, after how
    /// likely they are. Growth ends when so many sizes in a row brought nothing.
    fn grow(&mut self, mut model: Model) -> Result<(Vec<f64>, Model)> {
        let (mut best, mut failures) = ((self.judged(&model)?, model.clone()), 0);
        while model.states < self.growth.states && failures < self.growth.patience {
            let larger = self.split(&model)?;
            model = self.explore(larger, self.growth.explore)?;
            let new = self.judged(&model)?;
            if new.iter().sum::<f64>() > best.0.iter().sum() {
                (best, failures) = ((new, model.clone()), 0);
            } else {
                failures += 1;
            }
        }
        Ok(best)
    }

    /// The log-likelihoods of the episodes that are held out.
    fn judged(&self, model: &Model) -> Result<Vec<f64>> {
        likelihoods(model, self.coded, self.held_out, self.ticker)
    }

    /// Counts of the next of some minibatches, as if of the whole data.
    pub(super) fn counts(&mut self, model: &Model, batches: &[Vec<Batch>]) -> Result<Counts> {
        let batch = &batches[self.next % batches.len()];
        self.next += 1;
        let counts = expected(model, self.coded, batch, &mut self.space, self.ticker)?;
        let scale = self.coded.n_steps() as f32 / counts.steps as f32;
        Ok(counts.scaled(scale))
    }

    fn explore(&mut self, mut model: Model, iterations: usize) -> Result<Model> {
        for _ in 0..iterations {
            let counts = self.counts(&model, self.explored)?;
            model = maximised(&model, &counts, self.coded, &self.growth.priors, self.growth.overshoot);
        }
        Ok(model)
    }

    fn settle(&mut self, mut model: Model) -> Result<Model> {
        let mut average: Option<Counts> = None;
        let last = (self.growth.settle.max(2) - 1) as f32;
        for iteration in 0..self.growth.settle {
            let counts = self.counts(&model, self.all)?;
            let share = SHARES.0 + (SHARES.1 - SHARES.0) * iteration as f32 / last;
            match &mut average {
                None => average = Some(counts),
                Some(average) => average.blend(counts, share),
            }
            let counts = average.as_ref().expect("just set");
            model = maximised(&model, counts, self.coded, &self.growth.priors, 0.0);
        }
        Ok(model)
    }

    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.rng.uniform() as f32
    }

    fn random(&mut self, states: usize) -> Model {
        let coded = self.coded;
        let mut transitions: Vec<f32> =
            (0..coded.n_actions * states * states).map(|_| self.rng.exponential() + 0.05).collect();
        transitions.chunks_exact_mut(states).for_each(normalise);
        let mut emissions = Vec::with_capacity(coded.n_codes * states);
        for &frequency in &coded.frequency {
            emissions.extend((0..states).map(|_| self.rng.exponential() * frequency + 1e-4));
        }
        normalise_columns(&mut emissions, states);
        Model { states, start: even(states), transitions, emissions, rewards: self.alike(states) }
    }

    /// One state for every observation, with the transitions between observations that were seen.
    fn seen(&self) -> Model {
        let (coded, priors, trust) = (self.coded, &self.growth.priors, self.growth.trust);
        let states = coded.n_codes - 1;
        let mut transitions = vec![priors.transitions / states as f32; coded.n_actions * states * states];
        let mut start = vec![priors.start; states];
        for episode in 0..coded.n_episodes() {
            let mut before = coded.first.as_ref().map(|first| first[episode] as usize);
            if let Some(first) = before {
                start[first] += 1.0;
            }
            for step in coded.steps(episode) {
                let (action, code) = (coded.actions[step] as usize, coded.shown[step] as usize);
                if let Some(before) = before
                    && code < states
                {
                    transitions[(action * states + before) * states + code] += 1.0;
                }
                before = (code < states).then_some(code);
            }
        }
        transitions.chunks_exact_mut(states).for_each(normalise);
        normalise(&mut start);
        let mut emissions = Vec::with_capacity(coded.n_codes * states);
        for (code, &frequency) in coded.frequency.iter().enumerate() {
            emissions.extend(
                (0..states).map(|state| (1.0 - trust) * frequency + if state == code { trust } else { 0.0 }),
            );
        }
        normalise_columns(&mut emissions, states);
        Model { states, start, transitions, emissions, rewards: self.alike(states) }
    }

    /// Rewards that do not depend on the state.
    fn alike(&self, states: usize) -> Vec<f32> {
        self.coded.prior.iter().flat_map(|&p| std::iter::repeat_n(p, states)).collect()
    }
}

/// Whether numbers are smaller than others by so many standard errors of the sum of their differences.
fn clearly_less(new: &[f64], old: &[f64], evidence: f64) -> bool {
    let count = new.len() as f64;
    let differences = new.iter().zip(old).map(|(new, old)| new - old);
    let sum: f64 = differences.clone().sum();
    let squares: f64 = differences.map(|one| (one - sum / count).powi(2)).sum();
    sum < -evidence * (squares * count / (count - 1.0).max(1.0)).sqrt()
}

fn even(states: usize) -> Vec<f32> {
    vec![1.0 / states as f32; states]
}
