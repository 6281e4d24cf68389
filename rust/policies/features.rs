//! Feature vectors of histories: the state of an automaton, or a window of the last steps.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::parallel::Ticker;
use crate::policies::automaton_policy::{self, AutomatonPolicy};
use crate::simulate::policy::{Described, Policy, key_of};
use crate::simulate::replay::at_cuts;
use crate::trajectories::View;

/// Longer windows are slips of the finger, and would fill the memory.
const MAX_WINDOW: usize = 10_000;

/// The last `length` steps, the latest first: one indicator per action and per observation.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub(crate) length: usize,
    pub(crate) n_actions: usize,
    pub(crate) n_observations: usize,
}

#[derive(Clone, Debug)]
pub enum Features {
    /// The state that this policy would act on.
    Automaton(Arc<AutomatonPolicy>),
    Window(Window),
}

/// What features remember of an episode.
#[derive(Clone, Debug)]
pub enum Memory {
    Automaton(automaton_policy::Memory),
    /// (action, observation), the latest last.
    Window(Vec<(u32, u32)>),
}

impl Features {
    pub(crate) fn n_actions(&self) -> usize {
        match self {
            Features::Automaton(policy) => policy.n_actions(),
            Features::Window(window) => window.n_actions,
        }
    }

    pub(crate) fn n_observations(&self) -> usize {
        match self {
            Features::Automaton(policy) => policy.n_observations(),
            Features::Window(window) => window.n_observations,
        }
    }

    pub fn dim(&self) -> usize {
        match self {
            Features::Automaton(policy) => policy.rank(),
            Features::Window(w) => w.length * (w.n_actions + w.n_observations),
        }
    }

    /// The states of an automaton, or else a window, which must not be empty or absurdly long.
    pub fn new(automaton: Option<Arc<AutomatonPolicy>>, window: Window) -> Result<Self> {
        match automaton {
            Some(policy) => Ok(Features::Automaton(policy)),
            None if (1..=MAX_WINDOW).contains(&window.length) => Ok(Features::Window(window)),
            None => Err(Error::argument("length", window.length, format!("give 1 to {MAX_WINDOW} steps"))),
        }
    }

    /// Of the memories that they read.
    pub fn key(&self) -> u64 {
        match self {
            Features::Automaton(policy) => policy.key(),
            Features::Window(w) => key_of::<Window>((w.length, w.n_actions, w.n_observations)),
        }
    }

    pub(crate) fn start(&self) -> Memory {
        match self {
            Features::Automaton(policy) => Memory::Automaton(policy.start()),
            Features::Window(_) => Memory::Window(Vec::new()),
        }
    }

    pub(crate) fn update(&self, memory: &mut Memory, action: usize, observation: usize) {
        match (self, memory) {
            (Features::Automaton(policy), Memory::Automaton(memory)) => {
                policy.update(memory, action, observation);
            }
            (Features::Window(window), Memory::Window(recent)) => {
                recent.push((action as u32, observation as u32));
                if recent.len() > window.length {
                    recent.remove(0);
                }
            }
            _ => {}
        }
    }

    /// Writes the features of a memory into `x`, which has a place for each.
    pub fn write(&self, memory: &Memory, x: &mut [f32]) {
        match (self, memory) {
            (_, Memory::Automaton(memory)) => {
                x.iter_mut().zip(&memory.state).for_each(|(x, &entry)| *x = entry as f32);
            }
            (Features::Window(window), Memory::Window(recent)) => {
                x.fill(0.0);
                let width = window.n_actions + window.n_observations;
                for (place, &(action, observation)) in recent.iter().rev().enumerate() {
                    if (action as usize) < window.n_actions {
                        x[place * width + action as usize] = 1.0;
                    }
                    x[place * width + window.n_actions + observation as usize] = 1.0;
                }
            }
            (Features::Automaton(_), Memory::Window(_)) => {}
        }
    }

    /// Features at every cut of every episode, before its first step up to after its last: (steps + episodes, dim).
    pub fn at_cuts(&self, view: &View, threads: usize, ticker: &Ticker) -> Result<Vec<f32>> {
        let update = |memory: &mut Memory, action, observation| self.update(memory, action, observation);
        at_cuts(view, self.dim(), threads, ticker, || self.start(), update, |memory, x| self.write(memory, x))
    }
}
