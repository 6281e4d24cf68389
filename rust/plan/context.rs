//! A policy that looks at the last few symbols, and at fewer where those were never seen together.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::plan::automaton_policy::softmax;
use crate::simulate::policy::Policy;

/// q-values by context: a context is a word that the history ends with, the symbol `n_symbols` standing for the
/// start of the episode. The longest known context counts; the empty one is always known.
#[derive(Clone, Debug)]
pub struct ContextPolicy {
    n_actions: usize,
    n_observations: usize,
    longest: usize,
    rows: HashMap<Box<[u32]>, usize>,
    values: Vec<f64>,
    temperature: f64,
}

/// The last symbols and the row of the longest known context among them.
#[derive(Clone, Debug)]
pub struct Memory {
    recent: Vec<u32>,
    pub row: usize,
}

impl ContextPolicy {
    /// `values` has a row of `n_actions` for every context.
    pub fn new(
        contexts: Vec<Vec<u32>>,
        values: Vec<f64>,
        n_actions: usize,
        n_observations: usize,
        temperature: f64,
    ) -> Result<Self> {
        if n_actions == 0 || n_observations == 0 || values.len() != contexts.len().saturating_mul(n_actions) {
            let remedy = format!("expected {} rows of {n_actions}, one per context", contexts.len());
            return Err(Error::argument("values", format!("{} entries", values.len()), remedy));
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Error::argument("values", value, "all values must be finite"));
        }
        let longest = contexts.iter().map(Vec::len).max().unwrap_or(0);
        let n_contexts = contexts.len();
        let rows: HashMap<_, _> =
            contexts.into_iter().enumerate().map(|(row, word)| (word.into_boxed_slice(), row)).collect();
        if rows.len() != n_contexts || !rows.contains_key(&[][..]) {
            let remedy = "every context once, the empty one among them";
            return Err(Error::argument("contexts", format!("{n_contexts} words"), remedy));
        }
        let policy = ContextPolicy { n_actions, n_observations, longest, rows, values, temperature: 0.0 };
        policy.with_temperature(temperature)
    }

    pub fn with_temperature(mut self, temperature: f64) -> Result<Self> {
        if !(temperature >= 0.0 && temperature.is_finite()) {
            let remedy = "give 0 (greedy) or a positive number";
            return Err(Error::argument("temperature", temperature, remedy));
        }
        self.temperature = temperature;
        Ok(self)
    }

    pub fn n_actions(&self) -> usize {
        self.n_actions
    }

    pub fn n_observations(&self) -> usize {
        self.n_observations
    }

    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// Whether a memory was made by a policy with as many contexts.
    pub fn fits(&self, memory: &Memory) -> bool {
        memory.row < self.rows.len()
    }

    pub fn q_values(&self, memory: &Memory) -> &[f64] {
        &self.values[memory.row * self.n_actions..(memory.row + 1) * self.n_actions]
    }

    fn append(&self, memory: &mut Memory, symbol: usize) {
        memory.recent.push(symbol as u32);
        if memory.recent.len() > self.longest {
            memory.recent.remove(0);
        }
        let known = (0..=memory.recent.len()).find_map(|from| self.rows.get(&memory.recent[from..]));
        memory.row = known.copied().unwrap_or(0);
    }
}

impl Policy for ContextPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        let mut memory = Memory { recent: Vec::with_capacity(self.longest + 1), row: 0 };
        self.append(&mut memory, self.n_actions * self.n_observations);
        memory
    }

    fn action_probs(&self, memory: &Memory, probs: &mut [f64]) {
        probs.copy_from_slice(self.q_values(memory));
        softmax(probs, self.temperature);
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        self.append(memory, action * self.n_observations + observation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_known_context_counts() {
        let contexts = vec![vec![], vec![2], vec![1], vec![0, 1]];
        let values = vec![0.0, 1.0, 2.0, 3.0];
        let policy = ContextPolicy::new(contexts, values, 1, 2, 0.0).unwrap();
        let mut memory = policy.start();
        assert_eq!(policy.q_values(&memory), [1.0]);
        for (observation, expected) in [(0, 0.0), (1, 3.0), (1, 2.0), (0, 0.0)] {
            policy.update(&mut memory, 0, observation);
            assert_eq!(policy.q_values(&memory), [expected]);
        }
    }

    #[test]
    fn contexts_without_the_empty_word_are_refused() {
        assert!(ContextPolicy::new(vec![vec![1]], vec![0.0], 1, 2, 0.0).is_err());
        assert!(ContextPolicy::new(vec![vec![], vec![]], vec![0.0; 2], 1, 2, 0.0).is_err());
    }
}
