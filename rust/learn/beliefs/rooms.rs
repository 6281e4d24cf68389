//! What a pass needs room for: beliefs of a batch, and the likelihood so far.

use super::CloneModel;
use super::lockstep::{Lockstep, Moment};
use super::tiles::{PAD, padded};

/// Room for the beliefs of a batch. The first moment has beliefs over all states, the others over the clones of one
/// observation.
pub struct Rooms {
    /// Length of a row after the first moment, and at the first one.
    pub narrow: usize,
    pub wide: usize,
    /// Belief times the law of its event, kept for the way back: of the first moment, and of the others.
    pub first: Vec<f32>,
    pub weighted: Vec<f32>,
    /// Beliefs before a moment, and room for those after it.
    pub alive: Vec<f32>,
    pub next: Vec<f32>,
    /// What they must be multiplied with to sum to one.
    pub scales: Vec<f32>,
    pub next_scales: Vec<f32>,
    /// Backward probabilities, and room for those one step earlier.
    pub ahead: Vec<f32>,
    pub earlier: Vec<f32>,
    pub through: Vec<f32>,
    /// What is believed before the first step.
    pub begin: Vec<f32>,
}

impl Rooms {
    pub fn new(model: &CloneModel, episodes: &Lockstep) -> Self {
        let (narrow, wide) = (padded(episodes.widest), padded(model.layout.n_states));
        let room = |rows: usize, stride: usize| vec![0.0; rows * stride + PAD];
        let abreast = episodes.max_abreast;
        Rooms {
            narrow,
            wide,
            first: room(abreast, wide),
            weighted: room(episodes.max_rows, narrow),
            alive: room(abreast, narrow),
            next: room(abreast, narrow),
            scales: vec![1.0; abreast],
            next_scales: vec![1.0; abreast],
            ahead: room(abreast, narrow),
            earlier: room(abreast, narrow),
            through: room(abreast, wide),
            begin: vec![0.0; wide],
        }
    }
}

/// The tables of a model, with room behind them.
pub struct Tables {
    /// Transitions, (kinds, states left, states arrived in).
    pub from: Vec<f32>,
    /// The same the other way round, for the way back: (kinds, states arrived in, states left).
    pub into: Vec<f32>,
    pub laws: Vec<f32>,
    /// What states show, in noisy models: (shown, states).
    pub shown: Vec<f32>,
}

impl Tables {
    pub fn new(model: &CloneModel, way_back: bool) -> Self {
        let states = model.layout.n_states;
        let with_room = |table: &[f32]| {
            let mut larger = Vec::with_capacity(table.len() + PAD);
            larger.extend_from_slice(table);
            larger.resize(table.len() + PAD, 0.0);
            larger
        };
        let mut into = vec![0.0; if way_back { model.transitions.len() + PAD } else { 0 }];
        let blocks = model.transitions.chunks_exact(states * states);
        for (block, from) in into.chunks_exact_mut(states * states).zip(blocks) {
            for (s, row) in from.chunks_exact(states).enumerate() {
                row.iter().enumerate().for_each(|(j, t)| block[j * states + s] = *t);
            }
        }
        let shown = model.shown();
        Tables { from: with_room(&model.transitions), into, laws: with_room(&model.events), shown }
    }

    /// Multiplies a belief of a noisy model by what a code says, which a number of events ends with.
    pub fn show(&self, row: &mut [f32], number: u32, states: usize) {
        let codes = self.shown.len() / states;
        if codes > 0 {
            let shown = &self.shown[number as usize % codes * states..];
            row.iter_mut().zip(&shown[..states]).for_each(|(entry, p)| *entry *= p);
        }
    }

    /// The same with what is seen on arrival, where it is not an event of the next step.
    pub fn show_last(&self, row: &mut [f32], moment: &Moment, place: usize, states: usize) {
        if let Some(&code) = moment.shown.get(place)
            && (code as usize + 1) * states < self.shown.len()
        {
            self.show(row, code, states);
        }
    }
}

/// A product of many probabilities, each at least `TINY`. One logarithm serves as many of them as a number can hold.
pub struct Likelihood {
    log: f64,
    product: f64,
}

impl Default for Likelihood {
    fn default() -> Self {
        Likelihood { log: 0.0, product: 1.0 }
    }
}

impl Likelihood {
    #[inline(always)]
    pub fn times(&mut self, probability: f32) {
        self.product *= f64::from(probability);
        if self.product < 1e-250 {
            self.log += self.product.ln();
            self.product = 1.0;
        }
    }

    pub fn log(&self) -> f64 {
        self.log + self.product.ln()
    }
}
