//! Passes of a model over episodes: forward for beliefs and likelihood, backward for expected counts.

use pulp::{Arch, Simd, WithSimd};

use super::lockstep::{Group, Lockstep, Moment};
use super::rooms::{Likelihood, Rooms};
use super::tiles::{Block, PAD, add_product, combine, dot, total};
use super::{CloneModel, TINY};
use crate::error::Result;
use crate::parallel::Ticker;

/// A belief that a model gives less than this is impossible.
const IMPOSSIBLE: f32 = 1e-12;

/// Sums of one expectation step. Counts of transitions lack the factor T, which all terms of an entry share.
pub struct Expected {
    pub transitions: Vec<f32>,
    pub events: Vec<f32>,
    pub start: Vec<f32>,
    /// Mean over the steps.
    pub log_likelihood: f64,
}

/// Where beliefs go: cut number c to the columns from `column` on of row c of `rows`.
pub struct BeliefRows<'a> {
    pub rows: &'a mut [f32],
    pub width: usize,
    pub column: usize,
}

/// What a pass is for.
enum Purpose<'a> {
    Likelihood,
    Counts(&'a mut Expected),
    Beliefs(BeliefRows<'a>),
}

impl CloneModel {
    /// How often every transition, event and start is expected to have occurred, given all that was seen.
    pub fn expectation(&self, episodes: &Lockstep, ticker: &Ticker) -> Result<Expected> {
        let mut sums = Expected {
            transitions: vec![0.0; self.transitions.len()],
            events: vec![0.0; self.events.len()],
            start: vec![0.0; self.layout.n_states],
            log_likelihood: 0.0,
        };
        sums.log_likelihood = self.pass(episodes, Purpose::Counts(&mut sums), ticker)?;
        Ok(sums)
    }

    /// Mean log-likelihood of a step.
    pub fn log_likelihood_of(&self, episodes: &Lockstep, ticker: &Ticker) -> Result<f64> {
        self.pass(episodes, Purpose::Likelihood, ticker)
    }

    /// Writes the beliefs at every cut; where a belief is zero nothing is written. Also those after an end.
    pub fn beliefs(&self, episodes: &Lockstep, rows: BeliefRows, ticker: &Ticker) -> Result<()> {
        self.pass(episodes, Purpose::Beliefs(rows), ticker).map(|_| ())
    }

    fn pass(&self, episodes: &Lockstep, purpose: Purpose, ticker: &Ticker) -> Result<f64> {
        let rooms = Rooms::new(self, episodes);
        Arch::new().dispatch(Pass { model: self, episodes, purpose, rooms, ticker })
    }

    /// T_a, padded: (kinds, states left, states arrived in).
    fn padded(&self) -> Vec<f32> {
        let mut from = self.transitions.clone();
        from.resize(from.len() + PAD, 0.0);
        from
    }

    /// T_aᵀ, padded: (kinds, states arrived in, states left).
    fn transposed(&self) -> Vec<f32> {
        let states = self.layout.n_states;
        let mut into = vec![0.0; self.transitions.len() + PAD];
        let blocks = self.transitions.chunks_exact(states * states);
        for (block, from) in into.chunks_exact_mut(states * states).zip(blocks) {
            for (s, row) in from.chunks_exact(states).enumerate() {
                row.iter().enumerate().for_each(|(j, t)| block[j * states + s] = *t);
            }
        }
        into
    }
}

/// A struct rather than a closure: those are called through a shim that the compiler builds for the oldest processor.
struct Pass<'a> {
    model: &'a CloneModel,
    episodes: &'a Lockstep,
    purpose: Purpose<'a>,
    rooms: Rooms,
    ticker: &'a Ticker,
}

impl WithSimd for Pass<'_> {
    /// Mean log-likelihood of a step.
    type Output = Result<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Result<f64> {
        let from = self.model.padded();
        let into = if let Purpose::Counts(_) = self.purpose { self.model.transposed() } else { Vec::new() };
        let mut likelihood = Likelihood::default();
        for batch in &self.episodes.batches {
            self.ticker.check()?;
            for (time, moment) in batch.iter().enumerate() {
                self.forward(simd, time, moment, &from, &mut likelihood);
            }
            if let Purpose::Counts(_) = self.purpose {
                for (time, moment) in batch.iter().enumerate().rev() {
                    self.backward(simd, time, moment, &into);
                }
                self.ticker.advance(batch.iter().map(|moment| moment.events.len()).sum());
            }
        }
        Ok(likelihood.log() / self.episodes.n_steps as f64)
    }
}

