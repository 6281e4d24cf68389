//! Any policy behind one interface, whatever its memory is.

use std::any::Any;
use std::sync::Arc;

use crate::domains::World;
use crate::error::Result;
use crate::parallel::Ticker;
use crate::simulate::batch::{Batch, Episodes};
use crate::simulate::policy::{Described, Policy, Seen};
use crate::simulate::replay;
use crate::simulate::rollout::{self, Schedule};
use crate::trajectories::{Columns, Trajectories, View};
use crate::with_world;

/// Memory of a policy whose kind is not known.
pub type AnyMemory = Box<dyn Any + Send + Sync>;

/// What can be done with every policy. Whole rollouts are dispatched, not steps, so that the inner loops are compiled
/// for each policy and each world on its own.
pub trait AnyPolicy: Described {
    /// Whether a step may take long.
    fn deliberates(&self) -> bool;
    /// Of a policy that looks at raw columns, how many values each has.
    fn column_sizes(&self) -> Option<&[i64]>;
    /// The memory at the start of an episode, which may show an observation before the first action.
    fn start(&self, first: Option<Seen>) -> AnyMemory;
    /// The memory after one more step.
    fn updated(&self, memory: &AnyMemory, action: usize, seen: Seen) -> AnyMemory;
    fn q_values(&self, memory: &AnyMemory) -> Vec<f64>;
    fn action_probs(&self, memory: &AnyMemory) -> Vec<f64>;
    /// So many episodes that are stepped side by side.
    fn batch(self: Arc<Self>, n: usize, seed: u64) -> Box<dyn Episodes>;
    fn rollout(&self, world: &World, schedule: &Schedule, ticker: &Ticker) -> Result<Trajectories>;
    /// π(a | h), or what every action is worth, before every step of the data: (steps, actions).
    fn before_steps(
        &self,
        view: &View,
        columns: Option<&Columns>,
        values: bool,
        threads: usize,
        ticker: &Ticker,
    ) -> Result<Vec<f64>>;
}

/// The memory of a policy of this kind; memories of others have other keys.
pub fn own<P: Policy>(memory: &AnyMemory) -> &P::Memory {
    memory.downcast_ref().expect("the key was compared")
}

impl<P: Policy> AnyPolicy for P {
    fn deliberates(&self) -> bool {
        P::DELIBERATES
    }

    fn column_sizes(&self) -> Option<&[i64]> {
        Policy::column_sizes(self)
    }

    fn start(&self, first: Option<Seen>) -> AnyMemory {
        let mut memory = Policy::start(self);
        if let Some(first) = first {
            self.take_in(&mut memory, self.n_actions(), first);
        }
        Box::new(memory)
    }

    fn updated(&self, memory: &AnyMemory, action: usize, seen: Seen) -> AnyMemory {
        let mut memory = own::<P>(memory).clone();
        self.take_in(&mut memory, action, seen);
        Box::new(memory)
    }

    fn q_values(&self, memory: &AnyMemory) -> Vec<f64> {
        let mut values = vec![0.0; self.n_actions()];
        Policy::q_values(self, own::<P>(memory), &mut values);
        values
    }

    fn action_probs(&self, memory: &AnyMemory) -> Vec<f64> {
        let mut probs = vec![0.0; self.n_actions()];
        Policy::action_probs(self, own::<P>(memory), &mut probs);
        probs
    }

    fn batch(self: Arc<Self>, n: usize, seed: u64) -> Box<dyn Episodes> {
        Box::new(Batch::new(self, n, seed))
    }

    fn rollout(&self, world: &World, schedule: &Schedule, ticker: &Ticker) -> Result<Trajectories> {
        with_world!(world, environment => rollout::rollout(&**environment, self, schedule, ticker))
    }

    fn before_steps(
        &self,
        view: &View,
        columns: Option<&Columns>,
        values: bool,
        threads: usize,
        ticker: &Ticker,
    ) -> Result<Vec<f64>> {
        replay::before_steps(self, view, columns, values, threads, ticker)
    }
}
