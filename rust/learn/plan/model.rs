//! A finite model that is planned in, and beliefs about its state.

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::error::{Error, Result};

/// Which states may show an observation.
pub(super) struct Emission {
    /// None if many may: then all are looked at.
    pub(super) states: Option<Vec<usize>>,
    /// Of these states.
    pub(super) probs: Vec<f32>,
}

impl Emission {
    /// How likely the observation is if these states follow.
    pub(super) fn prob(&self, next: ArrayView1<f32>) -> f32 {
        match &self.states {
            None => next.iter().zip(&self.probs).map(|(weight, p)| weight * p).sum(),
            Some(states) => states.iter().zip(&self.probs).map(|(&state, p)| next[state] * p).sum(),
        }
    }
}

/// A partially observed Markov decision process, or a learned model of one.
pub struct Model {
    /// By action, (states, states): the probability of going on and of the next state. What a row lacks of 1 is
    /// the probability that the episode ends.
    pub(super) transitions: Vec<Array2<f32>>,
    /// By action, or one for all actions; then by observation.
    pub(super) emissions: Vec<Vec<Emission>>,
    /// (actions, states): the mean reward of an action in a state.
    pub(super) rewards: Array2<f32>,
    /// (starts, states): beliefs before the first action, one for everything that `reset` may show.
    pub(super) starts: Array2<f32>,
    /// (starts): how often an episode begins with each.
    pub(super) start_probs: Vec<f64>,
    pub(super) discount: f32,
}

/// The arrays of a model; `emissions` (1 or actions, observations, states).
pub struct Arrays<'a> {
    /// (actions, states, states)
    pub transitions: &'a [f32],
    /// (1 or actions, observations, states)
    pub emissions: &'a [f32],
    /// (actions, states)
    pub rewards: &'a [f32],
    /// (starts, states), each multiplied by how often episodes begin so
    pub starts: &'a [f32],
}

impl Model {
    /// Refuses sizes that do not fit together and numbers that are no probabilities.
    pub fn new(arrays: &Arrays, n_actions: usize, n_observations: usize, discount: f64) -> Result<Self> {
        let n_states = arrays.rewards.len() / n_actions.max(1);
        let emitted = n_observations * n_states;
        let fits = n_actions > 0
            && n_states > 0
            && n_observations > 0
            && arrays.rewards.len() == n_actions * n_states
            && arrays.transitions.len() == n_actions * n_states * n_states
            && (arrays.emissions.len() == emitted || arrays.emissions.len() == n_actions * emitted)
            && !arrays.starts.is_empty()
            && arrays.starts.len().is_multiple_of(n_states);
        if !fits {
            let given = format!(
                "{} transitions, {} emissions, {} starts",
                arrays.transitions.len(),
                arrays.emissions.len(),
                arrays.starts.len()
            );
            let remedy = format!("{n_actions} actions and {n_states} states do not go with them");
            return Err(Error::argument("rewards", given, remedy));
        }
        if !(0.0..1.0).contains(&discount) {
            return Err(Error::argument("discount", discount, "give a number of [0, 1)"));
        }
        let shares = arrays.transitions.iter().chain(arrays.emissions).chain(arrays.starts);
        if shares.into_iter().any(|p| !(0.0..=1.001).contains(p)) {
            return Err(Error::argument("transitions", "not probabilities", "give numbers in [0, 1]"));
        }
        if let Some(bad) = arrays.rewards.iter().find(|r| !r.is_finite()) {
            return Err(Error::argument("rewards", bad, "give finite numbers"));
        }
        let square = |rows: &[f32]| {
            ArrayView2::from_shape((n_states, n_states), rows).expect("sizes are checked").to_owned()
        };
        let emission = |row: &[f32]| {
            let states: Vec<usize> = (0..n_states).filter(|&state| row[state] > 0.0).collect();
            if 2 * states.len() > n_states {
                return Emission { states: None, probs: row.to_vec() };
            }
            let probs = states.iter().map(|&state| row[state]).collect();
            Emission { states: Some(states), probs }
        };
        let matrix = |rows: &[f32], count: usize| {
            ArrayView2::from_shape((count, n_states), rows).expect("sizes are checked").to_owned()
        };
        let mut starts = matrix(arrays.starts, arrays.starts.len() / n_states);
        let mut start_probs = Vec::new();
        for mut row in starts.rows_mut() {
            let total = row.sum();
            start_probs.push(f64::from(total));
            row.mapv_inplace(|p| p / total.max(f32::MIN_POSITIVE));
        }
        if start_probs.iter().sum::<f64>() <= 0.0 {
            return Err(Error::argument("starts", "nothing", "give the probability of every start state"));
        }
        Ok(Model {
            transitions: arrays.transitions.chunks_exact(n_states * n_states).map(square).collect(),
            emissions: arrays
                .emissions
                .chunks_exact(emitted)
                .map(|rows| rows.chunks_exact(n_states).map(emission).collect())
                .collect(),
            rewards: matrix(arrays.rewards, n_actions),
            starts,
            start_probs,
            discount: discount as f32,
        })
    }

    pub(super) fn n_actions(&self) -> usize {
        self.transitions.len()
    }

    pub(super) fn n_states(&self) -> usize {
        self.rewards.ncols()
    }

    /// By observation, after an action.
    pub(super) fn emissions(&self, action: usize) -> &[Emission] {
        &self.emissions[if self.emissions.len() == 1 { 0 } else { action }]
    }

    /// The states that may show an observation after an action, and how likely each does.
    pub(super) fn shown(&self, emission: &Emission) -> Vec<(usize, f32)> {
        let states = emission.states.clone().unwrap_or_else(|| (0..self.n_states()).collect());
        states.into_iter().zip(emission.probs.iter().copied()).collect()
    }
}
