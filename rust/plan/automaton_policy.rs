//! Acting on the state of an automaton.

use std::sync::Arc;

use pulp::{Simd, WithSimd};

use crate::error::{Error, Result};
use crate::parallel::{Ticker, fill_blocks};
use crate::plan::automaton::{Automaton, UNSEEN, dot};
use crate::simulate::policy::Policy;
use crate::trajectories::View;

/// Values this close to the best, relative to the largest, count as ties.
const TIE: f64 = 1e-12;

/// A probability of the state below this share of its size is noise: the state is given up.
const VANISHING: f64 = 1e-9;

/// The policy that collected the data, for dividing by Π(a | h) as the paper does.
#[derive(Clone, Debug)]
pub struct Behavior {
    pub policy: Arc<AutomatonPolicy>,
    pub epsilon: f64,
}

/// q(h, a) = table[last symbol, a] + weights[a] · state(h), divided by the behaviour's probability of a if that
/// is given. The state is rescaled at every step by a *positive* number, so the order of actions never changes:
/// to normaliser · state = 1 if there is a normaliser (q is then in units of reward), else to largest entry 1.
#[derive(Clone, Debug)]
pub struct AutomatonPolicy {
    pub automaton: Arc<Automaton>,
    pub n_actions: usize,
    pub n_observations: usize,
    /// State of the empty history.
    pub start: Vec<f64>,
    /// State of an unknown history: where windows begin, and where lost states are sent.
    pub anchor: Vec<f64>,
    /// Only the last so many symbols count, from the anchor; None for the whole history.
    pub window: Option<usize>,
    /// (actions, rank)
    pub weights: Vec<f64>,
    /// (seen symbols + 2, actions): a row per operator, then the rows of an unseen symbol and of the start; or empty.
    pub table: Vec<f64>,
    pub normaliser: Option<Vec<f64>>,
    /// 0 acts greedily, ties by chance; otherwise actions are drawn from softmax(q / temperature).
    pub temperature: f64,
    pub behavior: Option<Behavior>,
}

/// What the policy carries through an episode.
#[derive(Clone, Debug)]
pub struct Memory {
    pub state: Vec<f64>,
    /// Row of the table.
    pub row: u32,
    recent: Vec<u32>,
    behavior: Option<Box<Memory>>,
    /// Room for the next state: making it anew at every step would take a tenth of the time.
    next: Vec<f64>,
}

