//! Acting on the state of an automaton.

use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};

use crate::error::{Error, Result};
use crate::parallel::Ticker;
use crate::policies::array::Array;
use crate::policies::automaton::{dot, step, weigh};
use crate::policies::places::{Places, UNSEEN};
use crate::policies::{Parted, check_finite, check_shape, check_sizes};
use crate::simulate::policy::{Described, Policy, Rule, key_of};
use crate::simulate::replay::at_cuts;
use crate::trajectories::{View, start_symbol};

/// A probability of the state below this share of its size is noise: the state is given up.
const VANISHING: f64 = 1e-9;

/// The policy that collected the data and with which probability it took a uniform action instead, for dividing by
/// Π(a | h) as the paper does.
pub type Behavior = (Arc<AutomatonPolicy>, f64);

/// q(h, a) = weights[a] · state(h), divided by the probability of a under the policy that collected the data, where
/// that is given. The state is rescaled at every step by a *positive* number, so the order of actions never changes: to normaliser · state = 1 if there is a normaliser
/// (q is then in units of reward), else to largest entry 1.
#[derive(Clone, Debug)]
pub struct AutomatonPolicy {
    pub(crate) parts: Parts,
    arch: Arch,
    /// Of the operators of symbols.
    places: Places,
}

#[derive(Clone, Debug)]
pub struct Parts {
    pub(crate) symbols: Vec<i64>,
    /// (seen, rank, rank), of these symbols.
    pub operators: Array<f64, 3>,
    pub(crate) n_actions: usize,
    pub(crate) n_observations: usize,
    /// State of the empty history.
    pub start: Vec<f64>,
    /// State of an unknown history: where windows begin, and where lost states are sent.
    pub anchor: Vec<f64>,
    /// (actions, rank)
    pub weights: Array<f64, 2>,
    /// Π(a | last symbol), (seen symbols + 2, actions): a row per operator, then the rows of an unseen symbol and of
    /// the start. After a row's symbol an action of probability 0 is worth −∞. None if values are not divided.
    pub propensities: Option<Array<f64, 2>>,
    pub(crate) normaliser: Option<Vec<f64>>,
    /// Only the last so many symbols count, from the anchor; None for the whole history.
    pub window: Option<usize>,
    /// The whole policy that collected the data, where the last symbol does not say enough of it.
    pub behavior: Option<Behavior>,
    pub(crate) rule: Rule,
}

/// What the policy carries through an episode.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) state: Vec<f64>,
    row: u32,
    recent: Vec<u32>,
    behavior: Option<Box<Memory>>,
    /// Workspace for the next state: making it anew at every step would take a tenth of the time.
    next: Vec<f64>,
}

impl Parted for AutomatonPolicy {
    type Parts = Parts;

    fn new(parts: Parts) -> Result<Self> {
        parts.check(parts.operators.shape[1])?;
        let n_symbols = start_symbol(parts.n_actions, parts.n_observations);
        let places = Places::new(&parts.symbols, n_symbols, "an automaton")?;
        Ok(AutomatonPolicy { parts, arch: Arch::new(), places })
    }

    fn parts(&self) -> Parts {
        self.parts.clone()
    }
}

impl Parts {
    fn check(&self, rank: usize) -> Result<()> {
        check_shape("operators", &self.operators, [self.symbols.len(), rank.max(1), rank.max(1)])?;
        if let Some(index) = self.operators.iter().position(|x| !x.is_finite()) {
            let symbol = self.symbols[index / (rank * rank)];
            let place = format!("entry of symbol {symbol} is {}", self.operators[index]);
            return Err(Error::argument("operators", place, "weights must be finite"));
        }
        check_shape("weights", &self.weights, [self.n_actions, rank])?;
        if let Some(propensities) = &self.propensities {
            check_shape("propensities", propensities, [self.symbols.len() + 2, self.n_actions])?;
        }
        let normaliser = self.normaliser.as_ref().unwrap_or(&self.start);
        check_sizes([
            ("start", self.start.len(), rank),
            ("anchor", self.anchor.len(), rank),
            ("normaliser", normaliser.len(), rank),
        ])?;
        check_finite("start", &self.start)?;
        check_finite("anchor", &self.anchor)?;
        check_finite("weights", &self.weights)?;
        check_finite("normaliser", normaliser)?;
        if let Some(p) =
            self.propensities.iter().flat_map(|array| array.iter()).find(|p| !(0.0..=1.0).contains(*p))
        {
            return Err(Error::argument(
                "propensities",
                p,
                "give probabilities, and 0 for what was never tried there",
            ));
        }
        self.rule.check(self.n_actions)?;
        if self.window == Some(0) {
            return Err(Error::argument(
                "window",
                0,
                "give at least 1 symbol, or None for the whole history",
            ));
        }
        if let Some((policy, epsilon)) = &self.behavior {
            if !(0.0..=1.0).contains(epsilon) {
                return Err(Error::argument("behavior", epsilon, "its epsilon must be a probability"));
            }
            check_sizes([
                ("behavior", policy.n_actions(), self.n_actions),
                ("behavior", policy.n_observations(), self.n_observations),
            ])?;
        }
        Ok(())
    }
}

impl AutomatonPolicy {
    pub(crate) fn rank(&self) -> usize {
        self.parts.operators.shape[1]
    }

    /// next = state · the operator at `place`.
    #[inline]
    fn step(&self, state: &[f64], place: u32, next: &mut [f64]) {
        let size = self.rank() * self.rank();
        step(self.arch, state, &self.parts.operators[place as usize * size..][..size], next);
    }

