//! The forward and the backward pass over some episodes abreast.

use pulp::{Arch, Simd, WithSimd};

use crate::error::Result;
use crate::learn::beliefs::tiles::{Block, PAD, add_product, combine, total};
use crate::learn::hidden::batch::Batch;
use crate::learn::hidden::coded::UNKNOWN;
use crate::learn::hidden::tables::{TINY, Tables, UNSEEN, reward_place};
use crate::learn::hidden::{Coded, Model};
use crate::parallel::Ticker;

/// How often everything is expected to have occurred, given all that was seen.
#[derive(Clone, Debug)]
pub struct Counts {
    pub(super) start: Vec<f32>,
    pub(super) transitions: Vec<f32>,
    pub(super) emissions: Vec<f32>,
    pub(super) rewards: Vec<f32>,
    /// Of the episodes.
    pub(super) steps: usize,
}

impl Counts {
    /// Zeros, in rows as long as those of the tables.
    fn none(tables: &Tables) -> Self {
        let zeros = |table: &[f32]| vec![0.0; table.len()];
        Counts {
            start: zeros(&tables.start),
            transitions: zeros(&tables.from),
            emissions: zeros(&tables.emissions),
            rewards: zeros(&tables.rewards),
            steps: 0,
        }
    }

    pub(super) fn tables(&mut self) -> [&mut Vec<f32>; 4] {
        [&mut self.start, &mut self.transitions, &mut self.emissions, &mut self.rewards]
    }

    /// (1 − share) of these and `share` of others, all per step.
    pub(super) fn blend(&mut self, mut other: Counts, share: f32) {
        for (mine, theirs) in self.tables().into_iter().zip(other.tables()) {
            mine.iter_mut().zip(theirs).for_each(|(x, y)| *x += share * (*y - *x));
        }
    }

    pub(super) fn scaled(mut self, factor: f32) -> Self {
        self.tables().into_iter().flatten().for_each(|count| *count *= factor);
        self
    }
}

/// What the passes write into; batch after batch uses it again.
#[derive(Default)]
pub(super) struct Workspace {
    /// Beliefs after every step; and those before it times the probability of the step's reward.
    beliefs: Vec<f32>,
    weighted: Vec<f32>,
    scales: Vec<f32>,
    begin: Vec<f32>,
    next: Vec<f32>,
    ahead: Vec<f32>,
    earlier: Vec<f32>,
}

impl Workspace {
    /// Makes room for a batch; nothing is read before it is written, but for what lies behind the last row.
    fn fit(&mut self, stride: usize, batch: &Batch) {
        let (rows, abreast) = (batch.rows * stride + PAD, batch.episodes.len() * stride + PAD);
        self.scales.resize(batch.rows, 0.0);
        self.beliefs.resize(rows, 0.0);
        self.weighted.resize(rows, 0.0);
        for part in [&mut self.begin, &mut self.next, &mut self.ahead, &mut self.earlier] {
            part.resize(abreast, 0.0);
        }
    }
}

/// What is expected of some episodes.
pub(super) fn expected(
    model: &Model,
    coded: &Coded,
    batches: &[Batch],
    space: &mut Workspace,
    ticker: &Ticker,
) -> Result<Counts> {
    let tables = Tables::new(model);
    let mut counts = Counts::none(&tables);
    for batch in batches {
        ticker.check()?;
        space.fit(tables.stride, batch);
        Arch::new().dispatch(Pass { tables: &tables, coded, batch, space, counts: Some(&mut counts) });
        let steps: usize = batch.moments.iter().map(|moment| moment.steps.len()).sum();
        counts.steps += steps;
        ticker.advance(steps);
    }
    let lengths = [&model.start, &model.transitions, &model.emissions, &model.rewards].map(Vec::len);
    counts.tables().into_iter().zip(lengths).for_each(|(table, length)| tables.narrow(table, length));
    counts.transitions.iter_mut().zip(&model.transitions).for_each(|(count, t)| *count *= t);
    Ok(counts)
}