impl AutomatonPolicy {
    pub fn validate(&self) -> Result<()> {
        let rank = self.automaton.rank();
        let sizes = [
            ("start", self.start.len(), rank),
            ("anchor", self.anchor.len(), rank),
            ("weights", self.weights.len(), self.n_actions * rank),
            ("normaliser", self.normaliser.as_ref().map_or(rank, Vec::len), rank),
            ("operators", self.automaton.n_symbols(), self.n_actions * self.n_observations),
        ];
        for (name, given, expected) in sizes {
            if given != expected {
                return Err(Error::argument(
                    name,
                    format!("{given} entries"),
                    format!("expected {expected}"),
                ));
            }
        }
        if !self.table.is_empty() && !self.table.len().is_multiple_of(self.n_actions) {
            return Err(Error::argument(
                "table",
                self.table.len(),
                "expected one entry per action in every row",
            ));
        }
        let mut numbers = vec![&self.start, &self.anchor, &self.weights, &self.table];
        numbers.extend(&self.normaliser);
        if numbers.iter().any(|list| list.iter().any(|x| !x.is_finite())) {
            return Err(Error::argument(
                "weights",
                "NaN or infinity",
                "all numbers of a policy must be finite",
            ));
        }
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            return Err(Error::argument(
                "temperature",
                self.temperature,
                "give 0 (greedy) or a positive number",
            ));
        }
        if self.window == Some(0) {
            return Err(Error::argument(
                "window",
                0,
                "give at least 1 symbol, or None for the whole history",
            ));
        }
        if let Some(Behavior { policy, epsilon }) = &self.behavior {
            if !(0.0..=1.0).contains(epsilon) {
                return Err(Error::argument("behavior", epsilon, "its epsilon must be a probability"));
            }
            if (policy.n_actions, policy.n_observations) != (self.n_actions, self.n_observations) {
                let given = format!("{} actions, {} observations", policy.n_actions, policy.n_observations);
                let remedy = format!("expected {} and {}", self.n_actions, self.n_observations);
                return Err(Error::argument("behavior", given, remedy));
            }
        }
        Ok(())
    }

    /// Whether a memory can be this policy's own: it may come from the same policy at another temperature.
    pub fn knows(&self, memory: &Memory) -> bool {
        let seen = self.automaton.n_seen() as u32;
        let nested = match (&self.behavior, &memory.behavior) {
            (None, None) => true,
            (Some(behavior), Some(inner)) => behavior.policy.knows(inner),
            _ => false,
        };
        let window = self.window.unwrap_or(0);
        nested
            && memory.state.len() == self.automaton.rank()
            && memory.recent.len() <= window
            && memory.recent.iter().all(|&place| place == UNSEEN || place < seen)
    }

    /// Brings a state to its scale; false if it cannot be: zero, not finite, or without probability.
    fn rescale(&self, state: &mut [f64]) -> bool {
        self.automaton.arch().dispatch(Rescale { policy: self, state })
    }

    #[inline(always)]
    fn rescale_in_lanes(&self, state: &mut [f64]) -> bool {
        // Without early exits and in several lanes: these loops are as long as the product before them.
        let mut lanes = [0.0f64; 8];
        let (eights, rest) = state.as_chunks::<8>();
        for eight in eights {
            for (lane, x) in lanes.iter_mut().zip(eight) {
                *lane = if x.abs() > *lane { x.abs() } else { *lane };
            }
        }
        let largest = lanes.iter().chain(rest).fold(0.0f64, |largest, x| largest.max(x.abs()));
        let nan = state.iter().fold(false, |nan, x| nan | x.is_nan());
        if nan || !(largest > 0.0 && largest.is_finite()) {
            return false;
        }
        let scale = match &self.normaliser {
            None => largest,
            Some(normaliser) => dot(state, normaliser),
        };
        if !(scale > VANISHING * largest && scale.is_finite()) {
            return false;
        }
        state.iter_mut().for_each(|x| *x /= scale);
        true
    }

    fn settled(&self, state: &[f64]) -> Vec<f64> {
        let mut state = state.to_vec();
        self.rescale(&mut state);
        state
    }

    /// One more symbol. An unseen one keeps the state; a state that dies is replaced by the anchor after that
    /// symbol, or by the anchor itself.
    fn advance(&self, state: &mut Vec<f64>, next: &mut Vec<f64>, place: u32) {
        if place == UNSEEN {
            return;
        }
        self.automaton.step(state, place, next);
        if !self.rescale(next) {
            self.automaton.step(&self.anchor, place, next);
            if !self.rescale(next) {
                next.copy_from_slice(&self.anchor);
                self.rescale(next);
            }
        }
        std::mem::swap(state, next);
    }

    pub fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        self.automaton.arch().dispatch(Weigh { state: &memory.state, weights: &self.weights, values });
        let row = memory.row as usize * self.n_actions;
        if let Some(entries) = self.table.get(row..row + self.n_actions) {
            values.iter_mut().zip(entries).for_each(|(value, entry)| *value += entry);
        }
        if let (Some(behavior), Some(inner)) = (&self.behavior, &memory.behavior) {
            let mut probs = vec![0.0; self.n_actions];
            behavior.policy.action_probs(inner, &mut probs);
            let uniform = behavior.epsilon / self.n_actions as f64;
            for (value, p) in values.iter_mut().zip(&probs) {
                let probability = (1.0 - behavior.epsilon) * p + uniform;
                // An action that the behaviour never takes has no estimate; it is left as it is.
                if probability > 0.0 {
                    *value /= probability;
                }
            }
        }
    }
}

/// `AutomatonPolicy::rescale` with the widest vectors that the processor has. A struct, because a closure is called
/// through a shim of the compiler's own, which is built for the oldest processor.
struct Rescale<'a> {
    policy: &'a AutomatonPolicy,
    state: &'a mut [f64],
}

impl WithSimd for Rescale<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> bool {
        self.policy.rescale_in_lanes(self.state)
    }
}

