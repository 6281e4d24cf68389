//! Acting on a sum of values: several tables and several families of beliefs may speak at once.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::parallel::{Ticker, fill_blocks};
use crate::plan::automaton_policy::softmax;
use crate::plan::beliefs::{Belief, Beliefs};
use crate::plan::context_table::{ContextTable, MOST_DEPTH};
use crate::simulate::policy::Policy;
use crate::trajectories::View;

/// Linear values on beliefs: bias + weights · belief.
#[derive(Clone, Debug)]
pub struct BeliefTerm {
    pub beliefs: Arc<Beliefs>,
    /// (features, actions)
    pub weights: Vec<f64>,
    pub bias: Vec<f64>,
}

impl BeliefTerm {
    pub fn validate(&self, n_actions: usize) -> Result<()> {
        let expected = self.beliefs.n_features() * n_actions;
        if self.weights.len() != expected || self.bias.len() != n_actions {
            let given = format!("{} weights, {} biases", self.weights.len(), self.bias.len());
            return Err(Error::argument("weights", given, format!("expected {expected} and {n_actions}")));
        }
        if self.weights.iter().chain(&self.bias).any(|x| !x.is_finite()) {
            return Err(Error::argument(
                "weights",
                "NaN or infinity",
                "all numbers of a policy must be finite",
            ));
        }
        Ok(())
    }

    fn add_values(&self, belief: &Belief, sums: &mut [f64]) {
        sums.iter_mut().zip(&self.bias).for_each(|(sum, bias)| *sum += bias);
        for &(low, high) in &belief.supports {
            for feature in low as usize..high as usize {
                let weight = f64::from(belief.values[feature]);
                let row = &self.weights[feature * sums.len()..(feature + 1) * sums.len()];
                sums.iter_mut().zip(row).for_each(|(sum, w)| *sum += weight * w);
            }
        }
    }
}

/// A part of the sum.
#[derive(Clone, Debug)]
pub enum Term {
    Contexts(Arc<ContextTable>),
    Beliefs(Arc<BeliefTerm>),
}

/// softmax of the sum of all terms, over the temperature.
#[derive(Clone, Debug)]
pub struct SumPolicy {
    pub n_actions: usize,
    pub n_observations: usize,
    pub terms: Vec<Term>,
    pub temperature: f64,
}

/// The last symbols (newest last, the start as a symbol of its own) and the beliefs of the terms that have some.
#[derive(Clone, Debug)]
pub struct Memory {
    recent: Vec<u32>,
    beliefs: Vec<Belief>,
}

impl SumPolicy {
    pub fn validate(&self) -> Result<()> {
        if self.terms.is_empty() {
            return Err(Error::argument("terms", "[]", "give at least one"));
        }
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            return Err(Error::argument(
                "temperature",
                self.temperature,
                "give 0 (greedy) or a positive number",
            ));
        }
        for term in &self.terms {
            if let Term::Beliefs(term) = term {
                term.validate(self.n_actions)?;
            }
        }
        Ok(())
    }

    pub fn q_values(&self, memory: &Memory, values: &mut [f64]) {
        values.fill(0.0);
        let mut beliefs = memory.beliefs.iter();
        let mut last: Option<(&Arc<Beliefs>, &Belief)> = None;
        for term in &self.terms {
            match term {
                Term::Contexts(table) => table.add_values(&memory.recent, values),
                Term::Beliefs(term) => {
                    // Terms on the same models share one belief.
                    let belief = match last {
                        Some((models, belief)) if Arc::ptr_eq(models, &term.beliefs) => belief,
                        _ => beliefs.next().expect("one belief per family of models"),
                    };
                    last = Some((&term.beliefs, belief));
                    term.add_values(belief, values);
                }
            }
        }
    }

    /// Whether this memory has the shape that this policy makes.
    pub fn accepts(&self, memory: &Memory) -> bool {
        let mut families = self.families().map(|models| models.n_features());
        let mut beliefs = memory.beliefs.iter().map(|belief| belief.values.len());
        families.by_ref().eq(beliefs.by_ref())
    }

    /// The same behaviour at temperature 1: values divided by the temperature. A greedy policy is left as it is.
    pub fn in_its_own_units(&self) -> SumPolicy {
        if self.temperature == 0.0 {
            return self.clone();
        }
        let scaled = |term: &Term| match term {
            Term::Contexts(table) => Term::Contexts(Arc::new(table.scaled(1.0 / self.temperature))),
            Term::Beliefs(term) => Term::Beliefs(Arc::new(BeliefTerm {
                beliefs: term.beliefs.clone(),
                weights: term.weights.iter().map(|w| w / self.temperature).collect(),
                bias: term.bias.iter().map(|b| b / self.temperature).collect(),
            })),
        };
        SumPolicy { terms: self.terms.iter().map(scaled).collect(), temperature: 1.0, ..self.clone() }
    }

    /// The sum of both values, at this policy's temperature.
    pub fn plus(&self, other: &SumPolicy) -> SumPolicy {
        let terms = self.terms.iter().chain(&other.terms).cloned().collect();
        SumPolicy { terms, ..self.clone() }
    }

    /// Families of models in the order of the terms; neighbours that share one count once.
    fn families(&self) -> impl Iterator<Item = &Arc<Beliefs>> {
        let mut last: Option<&Arc<Beliefs>> = None;
        self.terms.iter().filter_map(move |term| match term {
            Term::Contexts(_) => None,
            Term::Beliefs(term) if last.is_some_and(|models| Arc::ptr_eq(models, &term.beliefs)) => None,
            Term::Beliefs(term) => {
                last = Some(&term.beliefs);
                last
            }
        })
    }
}

impl Policy for SumPolicy {
    type Memory = Memory;

    fn start(&self) -> Memory {
        let start_symbol = (self.n_actions * self.n_observations) as u32;
        Memory { recent: vec![start_symbol], beliefs: self.families().map(|models| models.start()).collect() }
    }

    fn action_probs(&self, memory: &Memory, probs: &mut [f64]) {
        self.q_values(memory, probs);
        softmax(probs, self.temperature);
    }

    fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        if memory.recent.len() == MOST_DEPTH {
            memory.recent.remove(0);
        }
        memory.recent.push((action * self.n_observations + observation) as u32);
        for (models, belief) in self.families().zip(&mut memory.beliefs) {
            models.update(belief, action, observation);
        }
    }
}

/// Beliefs at every cut of the data, also after the last step of an episode: (steps + episodes, features).
pub fn beliefs_along(beliefs: &Beliefs, view: &View, threads: usize, ticker: &Ticker) -> Result<Vec<f32>> {
    const BLOCK: usize = 32;
    let width = beliefs.n_features();
    let place = |episode: usize| (view.offset(episode) + episode) * width;
    let mut along = vec![0.0; place(view.n_episodes())];
    fill_blocks(threads, view.n_episodes(), BLOCK, ticker, &mut along, place, |episodes, rows| {
        let mut rows = rows.chunks_exact_mut(width);
        for episode in episodes {
            let mut belief = beliefs.start();
            rows.next().expect("a row per cut").copy_from_slice(&belief.values);
            for step in view.episode(episode) {
                beliefs.update(&mut belief, view.actions[step] as usize, view.observations[step] as usize);
                rows.next().expect("a row per cut").copy_from_slice(&belief.values);
            }
        }
        Ok(())
    })?;
    Ok(along)
}