/// The log-likelihood of every one of these episodes.
pub(super) fn likelihoods(
    model: &Model,
    coded: &Coded,
    episodes: &[usize],
    ticker: &Ticker,
) -> Result<Vec<f64>> {
    let tables = Tables::new(model);
    let (mut logs, mut space) = (vec![0.0; coded.n_episodes()], Workspace::default());
    for batch in Batch::all(coded, episodes) {
        ticker.check()?;
        space.fit(tables.stride, &batch);
        let pass = Pass { tables: &tables, coded, batch: &batch, space: &mut space, counts: None };
        Arch::new().dispatch(pass);
        let mut members = batch.episodes.clone();
        members.iter().for_each(|&episode| {
            logs[episode] = f64::from(tables.first_scale(coded, episode)).ln();
        });
        for moment in &batch.moments {
            members = moment.before.iter().map(|&place| members[place]).collect();
            for (&episode, scale) in members.iter().zip(&space.scales[moment.base..]) {
                logs[episode] += f64::from(*scale).ln();
            }
        }
    }
    Ok(episodes.iter().map(|&episode| logs[episode]).collect())
}

/// One batch: forward, and back where counts are wanted.
struct Pass<'a> {
    tables: &'a Tables,
    coded: &'a Coded,
    batch: &'a Batch,
    space: &'a mut Workspace,
    counts: Option<&'a mut Counts>,
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.forward(simd);
        if let Some(counts) = self.counts.take() {
            self.backward(simd, counts);
        }
    }
}

