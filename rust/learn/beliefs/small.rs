//! Expected counts of models with few states.
//!
//! Where an observation has two clones, vectors over clones are nearly empty. Here a vector runs over the steps of a group
//! instead, a lane of them at a time: every step of a lane needs the same entry of the transitions at the same time.

use pulp::{Arch, Simd, WithSimd};

use super::lockstep::{Group, Lockstep, Moment};
use super::rooms::Likelihood;
use super::{CloneModel, Expected, TINY};
use crate::error::Result;
use crate::parallel::Ticker;

/// Models of up to so many states are small.
pub const MAX_STATES: usize = 8;

/// Steps of a lane.
const WIDTH: usize = 16;

/// One number for each step of a lane, and a number for each state.
type Lane = [f32; WIDTH];
type Row = [f32; MAX_STATES];

/// How often every transition, event and start is expected to have occurred, given all that was seen.
pub fn expectation(model: &CloneModel, episodes: &Lockstep, ticker: &Ticker) -> Result<Expected> {
    let mut laws: Vec<Row> = Vec::with_capacity(model.events.len() / model.layout.n_states);
    for law in model.events.chunks_exact(model.layout.n_states) {
        let mut row = [0.0; MAX_STATES];
        row[..law.len()].copy_from_slice(law);
        laws.push(row);
    }
    let stride = episodes.max_abreast + WIDTH;
    let columns = || vec![0.0; stride * model.layout.n_states];
    Arch::new().dispatch(Pass {
        model,
        episodes,
        sums: Expected::none(model, 0),
        events: vec![[0.0; MAX_STATES]; laws.len()],
        laws,
        stride,
        alive: columns(),
        next: columns(),
        weighted: Vec::new(),
        counts: [[[0.0; WIDTH]; MAX_STATES]; MAX_STATES],
        likelihood: Likelihood::default(),
        ticker,
    })
}

struct Pass<'a> {
    model: &'a CloneModel,
    episodes: &'a Lockstep,
    laws: Vec<Row>,
    sums: Expected,
    /// Expected events, like the laws.
    events: Vec<Row>,
    /// Beliefs before a moment and after it, a column of `stride` numbers for every clone of what was seen; on the way
    /// back the probabilities of what is to come. The last number of a column is zero and belongs to no step.
    alive: Vec<f32>,
    next: Vec<f32>,
    stride: usize,
    /// Belief times the law of its event, state by state, for every lane in the order of the way there.
    weighted: Vec<Lane>,
    /// Expected transitions of a group, by state left and arrived in.
    counts: [[Lane; MAX_STATES]; MAX_STATES],
    likelihood: Likelihood,
    ticker: &'a Ticker,
}

impl WithSimd for Pass<'_> {
    type Output = Result<Expected>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> Result<Expected> {
        for batch in &self.episodes.batches {
            self.ticker.check()?;
            self.weighted.clear();
            for (time, moment) in batch.iter().enumerate() {
                for group in &moment.groups {
                    for from in (0..group.count).step_by(WIDTH) {
                        self.forward(time, moment, group, from);
                    }
                }
                std::mem::swap(&mut self.alive, &mut self.next);
            }
            let mut end = self.weighted.len();
            for (time, moment) in batch.iter().enumerate().rev() {
                for column in self.alive.chunks_exact_mut(self.stride) {
                    moment.last.iter().for_each(|&place| column[place as usize] = 1.0);
                }
                for group in moment.groups.iter().rev() {
                    end = self.backward(time, moment, group, end);
                }
                std::mem::swap(&mut self.alive, &mut self.next);
            }
            self.ticker.advance(batch.iter().map(|moment| moment.events.len()).sum());
        }
        let states = self.model.layout.n_states;
        for (sums, row) in self.sums.events.chunks_exact_mut(states).zip(&self.events) {
            sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        self.sums.log_likelihood = self.likelihood.log() / self.episodes.n_steps as f64;
        Ok(self.sums)
    }
}

