//! Passes of a model over episodes: forward for beliefs and likelihood, backward for expected counts.

use pulp::{Arch, Simd, WithSimd};

use super::lockstep::{Group, Lockstep, Moment};
use super::rooms::{Likelihood, Rooms, Tables};
use super::tiles::{Block, PAD, add_product, combine, dot, total, whole, whole_mut};
use super::{CloneModel, TINY};
use crate::error::Result;
use crate::parallel::Ticker;

/// Sums of one expectation step. Counts of transitions lack the factor T, which all terms of an entry share.
pub struct Expected {
    pub(crate) transitions: Vec<f32>,
    pub(crate) events: Vec<f32>,
    pub(crate) start: Vec<f32>,
    /// Mean over the steps.
    pub log_likelihood: f64,
}

impl Expected {
    /// Zeros for a model, with room behind every table.
    fn none(model: &CloneModel) -> Self {
        let zeros = |table: &[f32]| vec![0.0; table.len() + PAD];
        let (transitions, events) = (zeros(&model.transitions), zeros(&model.events));
        Expected { transitions, events, start: zeros(&model.start), log_likelihood: 0.0 }
    }
}

impl CloneModel {
    /// How often every transition, event and start is expected to have occurred, given all that was seen.
    pub fn expectation(&self, episodes: &Lockstep, ticker: &Ticker) -> Result<Expected> {
        let mut sums = Expected::none(self);
        sums.log_likelihood = self.pass(episodes, Some(&mut sums), ticker)?;
        for table in [&mut sums.transitions, &mut sums.events, &mut sums.start] {
            table.truncate(table.len() - PAD);
        }
        Ok(sums)
    }

    /// Mean log-likelihood of a step.
    pub fn log_likelihood_of(&self, episodes: &Lockstep, ticker: &Ticker) -> Result<f64> {
        self.pass(episodes, None, ticker)
    }

    fn pass(&self, episodes: &Lockstep, counts: Option<&mut Expected>, ticker: &Ticker) -> Result<f64> {
        let rooms = Rooms::new(self, episodes);
        Arch::new().dispatch(Pass { model: self, episodes, counts, rooms, ticker })
    }
}

/// A struct rather than a closure: those are called through a shim that the compiler builds for the oldest processor.
struct Pass<'a> {
    model: &'a CloneModel,
    episodes: &'a Lockstep,
    /// None where the likelihood alone is wanted.
    counts: Option<&'a mut Expected>,
    rooms: Rooms,
    ticker: &'a Ticker,
}