impl Pass<'_> {
    /// Beliefs after a moment, from those before it.
    #[inline(always)]
    fn forward<S: Simd>(
        &mut self,
        simd: S,
        time: usize,
        moment: &Moment,
        from: &[f32],
        likelihood: &mut Likelihood,
    ) {
        let (model, states) = (self.model, self.model.layout.n_states);
        let Rooms { narrow, wide, first, weighted, alive, next, begin, .. } = &mut self.rooms;
        let (store, stride) = if time == 0 {
            (&mut first[..], *wide)
        } else {
            (&mut weighted[moment.base * *narrow..], *narrow)
        };
        let acting = matches!(self.purpose, Purpose::Beliefs(_));
        for group in &moment.groups {
            let (low, size) = (group.from.0, group.from.1 - group.from.0);
            let mut shown = 1.0;
            if time == 0 {
                let start = &model.start[low..group.from.1];
                begin[..size].copy_from_slice(start);
                // The world may have shown something before the first step.
                if size < states {
                    shown = total(simd, start) + TINY;
                    settle(&mut begin[..size], shown, acting);
                }
            }
            for place in group.first..group.first + group.count {
                let law = &model.events[moment.events[place] as usize * states + low..][..size];
                let belief = if time == 0 {
                    &begin[..size]
                } else {
                    &alive[moment.before[place] as usize * *narrow..][..size]
                };
                let now = &mut store[place * stride..][..size];
                for ((entry, belief), p) in now.iter_mut().zip(belief).zip(law) {
                    *entry = belief * p;
                }
                if let Purpose::Beliefs(rows) = &mut self.purpose {
                    rows.row(moment.cuts[place], low, size).copy_from_slice(belief);
                }
                if group.ended && !acting {
                    likelihood.times(total(simd, now) + TINY);
                }
                if size < states && time == 0 {
                    likelihood.times(shown);
                }
            }
            if group.ended && !acting {
                continue;
            }
            let width = group.to.1 - group.to.0;
            let weights = Block { matrix: &*store, stride, place: group.first * stride };
            let block = Block { matrix: from, stride: states, place: block_place(group, states) };
            let mut out = Block { matrix: &mut next[..], stride: *narrow, place: group.first * *narrow };
            combine(simd, weights, block, &mut out, (group.count, size, width));
            for place in group.first..group.first + group.count {
                let row = &mut next[place * *narrow..][..width];
                let sum = total(simd, row) + TINY;
                likelihood.times(sum);
                settle(row, sum, acting);
                if let Purpose::Beliefs(rows) = &mut self.purpose {
                    rows.row(moment.cuts[place] + 1, group.to.0, width).copy_from_slice(row);
                }
            }
        }
        std::mem::swap(alive, next);
    }

    /// Expected counts of a moment, and the backward probabilities before it from those after it.
    #[inline(always)]
    fn backward<S: Simd>(&mut self, simd: S, time: usize, moment: &Moment, into: &[f32]) {
        let (model, states) = (self.model, self.model.layout.n_states);
        let Purpose::Counts(sums) = &mut self.purpose else { return };
        let Rooms { narrow, wide, first, weighted, ahead, earlier, through, .. } = &mut self.rooms;
        let (store, stride) = if time == 0 {
            (&mut first[..], *wide)
        } else {
            (&mut weighted[moment.base * *narrow..], *narrow)
        };
        for &place in &moment.last {
            ahead[place as usize * *narrow..][..*narrow].fill(1.0);
        }
        for group in &moment.groups {
            let (low, size) = (group.from.0, group.from.1 - group.from.0);
            let (high, width) = (group.to.0, group.to.1 - group.to.0);
            let places = group.first..group.first + group.count;
            if group.ended {
                places.clone().for_each(|place| through[place * *wide..][..size].fill(1.0));
            } else {
                let weights = Block { matrix: &ahead[..], stride: *narrow, place: group.first * *narrow };
                let place = (group.kind * states + high) * states + low;
                let block = Block { matrix: into, stride: states, place };
                let mut out = Block { matrix: &mut through[..], stride: *wide, place: group.first * *wide };
                combine(simd, weights, block, &mut out, (group.count, width, size));
            }
            for place in places {
                let through = &mut through[place * *wide..][..size];
                let now = &mut store[place * stride..][..size];
                let scale = 1.0 / (dot(simd, now, through) + TINY);
                let event = moment.events[place] as usize * states + low;
                let (counts, law) = (&mut sums.events[event..][..size], &model.events[event..][..size]);
                for (((weight, through), count), p) in
                    now.iter_mut().zip(through.iter_mut()).zip(counts).zip(law)
                {
                    *weight *= scale;
                    *count += *weight * *through;
                    *through *= p;
                }
                if time == 0 {
                    let start = &model.start[low..][..size];
                    let scale = 1.0 / (dot(simd, start, through) + TINY);
                    for ((sum, p), b) in sums.start[low..].iter_mut().zip(start).zip(through.iter()) {
                        *sum += p * b * scale;
                    }
                } else {
                    let scale = size as f32 / (total(simd, through) + TINY);
                    let row = &mut earlier[moment.before[place] as usize * *narrow..][..size];
                    row.iter_mut().zip(through.iter()).for_each(|(entry, b)| *entry = b * scale);
                }
            }
            if !group.ended {
                let weights = Block { matrix: &*store, stride, place: group.first * stride };
                let values = Block { matrix: &ahead[..], stride: *narrow, place: group.first * *narrow };
                let counts = &mut sums.transitions[..];
                let mut block = Block { matrix: counts, stride: states, place: block_place(group, states) };
                add_product(simd, weights, values, &mut block, (size, group.count, width));
            }
        }
        std::mem::swap(ahead, earlier);
    }
}

/// A belief from a row with this sum. What a model holds impossible makes it even over the clones of what was seen.
#[inline(always)]
fn settle(row: &mut [f32], sum: f32, acting: bool) {
    if sum < IMPOSSIBLE && (acting || sum <= 2.0 * TINY) {
        let even = 1.0 / row.len() as f32;
        row.fill(even);
    } else {
        row.iter_mut().for_each(|entry| *entry /= sum);
    }
}

/// Where the block of a group begins in the transitions.
#[inline(always)]
fn block_place(group: &Group, states: usize) -> usize {
    (group.kind * states + group.from.0) * states + group.to.0
}

impl BeliefRows<'_> {
    #[inline(always)]
    fn row(&mut self, cut: u32, low: usize, size: usize) -> &mut [f32] {
        &mut self.rows[cut as usize * self.width + self.column + low..][..size]
    }
}