impl Pass<'_> {
    /// Beliefs after the steps of a lane.
    #[inline(always)]
    fn forward(&mut self, time: usize, moment: &Moment, group: &Group, from: usize) {
        let (low, size, width) = sizes(group);
        let places = group.first + from..group.first + group.count.min(from + WIDTH);
        let mut begin = [0.0; MAX_STATES];
        if time == 0 {
            begin[..size].copy_from_slice(&self.model.start[low..low + size]);
            // The world may have shown something before the first step.
            if size < self.model.layout.n_states {
                let shown = begin.iter().sum::<f32>() + TINY;
                begin.iter_mut().for_each(|entry| *entry /= shown);
                places.clone().for_each(|_| self.likelihood.times(shown));
            }
        }
        let mut before = [self.stride as u32 - 1; WIDTH];
        before[..places.len()].copy_from_slice(&moment.before[places.clone()]);
        let mut now = [[0.0; WIDTH]; MAX_STATES];
        for (s, now) in now[..size].iter_mut().enumerate() {
            if time == 0 {
                now[..places.len()].fill(begin[s]);
            } else {
                let column = &self.alive[s * self.stride..][..self.stride];
                *now = std::array::from_fn(|step| column[before[step] as usize]);
            }
        }
        by_law(&moment.events[places.clone()], &self.laws, low, &mut now[..size]);
        self.weighted.extend_from_slice(&now[..size]);
        let mut total = [TINY; WIDTH];
        if group.ended {
            now[..size].iter().for_each(|lane| add(&mut total, lane));
        } else {
            let mut after = [[0.0; WIDTH]; MAX_STATES];
            let place = self.place(group);
            for (j, after) in after[..width].iter_mut().enumerate() {
                for (s, now) in now[..size].iter().enumerate() {
                    add_times(after, now, self.model.transitions[place + s * self.model.layout.n_states + j]);
                }
                add(&mut total, after);
            }
            let mut scale = [0.0; WIDTH];
            scale.iter_mut().zip(&total).for_each(|(scale, total)| *scale = 1.0 / total);
            after[..width].iter_mut().for_each(|lane| times(lane, &scale));
            for (column, after) in self.next.chunks_exact_mut(self.stride).zip(&after[..width]) {
                column[places.start..places.start + WIDTH].copy_from_slice(after);
            }
        }
        total[..places.len()].iter().for_each(|&total| self.likelihood.times(total));
    }

    /// Expected counts of a group, whose lanes end at `end`, and the probabilities before it of what was to come, so that
    /// their product with the belief is one. Returns where the lanes of the group begin.
    #[inline(always)]
    fn backward(&mut self, time: usize, moment: &Moment, group: &Group, end: usize) -> usize {
        let (low, size, width) = sizes(group);
        let (states, place) = (self.model.layout.n_states, self.place(group));
        let begin = end - group.count.div_ceil(WIDTH) * size;
        for counts in &mut self.counts[..size] {
            counts[..width].fill([0.0; WIDTH]);
        }
        for (number, now) in self.weighted[begin..end].chunks_exact(size).enumerate() {
            let from = group.first + number * WIDTH;
            let places = from..(group.first + group.count).min(from + WIDTH);
            let mut ahead = [[0.0; WIDTH]; MAX_STATES];
            let mut through = [[1.0; WIDTH]; MAX_STATES];
            if !group.ended {
                for (column, ahead) in self.alive.chunks_exact(self.stride).zip(&mut ahead[..width]) {
                    ahead.copy_from_slice(&column[from..from + WIDTH]);
                }
                for (s, through) in through[..size].iter_mut().enumerate() {
                    *through = [0.0; WIDTH];
                    for (j, ahead) in ahead[..width].iter().enumerate() {
                        add_times(through, ahead, self.model.transitions[place + s * states + j]);
                    }
                }
            }
            let mut scale = [TINY; WIDTH];
            for (now, through) in now.iter().zip(&through) {
                add_product(&mut scale, now, through);
            }
            scale.iter_mut().for_each(|scale| *scale = 1.0 / *scale);
            let mut seen = [[0.0; WIDTH]; MAX_STATES];
            for (s, now) in now.iter().enumerate() {
                let mut weight = *now;
                times(&mut weight, &scale);
                add_product(&mut seen[s], &weight, &through[s]);
                times(&mut through[s], &scale);
                if !group.ended {
                    for (count, ahead) in self.counts[s][..width].iter_mut().zip(&ahead) {
                        add_product(count, &weight, ahead);
                    }
                }
                if time == 0 {
                    self.sums.start[low + s] += sum(&seen[s]);
                }
            }
            add_events(&moment.events[places.clone()], &mut self.events, low, &seen[..size]);
            if time == 0 {
                continue;
            }
            by_law(&moment.events[places.clone()], &self.laws, low, &mut through[..size]);
            for (column, through) in self.next.chunks_exact_mut(self.stride).zip(&through[..size]) {
                for (&before, x) in moment.before[places.clone()].iter().zip(through) {
                    column[before as usize] = *x;
                }
            }
        }
        for s in 0..size {
            for j in 0..width {
                self.sums.transitions[place + s * states + j] += sum(&self.counts[s][j]);
            }
        }
        begin
    }

    /// Where the block of a group begins in the transitions.
    #[inline(always)]
    fn place(&self, group: &Group) -> usize {
        let states = self.model.layout.n_states;
        (group.kind * states + group.from.0) * states + group.to.0
    }
}

