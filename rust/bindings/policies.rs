//! Compiled policies and the way to tell them apart.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::automaton::AutomatonPolicy;
use crate::bindings::batch::PolicyBatch;
use crate::bindings::context::ContextPolicy;
use crate::bindings::forest::ForestPolicy;
use crate::bindings::job;
use crate::bindings::pomcp::Pomcp;
use crate::bindings::sum_policy::SumPolicy;
use crate::plan::table;
use crate::simulate::batch::Batch;
use crate::simulate::environment::Environment;
use crate::simulate::policy::Policy;

/// Action probabilities by last symbol: `probs` has one row per symbol and a last one for the start.
#[pyclass(frozen, module = "uqf._core")]
pub struct TablePolicy {
    pub inner: table::TablePolicy,
}

#[pymethods]
impl TablePolicy {
    #[new]
    fn new(py: Python<'_>, probs: PyReadonlyArray2<'_, f64>, n_observations: usize) -> PyResult<Self> {
        let n_actions = probs.shape()[1];
        let made = table::TablePolicy::new(probs.as_slice()?.to_vec(), n_actions, n_observations);
        made.map(|inner| TablePolicy { inner }).map_err(|error| job::to_python(py, error))
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations()
    }

    /// Action probabilities by symbol, with a last row for the start.
    #[getter]
    fn probs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n_actions = self.inner.n_actions();
        let probs = self.inner.probs();
        probs.to_vec().into_pyarray(py).reshape([probs.len() / n_actions, n_actions])
    }

    /// This policy acting in `n` episodes at once.
    #[pyo3(signature = (n, *, seed=0))]
    fn batch(&self, n: i64, seed: u64) -> PyResult<PolicyBatch> {
        let (n_actions, n_observations) = (self.inner.n_actions(), self.inner.n_observations());
        let policy = Arc::new(self.inner.clone());
        PolicyBatch::new(n, n_actions, |n| Batch::new(policy, n_actions, n_observations, n, seed))
    }

    /// The state before the first step.
    fn initial_state(&self) -> usize {
        self.inner.start()
    }

    /// Probability of every action in a state.
    fn action_probs(&self, state: usize) -> PyResult<Vec<f64>> {
        if state > self.inner.start() {
            let message = format!("state = {state}: states are symbols, 0 to {}", self.inner.start());
            return Err(PyValueError::new_err(message));
        }
        let mut probs = vec![0.0; self.inner.n_actions()];
        self.inner.action_probs(&state, &mut probs);
        Ok(probs)
    }

    /// The state after one more step: the symbol of `action` and `observation`.
    fn update(&self, state: usize, action: usize, observation: usize) -> PyResult<usize> {
        let (n_actions, n_observations) = (self.inner.n_actions(), self.inner.n_observations());
        if action >= n_actions || observation >= n_observations {
            let message = format!(
                "action = {action}, observation = {observation}: choose below {n_actions} and {n_observations}"
            );
            return Err(PyValueError::new_err(message));
        }
        let mut state = state;
        self.inner.update(&mut state, action, observation);
        Ok(state)
    }
}

/// A policy that can be stepped without Python.
#[derive(FromPyObject)]
pub enum Compiled<'py> {
    Table(Bound<'py, TablePolicy>),
    Automaton(Bound<'py, AutomatonPolicy>),
    Sum(Bound<'py, SumPolicy>),
    Pomcp(Bound<'py, Pomcp>),
    Context(Bound<'py, ContextPolicy>),
    Forest(Bound<'py, ForestPolicy>),
}

impl Compiled<'_> {
    /// (actions, observations) that the policy was made for.
    pub fn alphabet(&self) -> (usize, usize) {
        match self {
            Compiled::Table(table) => (table.get().inner.n_actions(), table.get().inner.n_observations()),
            Compiled::Automaton(policy) => (policy.get().inner.n_actions, policy.get().inner.n_observations),
            Compiled::Sum(policy) => (policy.get().inner.n_actions, policy.get().inner.n_observations),
            Compiled::Context(policy) => {
                (policy.get().inner.n_actions(), policy.get().inner.n_observations())
            }
            Compiled::Forest(policy) => {
                (policy.get().inner.features.n_actions(), policy.get().inner.features.n_observations())
            }
            Compiled::Pomcp(planner) => {
                let world = planner.get().inner.world();
                (world.n_actions(), world.n_observations())
            }
        }
    }
}

/// Evaluates `$body` with `$policy` bound to the compiled policy, the uniform one standing in for None.
#[macro_export]
macro_rules! with_policy {
    ($compiled:expr, $policy:ident => $body:expr) => {
        match $compiled {
            None => {
                let $policy = &$crate::simulate::policy::Uniform;
                $body
            }
            Some($crate::bindings::policies::Compiled::Table(table)) => {
                let $policy = &table.get().inner;
                $body
            }
            Some($crate::bindings::policies::Compiled::Sum(sum)) => {
                let $policy = &sum.get().inner;
                $body
            }
            Some($crate::bindings::policies::Compiled::Automaton(automaton)) => {
                let $policy = automaton.get().inner.as_ref();
                $body
            }
            Some($crate::bindings::policies::Compiled::Pomcp(planner)) => {
                let $policy = &planner.get().inner;
                $body
            }
            Some($crate::bindings::policies::Compiled::Context(context)) => {
                let $policy = &context.get().inner;
                $body
            }
            Some($crate::bindings::policies::Compiled::Forest(forest)) => {
                let $policy = &forest.get().inner;
                $body
            }
        }
    };
}
