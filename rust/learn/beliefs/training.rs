//! Training of cloned hidden Markov models on minibatches.
//!
//! It takes long until look-alike clones have become different, and few steps tell that as well as many. So models
//! first *explore*: every iteration sees a minibatch of its own and goes beyond the plain update. Then they *settle*:
//! statistics of minibatches are averaged with a step that shrinks. Small models converge slowly in directions that
//! matter (how sure to be of the tiger after three growls); they are *polished* by Anderson's acceleration.

use crate::error::Result;
use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::layout::Layout;
use crate::learn::beliefs::lockstep::Lockstep;
use crate::learn::beliefs::{CloneModel, Expected, normalise, normalise_events};
use crate::parallel::{Ticker, map_blocks};
use crate::rng::Rng;
use crate::trajectories::View;

/// Steps of a minibatch.
const BATCH_STEPS: usize = 10_000;

/// Share of a new minibatch in the statistics while settling: at first and at last.
const FIRST_SHARE: f32 = 0.7;
const LAST_SHARE: f32 = 0.2;

/// Models of up to so many states are polished, on so many steps, for so many iterations.
const MAX_STATES: usize = 8;
const POLISH_STEPS: usize = 100_000;
const POLISH_ITERATIONS: usize = 40;

/// Earlier iterations that Anderson's acceleration remembers.
const MEMORY: usize = 8;

/// How long models are trained.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub(crate) explore: usize,
    pub(crate) settle: usize,
    /// Number of the first model: each sees the minibatches in an order of its own.
    pub first: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// The models after training, each on minibatches in an order of its own.
pub fn train(
    models: &[CloneModel],
    view: &View,
    tasks: &Tasks,
    schedule: &Schedule,
    ticker: &Ticker,
) -> Result<Vec<CloneModel>> {
    let layout = &models[0].layout;
    let mut order: Vec<usize> = (0..view.n_episodes()).collect();
    let mut rng = Rng::stream(schedule.seed, u64::MAX);
    for place in 0..order.len() {
        let left = order.len() - place;
        order.swap(place, place + rng.below(left));
    }
    let law = tasks.law(layout);
    let trainer = Trainer {
        batches: minibatches(view, tasks, layout, &order, BATCH_STEPS).collect(),
        polish: if layout.n_states <= MAX_STATES && !layout.noisy() {
            minibatches(view, tasks, layout, &order, POLISH_STEPS).next()
        } else {
            None
        },
        law,
        n_steps: view.n_steps(),
        ticker,
    };
    map_blocks(schedule.threads, models.len(), 1, &Ticker::default(), |which| {
        let (model, at) = (&models[which.start], 31 * (schedule.first + which.start));
        let explored = trainer.explore(model.clone(), schedule.explore, at)?;
        let settled = trainer.settle(explored, schedule.settle, at + schedule.explore)?;
        trainer.polished(settled)
    })
}

/// About how many steps `train` reads for one model, of data with so many steps.
pub fn work(states: usize, steps: usize, explore: usize, settle: usize) -> usize {
    let polish = if states <= MAX_STATES { POLISH_ITERATIONS * steps.min(POLISH_STEPS) } else { 0 };
    (explore + settle) * steps.min(BATCH_STEPS) + polish
}

/// Episodes in this order, cut into parts of about so many steps.
fn minibatches<'a>(
    view: &'a View,
    tasks: &'a Tasks,
    layout: &'a Layout,
    order: &'a [usize],
    steps: usize,
) -> impl Iterator<Item = Lockstep> + 'a {
    let parts = (view.n_steps() as f64 / steps as f64).round().max(1.0);
    let size = view.n_steps() as f64 / parts;
    let (mut from, mut seen, mut made) = (0, 0, 0);
    order.iter().enumerate().filter_map(move |(place, &episode)| {
        seen += view.episode(episode).len();
        let full = seen as f64 >= size * f64::from(made + 1) - 0.5 || place + 1 == order.len();
        full.then(|| {
            made += 1;
            let part = &order[std::mem::replace(&mut from, place + 1)..=place];
            Lockstep::new(view, tasks, layout, part)
        })
    })
}

struct Trainer<'a> {
    batches: Vec<Lockstep>,
    polish: Option<Lockstep>,
    law: Vec<f32>,
    n_steps: usize,
    ticker: &'a Ticker,
}

