//! What a pass needs room for: beliefs of a batch, and the likelihood so far.

use super::CloneModel;
use super::lockstep::Lockstep;
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
            ahead: room(abreast, narrow),
            earlier: room(abreast, narrow),
            through: room(abreast, wide),
            begin: vec![0.0; model.layout.n_states],
        }
    }
}

/// A product of many probabilities; one logarithm serves eight of them.
pub struct Likelihood {
    log: f64,
    product: f64,
    factors: u32,
}

impl Default for Likelihood {
    fn default() -> Self {
        Likelihood { log: 0.0, product: 1.0, factors: 0 }
    }
}

impl Likelihood {
    #[inline(always)]
    pub fn times(&mut self, probability: f32) {
        self.product *= f64::from(probability);
        self.factors += 1;
        if self.factors == 8 {
            self.log += self.product.ln();
            (self.product, self.factors) = (1.0, 0);
        }
    }

    pub fn log(&self) -> f64 {
        self.log + self.product.ln()
    }
}
