//! The forward and the backward pass over some episodes abreast.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::error::Result;
use crate::learn::hidden::batch::Batch;
use crate::learn::hidden::coded::UNKNOWN;
use crate::learn::hidden::{Coded, Model};
use crate::parallel::Ticker;

/// The smallest probability of a step.
const TINY: f32 = 1e-30;

/// The probability of what was never seen in training.
const UNSEEN: f32 = 1e-4;

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
    fn none(model: &Model) -> Self {
        let zeros = |table: &[f32]| vec![0.0; table.len()];
        Counts {
            start: zeros(&model.start),
            transitions: zeros(&model.transitions),
            emissions: zeros(&model.emissions),
            rewards: zeros(&model.rewards),
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

/// What is expected of some episodes.
pub(super) fn expected(
    model: &Model,
    coded: &Coded,
    batches: &[Batch],
    space: &mut Workspace,
    ticker: &Ticker,
) -> Result<Counts> {
    let mut counts = Counts::none(model);
    for batch in batches {
        ticker.check()?;
        space.fit(model, batch);
        forward(model, coded, batch, space);
        backward(model, coded, batch, space, &mut counts);
        let steps: usize = batch.moments.iter().map(|moment| moment.steps.len()).sum();
        counts.steps += steps;
        ticker.advance(steps);
    }
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
    let (mut logs, mut space) = (vec![0.0; coded.n_episodes()], Workspace::default());
    for batch in Batch::all(coded, episodes) {
        ticker.check()?;
        space.fit(model, &batch);
        forward(model, coded, &batch, &mut space);
        let mut members = batch.episodes.clone();
        members
            .iter()
            .for_each(|&episode| logs[episode] = f64::from(first_scale(model, coded, episode)).ln());
        for moment in &batch.moments {
            members = moment.before.iter().map(|&place| members[place]).collect();
            for (&episode, scale) in members.iter().zip(&space.scales[moment.base..]) {
                logs[episode] += f64::from(*scale).ln();
            }
        }
    }
    Ok(episodes.iter().map(|&episode| logs[episode]).collect())
}

/// How likely what `reset` shows is.
fn first_scale(model: &Model, coded: &Coded, episode: usize) -> f32 {
    match &coded.first {
        None => 1.0,
        Some(first) if first[episode] == UNKNOWN => UNSEEN,
        Some(first) => {
            let shown = emission_row(model, first[episode]);
            model.start.iter().zip(shown).map(|(p, q)| p * q).sum::<f32>() + TINY
        }
    }
}

impl Workspace {
    /// Makes room for a batch; nothing is read before it is written.
    fn fit(&mut self, model: &Model, batch: &Batch) {
        let (rows, abreast) = (batch.rows * model.states, batch.episodes.len() * model.states);
        self.scales.resize(batch.rows, 0.0);
        self.beliefs.resize(rows, 0.0);
        self.weighted.resize(rows, 0.0);
        for part in [&mut self.begin, &mut self.next, &mut self.ahead, &mut self.earlier] {
            part.resize(abreast, 0.0);
        }
    }
}

fn forward(model: &Model, coded: &Coded, batch: &Batch, space: &mut Workspace) {
    let states = model.states;
    for (place, &episode) in batch.episodes.iter().enumerate() {
        let begin = &mut space.begin[place * states..][..states];
        begin.copy_from_slice(&model.start);
        if let Some(first) = &coded.first
            && first[episode] != UNKNOWN
        {
            let scale = first_scale(model, coded, episode);
            begin.iter_mut().zip(emission_row(model, first[episode])).for_each(|(p, q)| *p *= q / scale);
        }
    }
    for (time, moment) in batch.moments.iter().enumerate() {
        let count = moment.steps.len();
        let (past, now) = space.beliefs.split_at_mut(moment.base * states);
        let before = match time {
            0 => &space.begin[..],
            _ => &past[batch.moments[time - 1].base * states..],
        };
        let weighted = &mut space.weighted[moment.base * states..][..count * states];
        for (place, &step) in moment.steps.iter().enumerate() {
            let from = &before[moment.before[place] * states..][..states];
            let own = &mut weighted[place * states..][..states];
            if coded.events[step] == UNKNOWN {
                own.iter_mut().zip(from).for_each(|(w, b)| *w = b * UNSEEN);
            } else {
                let law = reward_row(model, coded, step);
                own.iter_mut().zip(from).zip(law).for_each(|((w, b), p)| *w = b * p);
            }
        }
        let next = &mut now[..count * states];
        for (action, &(low, high)) in moment.groups.iter().enumerate().filter(|(_, group)| group.0 < group.1)
        {
            multiply(
                &weighted[low * states..high * states],
                transitions(model, action),
                &mut next[low * states..high * states],
                states,
            );
        }
        for (place, &step) in moment.steps.iter().enumerate() {
            let belief = &mut next[place * states..][..states];
            if coded.shown[step] != UNKNOWN {
                belief.iter_mut().zip(emission_row(model, coded.shown[step])).for_each(|(b, p)| *b *= p);
            }
            let scale = belief.iter().sum::<f32>() + TINY;
            belief.iter_mut().for_each(|b| *b /= scale);
            space.scales[moment.base + place] = scale;
        }
    }
}

fn backward(model: &Model, coded: &Coded, batch: &Batch, space: &mut Workspace, counts: &mut Counts) {
    let states = model.states;
    let Workspace { beliefs, weighted, scales, begin, next, ahead, earlier } = space;
    for (time, moment) in batch.moments.iter().enumerate().rev() {
        let count = moment.steps.len();
        // Episodes whose last step this is have nothing ahead of them.
        let later: Vec<bool> = match batch.moments.get(time + 1) {
            None => vec![false; count],
            Some(following) => {
                let mut later = vec![false; count];
                following.before.iter().for_each(|&place| later[place] = true);
                later
            }
        };
        for (place, &step) in moment.steps.iter().enumerate() {
            let own = &mut ahead[place * states..][..states];
            if !later[place] {
                own.fill(1.0);
            }
            let code = coded.shown[step] as usize;
            let belief = &beliefs[(moment.base + place) * states..][..states];
            let seen = &mut counts.emissions[code * states..][..states];
            seen.iter_mut().zip(belief).zip(&*own).for_each(|((sum, b), a)| *sum += b * a);
            let scale = 1.0 / scales[moment.base + place];
            let shown = &model.emissions[code * states..][..states];
            own.iter_mut().zip(shown).for_each(|(a, p)| *a *= p * scale);
        }
        let weights = &weighted[moment.base * states..][..count * states];
        for (action, &(low, high)) in moment.groups.iter().enumerate().filter(|(_, group)| group.0 < group.1)
        {
            let (from, to) = (&weights[low * states..high * states], &ahead[low * states..high * states]);
            let shape = (high - low, states);
            let (from, to) = (matrix(from, shape), matrix(to, shape));
            let own = &mut counts.transitions[action * states * states..][..states * states];
            let mut own = ArrayViewMut2::from_shape((states, states), own).expect("sizes fit");
            general_mat_mul(1.0, &from.t(), &to, 1.0, &mut own);
            let back = &mut next[low * states..high * states];
            let mut back = ArrayViewMut2::from_shape(shape, back).expect("sizes fit");
            let moved = matrix(transitions(model, action), (states, states));
            general_mat_mul(1.0, &to, &moved.t(), 0.0, &mut back);
        }
        let before = match time {
            0 => &begin[..],
            _ => &beliefs[batch.moments[time - 1].base * states..],
        };
        for (place, &step) in moment.steps.iter().enumerate() {
            let back = &next[place * states..][..states];
            let law = reward_row(model, coded, step);
            let from = moment.before[place] * states;
            let sums = &mut counts.rewards[reward_place(coded, step) * states..][..states];
            let own = &weights[place * states..][..states];
            sums.iter_mut().zip(own).zip(back).for_each(|((sum, w), b)| *sum += w * b);
            let target = &mut earlier[from..from + states];
            target.iter_mut().zip(back).zip(law).for_each(|((a, b), p)| *a = b * p);
            if time == 0 {
                let begun = before[from..from + states].iter().zip(&*target).map(|(b, a)| b * a);
                counts.start.iter_mut().zip(begun.clone()).for_each(|(sum, p)| *sum += p);
                if let Some(first) = &coded.first {
                    let code = first[batch.episodes[moment.before[place]]] as usize;
                    let seen = &mut counts.emissions[code * states..][..states];
                    seen.iter_mut().zip(begun).for_each(|(sum, p)| *sum += p);
                }
            }
        }
        std::mem::swap(ahead, earlier);
    }
}

fn transitions(model: &Model, action: usize) -> &[f32] {
    &model.transitions[action * model.states * model.states..][..model.states * model.states]
}

fn reward_place(coded: &Coded, step: usize) -> usize {
    coded.actions[step] as usize * coded.n_events() + coded.events[step] as usize
}

fn reward_row<'a>(model: &'a Model, coded: &Coded, step: usize) -> &'a [f32] {
    &model.rewards[reward_place(coded, step) * model.states..][..model.states]
}

fn emission_row(model: &Model, code: u32) -> &[f32] {
    &model.emissions[code as usize * model.states..][..model.states]
}

fn matrix(rows: &[f32], shape: (usize, usize)) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape(shape, rows).expect("sizes fit")
}

/// out = left · right, where `right` is square.
fn multiply(left: &[f32], right: &[f32], out: &mut [f32], states: usize) {
    let shape = (left.len() / states, states);
    let mut out = ArrayViewMut2::from_shape(shape, out).expect("sizes fit");
    general_mat_mul(1.0, &matrix(left, shape), &matrix(right, (states, states)), 0.0, &mut out);
}
