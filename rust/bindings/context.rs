//! Policies over the last few symbols.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::batch::PolicyBatch;
use crate::bindings::draw::{Luck, entry};
use crate::bindings::job;
use crate::plan::context;
use crate::simulate::batch::Batch;
use crate::simulate::policy::Policy;

/// The last symbols of an episode.
#[pyclass(frozen, module = "uqf._core")]
pub struct ContextMemory {
    inner: context::Memory,
}

#[pymethods]
impl ContextMemory {
    /// Row of the longest known context.
    #[getter]
    fn row(&self) -> usize {
        self.inner.row
    }
}

/// q-values by the longest known context that the history ends with.
#[pyclass(frozen, subclass, module = "uqf._core")]
pub struct ContextPolicy {
    pub inner: context::ContextPolicy,
    luck: Luck,
}

#[pymethods]
impl ContextPolicy {
    /// `values` (contexts, actions); a context is a list of symbols, n_symbols standing for the start.
    #[new]
    #[pyo3(signature = (contexts, values, n_observations, *, temperature=0.0))]
    fn new(
        py: Python<'_>,
        contexts: Vec<Vec<u32>>,
        values: PyReadonlyArray2<'_, f64>,
        n_observations: usize,
        temperature: f64,
    ) -> PyResult<Self> {
        let (n_actions, values) = (values.shape()[1], values.as_slice()?.to_vec());
        let made = context::ContextPolicy::new(contexts, values, n_actions, n_observations, temperature);
        made.map(|inner| ContextPolicy { inner, luck: Luck::default() })
            .map_err(|error| job::to_python(py, error))
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations()
    }

    #[getter]
    fn temperature(&self) -> f64 {
        self.inner.temperature()
    }

    /// The same values, acted on greedily.
    fn greedy(&self, py: Python<'_>) -> PyResult<Self> {
        self.with_temperature(py, 0.0)
    }

    /// The same values, acted on at another temperature.
    fn with_temperature(&self, py: Python<'_>, temperature: f64) -> PyResult<Self> {
        let changed = self.inner.clone().with_temperature(temperature);
        changed
            .map(|inner| ContextPolicy { inner, luck: Luck::default() })
            .map_err(|error| job::to_python(py, error))
    }

    /// This policy acting in `n` episodes at once.
    #[pyo3(signature = (n, *, seed=0))]
    fn batch(&self, n: i64, seed: u64) -> PyResult<PolicyBatch> {
        let policy = Arc::new(self.inner.clone());
        let (n_actions, n_observations) = (policy.n_actions(), policy.n_observations());
        PolicyBatch::new(n, n_actions, |n| Batch::new(policy, n_actions, n_observations, n, seed))
    }

    fn initial_state(&self) -> ContextMemory {
        ContextMemory { inner: self.inner.start() }
    }

    /// The memory after one more step; `state` itself does not change.
    fn update(&self, state: &ContextMemory, action: i64, observation: i64) -> PyResult<ContextMemory> {
        let action = entry("action", action, self.inner.n_actions())?;
        let observation = entry("observation", observation, self.inner.n_observations())?;
        let mut memory = self.known(state)?.clone();
        self.inner.update(&mut memory, action, observation);
        Ok(ContextMemory { inner: memory })
    }

    /// Value of every action.
    fn q_values<'py>(&self, py: Python<'py>, state: &ContextMemory) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.inner.q_values(self.known(state)?).to_vec().into_pyarray(py))
    }

    fn action_probs<'py>(
        &self,
        py: Python<'py>,
        state: &ContextMemory,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.probs(state)?.into_pyarray(py))
    }

    /// An action: drawn with `rng` (anything with `random()`), or else with the policy's own luck.
    #[pyo3(signature = (state, rng=None))]
    fn action(&self, state: &ContextMemory, rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        self.luck.draw(&self.probs(state)?, rng)
    }
}

impl ContextPolicy {
    fn known<'a>(&self, state: &'a ContextMemory) -> PyResult<&'a context::Memory> {
        let message = "state belongs to another policy: begin with initial_state()";
        if self.inner.fits(&state.inner) { Ok(&state.inner) } else { Err(PyValueError::new_err(message)) }
    }

    fn probs(&self, state: &ContextMemory) -> PyResult<Vec<f64>> {
        let mut probs = vec![0.0; self.inner.n_actions()];
        self.inner.action_probs(self.known(state)?, &mut probs);
        Ok(probs)
    }
}
