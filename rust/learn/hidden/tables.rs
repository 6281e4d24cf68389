//! The tables of a model, as the passes read them.

use crate::learn::beliefs::tiles::{Block, PAD, padded};
use crate::learn::hidden::coded::UNKNOWN;
use crate::learn::hidden::{Coded, Model};

/// The smallest probability of a step.
pub(super) const TINY: f32 = 1e-30;

/// The probability of what was never seen in training.
pub(super) const UNSEEN: f32 = 1e-4;

/// A model with rows of whole vectors, and zeros behind the last state: they stay zero in all that is computed.
pub(super) struct Tables {
    pub(super) states: usize,
    /// Numbers of a row.
    pub(super) stride: usize,
    pub(super) start: Vec<f32>,
    /// Transitions, (actions, states left, states arrived in); and (actions, states arrived in, states left).
    pub(super) from: Vec<f32>,
    pub(super) into: Vec<f32>,
    pub(super) emissions: Vec<f32>,
    pub(super) rewards: Vec<f32>,
}

impl Tables {
    pub(super) fn new(model: &Model) -> Self {
        let (states, stride) = (model.states, padded(model.states));
        let wide = |table: &[f32]| {
            let mut rows = vec![0.0; table.len() / states * stride + PAD];
            rows.chunks_exact_mut(stride)
                .zip(table.chunks_exact(states))
                .for_each(|(row, narrow)| row[..states].copy_from_slice(narrow));
            rows
        };
        let mut turned = vec![0.0; model.transitions.len()];
        for (place, &p) in model.transitions.iter().enumerate() {
            let (action, pair) = (place / (states * states), place % (states * states));
            turned[(action * states + pair % states) * states + pair / states] = p;
        }
        Tables {
            states,
            stride,
            start: wide(&model.start),
            from: wide(&model.transitions),
            into: wide(&turned),
            emissions: wide(&model.emissions),
            rewards: wide(&model.rewards),
        }
    }

    /// A table of such rows without what lies behind the states.
    pub(super) fn narrow(&self, table: &mut Vec<f32>, len: usize) {
        for row in 1..len / self.states {
            table.copy_within(row * self.stride..row * self.stride + self.states, row * self.states);
        }
        table.truncate(len);
    }

    #[inline(always)]
    pub(super) fn matrix<'a>(&self, table: &'a [f32], action: usize) -> Block<&'a [f32]> {
        Block { matrix: table, stride: self.stride, place: action * self.states * self.stride }
    }

    #[inline(always)]
    pub(super) fn emission(&self, code: u32) -> &[f32] {
        &self.emissions[code as usize * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub(super) fn reward(&self, coded: &Coded, step: usize) -> &[f32] {
        &self.rewards[reward_place(coded, step) * self.stride..][..self.stride]
    }

    /// How likely what `reset` shows is.
    pub(super) fn first_scale(&self, coded: &Coded, episode: usize) -> f32 {
        match &coded.first {
            None => 1.0,
            Some(first) if first[episode] == UNKNOWN => UNSEEN,
            Some(first) => {
                self.start.iter().zip(self.emission(first[episode])).map(|(p, q)| p * q).sum::<f32>() + TINY
            }
        }
    }
}

#[inline(always)]
pub(super) fn reward_place(coded: &Coded, step: usize) -> usize {
    coded.actions[step] as usize * coded.n_events() + coded.events[step] as usize
}