impl Pass<'_> {
    #[inline(always)]
    fn forward<S: Simd>(&mut self, simd: S) {
        let Pass { tables, coded, batch, space, .. } = self;
        let (states, stride) = (tables.states, tables.stride);
        for (place, &episode) in batch.episodes.iter().enumerate() {
            let begin = &mut space.begin[place * stride..][..stride];
            begin.copy_from_slice(&tables.start[..stride]);
            if let Some(first) = &coded.first
                && first[episode] != UNKNOWN
            {
                let scale = tables.first_scale(coded, episode);
                begin.iter_mut().zip(tables.emission(first[episode])).for_each(|(p, q)| *p *= q / scale);
            }
        }
        let (unseen, ones) = (vec![UNSEEN; stride], vec![1.0; stride]);
        for (time, moment) in batch.moments.iter().enumerate() {
            let (past, next) = space.beliefs.split_at_mut(moment.base * stride);
            let before = match time {
                0 => &space.begin[..],
                _ => &past[batch.moments[time - 1].base * stride..],
            };
            let weighted = &mut space.weighted[moment.base * stride..];
            for (place, &step) in moment.steps.iter().enumerate() {
                let from = &before[moment.before[place] * stride..][..stride];
                let own = &mut weighted[place * stride..][..stride];
                if coded.events[step] == UNKNOWN {
                    product(simd, own, from, &unseen);
                } else {
                    product(simd, own, from, tables.reward(coded, step));
                }
            }
            for (action, &(low, high)) in moment.groups.iter().enumerate() {
                let rows = Block { matrix: &*weighted, stride, place: low * stride };
                let mut out = Block { matrix: &mut *next, stride, place: low * stride };
                let moved = tables.matrix(&tables.from, action);
                combine(simd, rows, moved, &mut out, (high - low, states, states));
            }
            for (place, &step) in moment.steps.iter().enumerate() {
                let belief = &mut next[place * stride..][..stride];
                if coded.shown[step] != UNKNOWN {
                    let shown = tables.emission(coded.shown[step]);
                    scale_by(simd, belief, shown, 1.0);
                }
                let scale = total(simd, S::as_simd_f32s(belief).0) + TINY;
                scale_by(simd, belief, &ones, 1.0 / scale);
                space.scales[moment.base + place] = scale;
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(&mut self, simd: S, counts: &mut Counts) {
        let Pass { tables, coded, batch, .. } = self;
        let (states, stride) = (tables.states, tables.stride);
        let Workspace { beliefs, weighted, scales, begin, next, ahead, earlier } = &mut *self.space;
        for (time, moment) in batch.moments.iter().enumerate().rev() {
            // Episodes whose last step this is have nothing ahead of them.
            let mut later = vec![false; moment.steps.len()];
            if let Some(following) = batch.moments.get(time + 1) {
                following.before.iter().for_each(|&place| later[place] = true);
            }
            for (place, &step) in moment.steps.iter().enumerate() {
                let own = &mut ahead[place * stride..][..stride];
                if !later[place] {
                    own.fill(1.0);
                }
                let code = coded.shown[step];
                let belief = &beliefs[(moment.base + place) * stride..][..stride];
                let seen = &mut counts.emissions[code as usize * stride..][..stride];
                add(simd, seen, belief, own);
                scale_by(simd, own, tables.emission(code), 1.0 / scales[moment.base + place]);
            }
            let weights = &weighted[moment.base * stride..];
            for (action, &(low, high)) in moment.groups.iter().enumerate() {
                let rows = |matrix| Block { matrix, stride, place: low * stride };
                let place = action * states * stride;
                let mut own = Block { matrix: &mut counts.transitions[..], stride, place };
                let sizes = (states, high - low, states);
                add_product(simd, rows(weights), rows(&ahead[..]), &mut own, sizes, |e| (e, e));
                let mut back = Block { matrix: &mut next[..], stride, place: low * stride };
                let moved = tables.matrix(&tables.into, action);
                combine(simd, rows(&ahead[..]), moved, &mut back, (high - low, states, states));
            }
            for (place, &step) in moment.steps.iter().enumerate() {
                let back = &next[place * stride..][..stride];
                let law = tables.reward(coded, step);
                let from = moment.before[place] * stride;
                let sums = &mut counts.rewards[reward_place(coded, step) * stride..][..stride];
                let own = &weights[place * stride..][..stride];
                add(simd, sums, own, back);
                let target = &mut earlier[from..][..stride];
                product(simd, target, back, law);
                if time == 0 {
                    let begun = &begin[from..][..stride];
                    add(simd, &mut counts.start[..stride], begun, target);
                    if let Some(first) = &coded.first {
                        let code = first[batch.episodes[moment.before[place]]] as usize;
                        add(simd, &mut counts.emissions[code * stride..][..stride], begun, target);
                    }
                }
            }
            std::mem::swap(ahead, earlier);
        }
    }
}

/// out = x · y, number by number.
#[inline(always)]
fn product<S: Simd>(simd: S, out: &mut [f32], x: &[f32], y: &[f32]) {
    let (x, y) = (S::as_simd_f32s(x).0, S::as_simd_f32s(y).0);
    for (out, (x, y)) in S::as_mut_simd_f32s(out).0.iter_mut().zip(x.iter().zip(y)) {
        *out = simd.mul_f32s(*x, *y);
    }
}

/// sum += x · y, number by number.
#[inline(always)]
fn add<S: Simd>(simd: S, sum: &mut [f32], x: &[f32], y: &[f32]) {
    let (x, y) = (S::as_simd_f32s(x).0, S::as_simd_f32s(y).0);
    for (sum, (x, y)) in S::as_mut_simd_f32s(sum).0.iter_mut().zip(x.iter().zip(y)) {
        *sum = simd.mul_add_e_f32s(*x, *y, *sum);
    }
}

/// row *= x · scale, number by number.
#[inline(always)]
fn scale_by<S: Simd>(simd: S, row: &mut [f32], x: &[f32], scale: f32) {
    let scale = simd.splat_f32s(scale);
    for (entry, x) in S::as_mut_simd_f32s(row).0.iter_mut().zip(S::as_simd_f32s(x).0) {
        *entry = simd.mul_f32s(*entry, simd.mul_f32s(*x, scale));
    }
}