impl WithSimd for Pass<'_> {
    /// Mean log-likelihood of a step.
    type Output = Result<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Result<f64> {
        let tables = Tables::new(self.model, self.counts.is_some());
        let mut likelihood = Likelihood::default();
        for batch in &self.episodes.batches {
            self.ticker.check()?;
            for (time, moment) in batch.iter().enumerate() {
                self.forward(simd, time, moment, &tables, &mut likelihood);
            }
            if self.counts.is_some() {
                for (time, moment) in batch.iter().enumerate().rev() {
                    self.backward(simd, time, moment, &tables);
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
        tables: &Tables,
        likelihood: &mut Likelihood,
    ) {
        let (model, states) = (self.model, self.model.layout.n_states);
        let Rooms { narrow, wide, first, weighted, alive, next, scales, next_scales, begin, .. } =
            &mut self.rooms;
        let (store, stride) = if time == 0 {
            (&mut first[..], *wide)
        } else {
            (&mut weighted[moment.base * *narrow..], *narrow)
        };
        for group in &moment.groups {
            let (low, size) = (group.from.0, group.from.1 - group.from.0);
            let mut shown = 1.0;
            if time == 0 {
                begin.fill(0.0);
                begin[..size].copy_from_slice(&model.start[low..group.from.1]);
                // The world may have shown something before the first step.
                if size < states {
                    shown = total(simd, whole::<S>(begin, 0, size)) + TINY;
                    let scale = settled(&mut begin[..size], shown);
                    begin.iter_mut().for_each(|entry| *entry *= scale);
                }
            }
            for place in group.first..group.first + group.count {
                let law = whole::<S>(&tables.laws, moment.events[place] as usize * states + low, size);
                let (belief, scale) = if time == 0 {
                    (&begin[..], 1.0)
                } else {
                    let before = moment.before[place] as usize;
                    (&alive[before * *narrow..], scales[before])
                };
                let now = whole_mut::<S>(store, place * stride, size);
                let scale = simd.splat_f32s(scale);
                for ((entry, belief), p) in now.iter_mut().zip(whole::<S>(belief, 0, size)).zip(law) {
                    *entry = simd.mul_f32s(simd.mul_f32s(*belief, scale), *p);
                }
                if group.ended {
                    likelihood.times(total(simd, now) + TINY);
                }
                if size < states && time == 0 {
                    likelihood.times(shown);
                }
            }
            if group.ended {
                continue;
            }
            let width = group.to.1 - group.to.0;
            let weights = Block { matrix: &*store, stride, place: group.first * stride };
            let block = Block { matrix: &tables.from[..], stride: states, place: block_place(group, states) };
            let mut out = Block { matrix: &mut next[..], stride: *narrow, place: group.first * *narrow };
            combine(simd, weights, block, &mut out, (group.count, size, width));
            for place in group.first..group.first + group.count {
                tables.show_last(&mut next[place * *narrow..][..width], moment, place, states);
                let sum = total(simd, whole::<S>(next, place * *narrow, width)) + TINY;
                likelihood.times(sum);
                let row = &mut next[place * *narrow..][..width];
                next_scales[place] = settled(row, sum);
            }
        }
        std::mem::swap(alive, next);
        std::mem::swap(scales, next_scales);
    }

    /// Expected counts of a moment, and the backward probabilities before it from those after it.
    ///
    /// They are scaled so that their product with the belief is one. No entry of a belief is below that of a
    /// transition, so none of them can be too large.
    #[inline(always)]
    fn backward<S: Simd>(&mut self, simd: S, time: usize, moment: &Moment, tables: &Tables) {
        let states = self.model.layout.n_states;
        let Some(sums) = &mut self.counts else { return };
        let Rooms { narrow, wide, first, weighted, ahead, earlier, through, .. } = &mut self.rooms;
        let (store, stride) = if time == 0 {
            (&mut first[..], *wide)
        } else {
            (&mut weighted[moment.base * *narrow..], *narrow)
        };
        let mut last = moment.last.iter().map(|&place| place as usize).peekable();
        for group in &moment.groups {
            let (low, size) = (group.from.0, group.from.1 - group.from.0);
            let (high, width) = (group.to.0, group.to.1 - group.to.0);
            let places = group.first..group.first + group.count;
            while let Some(place) = last.next_if(|&place| place < places.end) {
                let row = &mut ahead[place * *narrow..][..*narrow];
                ones(row, width);
                tables.show_last(row, moment, place, states);
            }
            if group.ended {
                places.clone().for_each(|place| ones(&mut through[place * *wide..][..*wide], size));
            } else {
                let weights = Block { matrix: &ahead[..], stride: *narrow, place: group.first * *narrow };
                let place = (group.kind * states + high) * states + low;
                let block = Block { matrix: &tables.into[..], stride: states, place };
                let mut out = Block { matrix: &mut through[..], stride: *wide, place: group.first * *wide };
                combine(simd, weights, block, &mut out, (group.count, width, size));
            }
            for place in places {
                let through = whole::<S>(through, place * *wide, size);
                let now = whole_mut::<S>(store, place * stride, size);
                let scale = simd.splat_f32s(1.0 / (dot(simd, now, through) + TINY));
                let event = moment.events[place] as usize * states + low;
                let (counts, law) =
                    (whole_mut::<S>(&mut sums.events, event, size), whole::<S>(&tables.laws, event, size));
                let seen = now.iter_mut().zip(through).zip(counts);
                if time == 0 {
                    let start = whole_mut::<S>(&mut sums.start, low, size);
                    for (((weight, through), count), sum) in seen.zip(start) {
                        *weight = simd.mul_f32s(*weight, scale);
                        *count = simd.mul_add_e_f32s(*weight, *through, *count);
                        *sum = simd.mul_add_e_f32s(*weight, *through, *sum);
                    }
                } else {
                    let before = moment.before[place] as usize * *narrow;
                    let earlier = whole_mut::<S>(earlier, before, size);
                    for ((((weight, through), count), p), entry) in seen.zip(law).zip(earlier) {
                        *weight = simd.mul_f32s(*weight, scale);
                        *count = simd.mul_add_e_f32s(*weight, *through, *count);
                        *entry = simd.mul_f32s(simd.mul_f32s(*through, scale), *p);
                    }
                }
            }
            if !group.ended {
                let weights = Block { matrix: &*store, stride, place: group.first * stride };
                let values = Block { matrix: &ahead[..], stride: *narrow, place: group.first * *narrow };
                let counts = &mut sums.transitions[..];
                let mut block = Block { matrix: counts, stride: states, place: block_place(group, states) };
                add_product(simd, weights, values, &mut block, (size, group.count, width), |e| (e, e));
            }
        }
        std::mem::swap(ahead, earlier);
    }
}

/// The scale that makes a belief of a row with this sum. What a model holds impossible makes it even over the clones of
/// what was seen.
#[inline(always)]
fn settled(row: &mut [f32], sum: f32) -> f32 {
    if sum <= 2.0 * TINY {
        row.fill(1.0);
        return 1.0 / row.len() as f32;
    }
    1.0 / sum
}

/// So many ones, and zeros behind them.
#[inline(always)]
fn ones(row: &mut [f32], width: usize) {
    row[..width].fill(1.0);
    row[width..].fill(0.0);
}

/// Where the block of a group begins in the transitions.
#[inline(always)]
fn block_place(group: &Group, states: usize) -> usize {
    (group.kind * states + group.from.0) * states + group.to.0
}
