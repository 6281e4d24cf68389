//! One cloned hidden Markov model as a policy steps it.

use std::sync::Arc;

use pulp::{Simd, WithSimd};

use crate::error::{Error, Result};
use crate::learn::beliefs::layout::Layout;
use crate::learn::beliefs::{CloneModel, noisy};
use crate::policies::check_sizes;

/// One model, ready to be stepped.
#[derive(Clone, Debug)]
pub struct Filter {
    pub(crate) n_states: usize,
    /// First and last + 1 of the states that show an observation.
    pub ranges: Vec<(u32, u32)>,
    pub(crate) start: Vec<f32>,
    /// (kinds of actions, states, states): probability of going on and of the next state.
    pub transitions: Vec<f32>,
    /// (observations, states): probability that a state shows it. Empty where states show one observation only.
    pub shown: Vec<f32>,
}

impl Filter {
    /// The same transitions as a model to which all events are alike.
    pub(super) fn as_model(&self, kinds: &[u32], opens: bool) -> CloneModel {
        let n_kinds = self.transitions.len() / (self.n_states * self.n_states);
        let (noisy, observations) = (!self.shown.is_empty(), self.ranges.len());
        let layout = Layout {
            n_states: self.n_states,
            ranges: self.ranges.clone(),
            codes: (0..observations as u32).map(|code| if noisy { code } else { 0 }).collect(),
            n_shown: if noisy { observations + 1 } else { 1 },
            kinds: kinds.to_vec(),
            n_kinds,
            n_events: 2,
            n_tasks: 1,
            opens,
            shared: (0, 0),
        };
        let alike = vec![1.0; n_kinds * layout.n_events * self.n_states];
        CloneModel {
            events: if noisy { noisy::joined(&self.shown, &alike, &layout) } else { alike },
            layout: Arc::new(layout),
            start: self.start.clone(),
            transitions: self.transitions.clone(),
            log_likelihood: 0.0,
        }
    }

    pub(super) fn validate(&self, n_kinds: usize, n_observations: usize) -> Result<()> {
        let states = self.n_states;
        check_sizes([
            ("starts", self.start.len(), states.max(1)),
            ("transitions", self.transitions.len(), n_kinds.saturating_mul(states).saturating_mul(states)),
            ("ranges", self.ranges.len(), n_observations),
        ])?;
        if !self.shown.is_empty() {
            check_sizes([("shown", self.shown.len(), n_observations.saturating_mul(states))])?;
        }
        if self.ranges.iter().any(|&(low, high)| low >= high || high as usize > states) {
            return Err(Error::argument(
                "ranges",
                "empty or beyond the states",
                format!("there are {states} states"),
            ));
        }
        let shares = self.start.iter().chain(&self.transitions).chain(&self.shown);
        if shares.into_iter().any(|p| !(0.0..=1.001).contains(p)) {
            return Err(Error::argument("transitions", "not probabilities", "give numbers in [0, 1]"));
        }
        Ok(())
    }
}

/// products += Σ weight · row, over pairs of where a row of the weights begins and its weight. Always in this order, so
/// that every processor gives the same bits.
pub struct Weigh<'a> {
    pub(crate) believed: &'a [(usize, f64)],
    pub(crate) weights: &'a [f64],
    pub(crate) products: &'a mut [f64],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.products.len();
        let row = |place: usize| &self.weights[place..][..width];
        // Four at a time, so that a sum is loaded and stored once for all of them.
        let (fours, rest) = self.believed.as_chunks::<4>();
        for &[a, b, c, d] in fours {
            let rows = row(a.0).iter().zip(row(b.0)).zip(row(c.0)).zip(row(d.0));
            for (sum, (((w, x), y), z)) in self.products.iter_mut().zip(rows) {
                *sum = *sum + a.1 * w + b.1 * x + c.1 * y + d.1 * z;
            }
        }
        for &(place, weight) in rest {
            self.products.iter_mut().zip(row(place)).for_each(|(sum, w)| *sum += weight * w);
        }
    }
}