    /// Brings a state to its scale; false if it cannot be: zero, not finite, or without probability.
    fn rescale(&self, state: &mut [f64]) -> bool {
        self.arch.dispatch(Rescale { normaliser: self.parts.normaliser.as_deref(), state })
    }

    /// One more symbol. An unseen one keeps the state; a state that dies is replaced by the anchor after that
    /// symbol, or by the anchor itself.
    fn advance(&self, state: &mut Vec<f64>, next: &mut Vec<f64>, place: u32) {
        if place == UNSEEN {
            return;
        }
        self.step(state, place, next);
        if !self.rescale(next) {
            self.step(&self.parts.anchor, place, next);
            if !self.rescale(next) {
                next.copy_from_slice(&self.parts.anchor);
                self.rescale(next);
            }
        }
        std::mem::swap(state, next);
    }

    /// The state at every cut of the data, also after the last step of an episode: (steps + episodes, rank).
    pub fn states_along(&self, view: &View, threads: usize, ticker: &Ticker) -> Result<Vec<f64>> {
        let update = |memory: &mut Memory, action, observation| self.update(memory, action, observation);
        let write = |memory: &Memory, row: &mut [f64]| row.copy_from_slice(&memory.state);
        at_cuts(view, self.rank(), threads, ticker, || self.start(), update, write)
    }
}

/// `AutomatonPolicy::rescale` with the widest vectors that the processor has. A struct, because a closure is called
/// through a shim of the compiler's own, which is built for the oldest processor.
struct Rescale<'a> {
    normaliser: Option<&'a [f64]>,
    state: &'a mut [f64],
}

impl WithSimd for Rescale<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> bool {
        // Without early exits and in several lanes: these loops are as long as the product before them.
        let mut lanes = [0.0f64; 8];
        let (eights, rest) = self.state.as_chunks::<8>();
        for eight in eights {
            for (lane, x) in lanes.iter_mut().zip(eight) {
                *lane = if x.abs() > *lane { x.abs() } else { *lane };
            }
        }
        let largest = lanes.iter().chain(rest).fold(0.0f64, |largest, x| largest.max(x.abs()));
        let nan = self.state.iter().fold(false, |nan, x| nan | x.is_nan());
        if nan || !(largest > 0.0 && largest.is_finite()) {
            return false;
        }
        let scale = match self.normaliser {
            None => largest,
            Some(normaliser) => dot(self.state, normaliser),
        };
        if !(scale > VANISHING * largest && scale.is_finite()) {
            return false;
        }
        self.state.iter_mut().for_each(|x| *x /= scale);
        true
    }
}

impl Described for AutomatonPolicy {
    sizes_and_rule!(self: self.parts.n_actions, self.parts.n_observations);

    fn describe(&self) -> String {
        let (rank, seen) = (self.rank(), self.parts.symbols.len());
        let window = self.parts.window.map_or(String::new(), |window| format!(", window {window}"));
        format!("rank {rank}, {seen} of {} symbols seen{window}", self.n_actions() * self.n_observations())
    }

    fn key(&self) -> u64 {
        key_of::<Self>((
            self.describe(),
            self.n_actions(),
            self.parts.behavior.as_ref().map(|(policy, _)| policy.key()),
        ))
    }
}

impl Policy for AutomatonPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        let mut state = self.parts.start.clone();
        self.rescale(&mut state);
        Memory {
            state,
            row: self.parts.symbols.len() as u32 + 1,
            recent: Vec::new(),
            behavior: self.parts.behavior.as_ref().map(|(policy, _)| Box::new(policy.start())),
            next: vec![0.0; self.parts.start.len()],
        }
    }

    fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        weigh(self.arch, &memory.state, &self.parts.weights, values);
        if let Some(propensities) = &self.parts.propensities {
            let probs = propensities.row(memory.row as usize);
            for (value, &p) in values.iter_mut().zip(probs) {
                *value = if p > 0.0 { *value / p } else { f64::NEG_INFINITY };
            }
        }
        if let (Some((policy, epsilon)), Some(inner)) = (&self.parts.behavior, &memory.behavior) {
            let mut probs = vec![0.0; self.parts.n_actions];
            policy.action_probs(inner, &mut probs);
            for (value, p) in values.iter_mut().zip(&probs) {
                let probability = (1.0 - epsilon) * p + epsilon / self.parts.n_actions as f64;
                // An action that the behaviour never takes has no estimate; it is left as it is.
                if probability > 0.0 {
                    *value /= probability;
                }
            }
        }
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        let place = self.places.of(action * self.parts.n_observations + observation);
        // What is shown before the first action counts only where the automaton knows it.
        if action == self.parts.n_actions && place == UNSEEN {
            return;
        }
        memory.row = if place == UNSEEN { self.parts.symbols.len() as u32 } else { place };
        match self.parts.window {
            None => self.advance(&mut memory.state, &mut memory.next, place),
            Some(window) => {
                memory.recent.push(place);
                // While the window still reaches the first step, the true start is known.
                let whole = memory.recent.len() <= window;
                if !whole {
                    memory.recent.remove(0);
                }
                let Memory { state, next, recent, .. } = memory;
                state.copy_from_slice(if whole { &self.parts.start } else { &self.parts.anchor });
                self.rescale(state);
                recent.iter().for_each(|&place| self.advance(state, next, place));
            }
        }
        if let (Some((policy, _)), Some(inner)) = (&self.parts.behavior, &mut memory.behavior) {
            policy.update(inner, action, observation);
        }
    }
}