/// values[a] = weights[a] · state.
struct Weigh<'a> {
    state: &'a [f64],
    weights: &'a [f64],
    values: &'a mut [f64],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        // All actions side by side, with strides, was measured: it takes twice as long.
        for (value, weights) in self.values.iter_mut().zip(self.weights.chunks_exact(self.state.len())) {
            *value = dot(self.state, weights);
        }
    }
}

/// The memory before every step of the data: states (steps, rank) and rows of the table (steps).
pub fn states_along(
    policy: &AutomatonPolicy,
    view: &View,
    threads: usize,
    ticker: &Ticker,
) -> Result<(Vec<f64>, Vec<u32>)> {
    const BLOCK: usize = 64;
    let rank = policy.automaton.rank();
    let place = |episode| view.offset(episode) * rank;
    let mut along = vec![0.0; place(view.n_episodes())];
    let rows =
        fill_blocks(threads, view.n_episodes(), BLOCK, ticker, &mut along, place, |episodes, states| {
            let (mut states, mut rows) = (states.chunks_exact_mut(rank), Vec::new());
            for episode in episodes {
                let mut memory = policy.start();
                for step in view.episode(episode) {
                    states.next().expect("a state per step").copy_from_slice(&memory.state);
                    rows.push(memory.row);
                    policy.update(&mut memory, view.actions[step] as usize, view.observations[step] as usize);
                }
            }
            Ok(rows)
        })?;
    Ok((along, rows.concat()))
}

/// Turns values into probabilities in place. Values that are not numbers give the uniform distribution.
pub fn softmax(values: &mut [f64], temperature: f64) {
    let best = values.iter().fold(f64::NEG_INFINITY, |best, &q| best.max(q));
    if values.iter().any(|q| q.is_nan()) || !best.is_finite() {
        values.fill(1.0 / values.len() as f64);
        return;
    }
    if temperature > 0.0 {
        values.iter_mut().for_each(|q| *q = ((*q - best) / temperature).exp());
    } else {
        let largest = values.iter().fold(0.0f64, |largest, q| largest.max(q.abs()));
        values.iter_mut().for_each(|q| *q = if best - *q <= TIE * largest { 1.0 } else { 0.0 });
    }
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|p| *p /= total);
}

impl Policy for AutomatonPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        Memory {
            state: self.settled(&self.start),
            row: (self.table.len() / self.n_actions).saturating_sub(1) as u32,
            recent: Vec::new(),
            behavior: self.behavior.as_ref().map(|behavior| Box::new(behavior.policy.start())),
            next: vec![0.0; self.start.len()],
        }
    }

    fn action_probs(&self, memory: &Memory, probs: &mut [f64]) {
        self.q_values(memory, probs);
        softmax(probs, self.temperature);
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        let place = self.automaton.place(action * self.n_observations + observation);
        let unseen_row = (self.table.len() / self.n_actions).saturating_sub(2) as u32;
        memory.row = if place == UNSEEN { unseen_row } else { place };
        match self.window {
            None => self.advance(&mut memory.state, &mut memory.next, place),
            Some(window) => {
                memory.recent.push(place);
                // While the window still reaches the first step, the true start is known.
                let whole = memory.recent.len() <= window;
                if !whole {
                    memory.recent.remove(0);
                }
                let Memory { state, next, recent, .. } = memory;
                state.copy_from_slice(if whole { &self.start } else { &self.anchor });
                self.rescale(state);
                recent.iter().for_each(|&place| self.advance(state, next, place));
            }
        }
        if let (Some(behavior), Some(inner)) = (&self.behavior, &mut memory.behavior) {
            behavior.policy.update(inner, action, observation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_split_and_nan_is_harmless() {
        let mut values = [1.0, 3.0, 3.0];
        softmax(&mut values, 0.0);
        assert_eq!(values, [0.0, 0.5, 0.5]);
        let mut values = [1.0, f64::NAN];
        softmax(&mut values, 0.0);
        assert_eq!(values, [0.5, 0.5]);
        let mut values = [1e300, -1e300];
        softmax(&mut values, 1e-3);
        assert_eq!(values, [1.0, 0.0]);
        let mut values = [0.0, 0.0];
        softmax(&mut values, 0.0);
        assert_eq!(values, [0.5, 0.5]);
    }
}
