//! What a policy has to offer, and the uniform one.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::error::{Error, Result};
use crate::rng::Rng;

/// What a policy is, whatever its memory.
pub trait Described: Send + Sync + 'static {
    fn n_actions(&self) -> usize;

    fn n_observations(&self) -> usize;

    /// How values become probabilities.
    fn rule(&self) -> &Rule;

    /// Sizes of the parts, in a phrase.
    fn describe(&self) -> String;

    /// Policies of one key read each other's memories, as those of one policy at several temperatures do.
    fn key(&self) -> u64 {
        key_of::<Self>((self.n_actions(), self.n_observations(), self.describe()))
    }
}

/// A number of its own, for all kinds and sizes of policies that are likely ever to be compared.
pub fn key_of<P: ?Sized>(sizes: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (std::any::type_name::<P>(), sizes).hash(&mut hasher);
    hasher.finish()
}

/// An observation: its code, or raw columns for a policy that looks at them.
#[derive(Clone, Copy)]
pub enum Seen<'a> {
    /// From 0 to `n_observations` − 1.
    Code(usize),
    /// One number for each of the columns.
    Row(&'a [f32]),
}

/// A rule for choosing actions, separate from its memory of one episode.
pub trait Policy: Described {
    /// What it remembers of one episode.
    type Memory: Clone + Send + Sync + 'static;

    /// Whether a step may take long, as it does for a planner. Episodes are then handed to threads one by
    /// one, and Ctrl-C is heard at every step.
    const DELIBERATES: bool = false;

    fn start(&self) -> Self::Memory;

    /// Memory of a policy that draws numbers of its own while it thinks; `rng` is this episode's alone.
    fn start_with(&self, _rng: Rng) -> Self::Memory {
        self.start()
    }

    /// Value of every action; `values` has one place per action and is overwritten.
    fn q_values(&self, memory: &Self::Memory, values: &mut [f64]);

    /// Takes in what happened. The action `n_actions` stands for nobody's: its observation was shown before the first.
    fn update(&self, memory: &mut Self::Memory, action: usize, observation: usize);

    /// Of a policy that looks at raw columns rather than at codes, how many values each has; 0 is a number.
    fn column_sizes(&self) -> Option<&[i64]> {
        None
    }

    /// Like `update`, for a row of the columns that this policy looks at.
    fn update_row(&self, _memory: &mut Self::Memory, _action: usize, _row: &[f32]) {}

    /// Whether a row is what a code stands for, where columns are looked at.
    fn is_code(&self, _row: &[f32], _observation: usize) -> bool {
        false
    }

    #[inline]
    fn take_in(&self, memory: &mut Self::Memory, action: usize, seen: Seen) {
        match seen {
            Seen::Code(observation) => self.update(memory, action, observation),
            Seen::Row(row) => self.update_row(memory, action, row),
        }
    }

    /// Probability of every action; `probs` has one place per action and is overwritten.
    #[inline]
    fn action_probs(&self, memory: &Self::Memory, probs: &mut [f64]) {
        self.q_values(memory, probs);
        self.rule().softmax(probs);
    }

    /// An action and its probability, when with probability `epsilon` a uniform one replaces the policy's own.
    #[inline]
    fn act(&self, memory: &Self::Memory, epsilon: f64, probs: &mut [f64], rng: &mut Rng) -> (usize, f64) {
        self.action_probs(memory, probs);
        if epsilon > 0.0 {
            let uniform = epsilon / probs.len() as f64;
            probs.iter_mut().for_each(|p| *p = (1.0 - epsilon) * *p + uniform);
        }
        let action = rng.choose(probs, 1.0);
        (action, probs[action])
    }
}

/// Values this close to the best, relative to the largest, count as ties.
const TIE: f64 = 1e-12;

/// How values become probabilities.
#[derive(Clone, Debug)]
pub struct Rule {
    /// 0 acts greedily, ties by chance; otherwise actions are drawn from softmax(q_values / temperature).
    pub temperature: f64,
    /// Which actions the log says anything about; the others have probability 0. None: all.
    pub supported: Option<Vec<bool>>,
    /// The same after some observations, which `policies::near` looks at.
    pub after: Option<After>,
}

/// Which actions the log says anything about after some observations.
#[derive(Clone, Debug, Default)]
pub struct After {
    /// Codes in increasing order; the number of observations stands for the start of an episode that shows nothing.
    pub observations: Vec<i64>,
    /// (observations, actions)
    pub actions: Vec<bool>,
}