/// (first clone, clones before, clones after)
#[inline(always)]
fn sizes(group: &Group) -> (usize, usize, usize) {
    (group.from.0, group.from.1 - group.from.0, group.to.1 - group.to.0)
}

#[inline(always)]
fn add(sum: &mut Lane, lane: &Lane) {
    sum.iter_mut().zip(lane).for_each(|(sum, x)| *sum += x);
}

/// By halves: one number after another would wait for each addition.
#[inline(always)]
fn sum(lane: &Lane) -> f32 {
    let mut sums = *lane;
    for half in [8, 4, 2, 1] {
        for place in 0..half {
            sums[place] += sums[place + half];
        }
    }
    sums[0]
}

#[inline(always)]
fn times(lane: &mut Lane, factor: &Lane) {
    lane.iter_mut().zip(factor).for_each(|(x, factor)| *x *= factor);
}

#[inline(always)]
fn add_times(sum: &mut Lane, lane: &Lane, factor: f32) {
    sum.iter_mut().zip(lane).for_each(|(sum, x)| *sum += x * factor);
}

#[inline(always)]
fn add_product(sum: &mut Lane, lane: &Lane, other: &Lane) {
    for ((sum, x), y) in sum.iter_mut().zip(lane).zip(other) {
        *sum += x * y;
    }
}

/// Times the laws of the events of the steps, which are sorted.
#[inline(always)]
fn by_law(events: &[u32], laws: &[Row], low: usize, lanes: &mut [Lane]) {
    if events[0] == events[events.len() - 1] {
        let law = &laws[events[0] as usize][low..];
        for (lane, p) in lanes.iter_mut().zip(law) {
            lane.iter_mut().for_each(|x| *x *= p);
        }
        return;
    }
    for (step, &event) in events.iter().enumerate().take(WIDTH) {
        let law = &laws[event as usize][low..];
        lanes.iter_mut().zip(law).for_each(|(lane, p)| lane[step] *= p);
    }
}

/// What was seen goes to the events of the steps.
#[inline(always)]
fn add_events(events: &[u32], sums: &mut [Row], low: usize, seen: &[Lane]) {
    if events[0] == events[events.len() - 1] {
        let row = &mut sums[events[0] as usize][low..];
        row.iter_mut().zip(seen).for_each(|(count, seen)| *count += sum(seen));
        return;
    }
    for (step, &event) in events.iter().enumerate().take(WIDTH) {
        let row = &mut sums[event as usize][low..];
        row.iter_mut().zip(seen).for_each(|(count, seen)| *count += seen[step]);
    }
}
