//! Any policy, but only the actions that the log says anything about after the last observation.

use std::sync::Arc;

use crate::policies::any::AnyPolicy;
use crate::rng::Rng;
use crate::simulate::policy::{Described, Policy, Rule};

/// A policy whose rule has `after`; it remembers the last observation as well.
struct Near<P>(Arc<P>);

/// The policy as it acts: one whose rule looks at no observation stays as it is.
pub fn acting<P: Policy>(policy: Arc<P>) -> Arc<dyn AnyPolicy> {
    if policy.rule().after.is_some() { Arc::new(Near(policy)) } else { policy }
}

/// What the policy remembers, and what was seen last: the number of observations stands for nothing, numbers beyond for
/// columns that no code stands for.
type Memory<M> = (M, usize);

impl<P: Policy> Described for Near<P> {
    fn n_actions(&self) -> usize {
        self.0.n_actions()
    }

    fn n_observations(&self) -> usize {
        self.0.n_observations()
    }

    fn rule(&self) -> &Rule {
        self.0.rule()
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    fn key(&self) -> u64 {
        self.0.key().wrapping_add(1)
    }
}

impl<P: Policy> Policy for Near<P> {
    type Memory = Memory<P::Memory>;

    const DELIBERATES: bool = P::DELIBERATES;

    fn start(&self) -> Self::Memory {
        (self.0.start(), self.n_observations())
    }

    fn start_with(&self, rng: Rng) -> Self::Memory {
        (self.0.start_with(rng), self.n_observations())
    }

    fn q_values(&self, memory: &Self::Memory, values: &mut [f64]) {
        self.0.q_values(&memory.0, values);
    }

    #[inline]
    fn update(&self, memory: &mut Self::Memory, action: usize, observation: usize) {
        self.0.update(&mut memory.0, action, observation);
        memory.1 = observation;
    }

    fn column_sizes(&self) -> Option<&[i64]> {
        self.0.column_sizes()
    }

    fn update_row(&self, memory: &mut Self::Memory, action: usize, row: &[f32]) {
        self.0.update_row(&mut memory.0, action, row);
        let known = self.rule().after.iter().flat_map(|after| &after.observations);
        let codes = known.map(|&code| code as usize).take_while(|&code| code < self.n_observations());
        memory.1 = codes.into_iter().find(|&code| self.0.is_code(row, code)).unwrap_or(usize::MAX);
    }

    #[inline]
    fn action_probs(&self, memory: &Self::Memory, probs: &mut [f64]) {
        let Some(row) = self.rule().after.as_ref().and_then(|after| after.row(memory.1)) else {
            return self.0.action_probs(&memory.0, probs);
        };
        Policy::q_values(self, memory, probs);
        let without = probs.iter_mut().zip(row).filter(|(_, supported)| !**supported);
        without.for_each(|(value, _)| *value = f64::NEG_INFINITY);
        self.rule().softmax(probs);
    }
}