impl After {
    /// The actions after one of the observations.
    pub fn row(&self, observation: usize) -> Option<&[bool]> {
        let place = self.observations.binary_search(&(observation as i64)).ok()?;
        self.actions.chunks_exact(self.actions.len() / self.observations.len()).nth(place)
    }
}

/// The rule of policies that have none of their own.
pub static GREEDY: Rule = Rule { temperature: 0.0, supported: None, after: None };

impl Rule {
    /// Refuses a temperature that is negative or not a number, and a mask of another length.
    pub fn check(&self, n_actions: usize) -> Result<()> {
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            let remedy = "give 0 (greedy) or a positive number";
            return Err(Error::argument("temperature", self.temperature, remedy));
        }
        if let Some(supported) = self.supported.as_ref().filter(|list| list.len() != n_actions) {
            let given = format!("{} entries", supported.len());
            return Err(Error::argument("supported", given, format!("there are {n_actions} actions")));
        }
        let Some(After { observations, actions }) = &self.after else { return Ok(()) };
        if !observations.is_sorted_by(|one, next| one < next)
            || observations.first().is_some_and(|&code| code < 0)
        {
            let given = format!("{} codes", observations.len());
            return Err(Error::argument(
                "supported_after",
                given,
                "give different codes in increasing order",
            ));
        }
        let cells = observations.len().checked_mul(n_actions);
        if observations.is_empty() || cells != Some(actions.len()) {
            let remedy =
                format!("give a row of {n_actions} actions for each of {} observations", observations.len());
            return Err(Error::argument("supported_then", format!("{} entries", actions.len()), remedy));
        }
        Ok(())
    }

    /// Turns values into probabilities in place; the only definition in the package.
    ///
    /// Actions without support, and those of value −inf, have probability 0. Values that are no numbers decide nothing:
    /// with a NaN the finite ones share alike; with +inf, or without any finite value, the supported actions do, or all
    /// of them if none is supported.
    pub fn softmax(&self, values: &mut [f64]) {
        if let Some(supported) = &self.supported {
            let without = values.iter_mut().zip(supported).filter(|(_, supported)| !**supported);
            without.for_each(|(value, _)| *value = f64::NEG_INFINITY);
        }
        let (mut best, mut largest, mut undefined) = (f64::NEG_INFINITY, 0.0f64, false);
        for &q in values.iter() {
            undefined |= q.is_nan();
            best = best.max(q);
            largest = if q.is_finite() { largest.max(q.abs()) } else { largest };
        }
        if !best.is_finite() {
            values.fill(1.0);
            if let Some(supported) = self.supported.as_ref().filter(|list| list.contains(&true)) {
                values.iter_mut().zip(supported).for_each(|(value, &listed)| *value = f64::from(listed));
            }
        } else if undefined {
            values.iter_mut().for_each(|q| *q = f64::from(q.is_finite()));
        } else if self.temperature > 0.0 {
            values.iter_mut().for_each(|q| *q = ((*q - best) / self.temperature).exp());
        } else {
            values.iter_mut().for_each(|q| *q = f64::from(best - *q <= TIE * largest));
        }
        let total: f64 = values.iter().sum();
        values.iter_mut().for_each(|p| *p /= total);
    }
}

/// Every action alike: the behaviour of the first data set.
pub struct Uniform {
    pub(crate) n_actions: usize,
    pub(crate) n_observations: usize,
}

impl Described for Uniform {
    fn n_actions(&self) -> usize {
        self.n_actions
    }

    fn n_observations(&self) -> usize {
        self.n_observations
    }

    fn rule(&self) -> &Rule {
        &GREEDY
    }

    fn describe(&self) -> String {
        "uniform".into()
    }
}

impl Policy for Uniform {
    type Memory = ();

    fn start(&self) {}

    fn q_values(&self, _memory: &(), values: &mut [f64]) {
        values.fill(0.0);
    }

    fn update(&self, _memory: &mut (), _action: usize, _observation: usize) {}

    #[inline]
    fn act(&self, _memory: &(), _epsilon: f64, probs: &mut [f64], rng: &mut Rng) -> (usize, f64) {
        (rng.below(probs.len()), 1.0 / probs.len() as f64)
    }
}