impl Trainer<'_> {
    fn batch(&self, number: usize) -> &Lockstep {
        &self.batches[number % self.batches.len()]
    }

    fn explore(&self, mut model: CloneModel, iterations: usize, at: usize) -> Result<CloneModel> {
        for iteration in 0..iterations {
            let counts = model.expected_counts(self.batch(at + iteration), self.ticker)?;
            model = model.maximised(&counts, 1.0, 1.0, &self.law);
        }
        Ok(model)
    }

    fn settle(&self, mut model: CloneModel, iterations: usize, at: usize) -> Result<CloneModel> {
        let mut average: Option<(Expected, f32)> = None;
        for iteration in 0..iterations {
            let batch = self.batch(at + iteration);
            let progress = iteration as f32 / (iterations.max(2) - 1) as f32;
            let steps = batch.n_steps as f32;
            let mut counts = model.expected_counts(batch, self.ticker)?;
            let (average, effective) = match &mut average {
                Some((sums, effective)) if self.batches.len() > 1 => {
                    let share = FIRST_SHARE * libm::powf(LAST_SHARE / FIRST_SHARE, progress);
                    sums.blend(&counts, share, steps);
                    *effective = 1.0 / ((1.0 - share).powi(2) / *effective + share.powi(2) / steps);
                    (&*sums, *effective)
                }
                _ => {
                    counts.scale(1.0 / steps);
                    let (sums, effective) = average.insert((counts, steps));
                    (&*sums, *effective)
                }
            };
            let overshoot = if progress < 0.5 { 1.0 } else { 0.0 };
            model = model.maximised(average, effective.min(self.n_steps as f32), overshoot, &self.law);
        }
        Ok(model)
    }

    /// Anderson's acceleration of the plain iteration, taken back where the likelihood falls.
    fn polished(&self, mut model: CloneModel) -> Result<CloneModel> {
        let Some(episodes) = &self.polish else { return Ok(model) };
        let (mut images, mut residuals): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        let mut sure: Option<CloneModel> = None;
        let mut last = f64::NEG_INFINITY;
        for _ in 0..POLISH_ITERATIONS {
            let counts = model.expected_counts(episodes, self.ticker)?;
            let plain = model.maximised(&counts, 1.0, 0.0, &self.law);
            if counts.log_likelihood < last - 1e-4
                && let Some(safe) = sure.take()
            {
                (model, last) = (safe, f64::NEG_INFINITY);
                images.clear();
                residuals.clear();
                continue;
            }
            last = counts.log_likelihood;
            let (here, image) = (roots(&model), roots(&plain));
            residuals.push(image.iter().zip(&here).map(|(g, x)| g - x).collect());
            images.push(image);
            if images.len() > MEMORY {
                images.remove(0);
                residuals.remove(0);
            }
            model = if images.len() > 1 {
                squared(&extrapolated(&images, &residuals), &plain)
            } else {
                plain.clone()
            };
            sure = Some(plain);
        }
        Ok(sure.unwrap_or(model))
    }
}

impl Expected {
    fn scale(&mut self, factor: f32) {
        for table in [&mut self.transitions, &mut self.events, &mut self.start] {
            table.iter_mut().for_each(|count| *count *= factor);
        }
    }

    /// Averages per step: (1 − share) of these and `share` of the counts of so many steps.
    fn blend(&mut self, counts: &Expected, share: f32, steps: f32) {
        let tables = [
            (&mut self.transitions, &counts.transitions),
            (&mut self.events, &counts.events),
            (&mut self.start, &counts.start),
        ];
        for (mine, theirs) in tables {
            for (average, count) in mine.iter_mut().zip(theirs) {
                *average = (1.0 - share) * *average + share / steps * count;
            }
        }
    }
}

/// All parameters as square roots, on which extrapolation stays positive.
fn roots(model: &CloneModel) -> Vec<f64> {
    let tables = [&model.transitions, &model.events, &model.start];
    tables.into_iter().flatten().map(|&p| f64::from(p).sqrt()).collect()
}

fn squared(roots: &[f64], like: &CloneModel) -> CloneModel {
    let mut values = roots.iter().map(|&root| (root.max(1e-5) * root.max(1e-5)) as f32);
    let mut model = like.clone();
    for table in [&mut model.transitions, &mut model.events, &mut model.start] {
        table.iter_mut().for_each(|p| *p = values.next().expect("as many as before"));
    }
    model.transitions.chunks_exact_mut(model.layout.n_states).for_each(normalise);
    let layout = model.layout.clone();
    normalise_events(&mut model.events, &layout);
    normalise(&mut model.start);
    model
}

/// g − Σ w_i (g_{i+1} − g_i), where the w make the same combination of residuals smallest.
fn extrapolated(images: &[Vec<f64>], residuals: &[Vec<f64>]) -> Vec<f64> {
    let differences = |list: &[Vec<f64>]| -> Vec<Vec<f64>> {
        list.windows(2).map(|pair| pair[1].iter().zip(&pair[0]).map(|(b, a)| b - a).collect()).collect()
    };
    let (steps, changes) = (differences(images), differences(residuals));
    let (image, residual) = (&images[images.len() - 1], &residuals[residuals.len() - 1]);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut gram: Vec<Vec<f64>> =
        changes.iter().map(|x| changes.iter().map(|y| dot(x, y)).collect()).collect();
    let trace: f64 = gram.iter().enumerate().map(|(i, row)| row[i]).sum();
    gram.iter_mut().enumerate().for_each(|(i, row)| row[i] += 1e-8 * trace + f64::MIN_POSITIVE);
    let weights = solved(gram, changes.iter().map(|x| dot(x, residual)).collect());
    let mut point = image.clone();
    for (weight, step) in weights.iter().zip(&steps) {
        point.iter_mut().zip(step).for_each(|(x, d)| *x -= weight * d);
    }
    point
}

/// The solution of a small symmetric positive system, by elimination.
fn solved(mut left: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for i in 0..size {
        let (above, below) = left.split_at_mut(i + 1);
        for (j, row) in below.iter_mut().enumerate() {
            let factor = row[i] / above[i][i];
            row.iter_mut().zip(&above[i]).for_each(|(entry, pivot)| *entry -= factor * pivot);
            right[i + 1 + j] -= factor * right[i];
        }
    }
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|j| left[i][j] * right[j]).sum();
        right[i] = (right[i] - known) / left[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_solves() {
        let left = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, 0.25], vec![0.5, 0.25, 2.0]];
        let expected = [1.0, -2.0, 3.0];
        let right = left.iter().map(|row| row.iter().zip(&expected).map(|(a, x)| a * x).sum()).collect();
        for (found, expected) in solved(left, right).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
    }
}
