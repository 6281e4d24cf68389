//! What all compiled policies offer Python.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::bindings::batch::PolicyBatch;
use crate::bindings::convert::{Arrays, below, shaped, threads as thread_count};
use crate::bindings::job;
use crate::policies::any::{AnyMemory, AnyPolicy};
use crate::rng::Rng;

/// A policy that is stepped without a call to Python; its kinds are the subclasses.
///
/// `parts()` of every kind are the arguments that make the same policy again.
#[pyclass(frozen, subclass, module = "uqf._core")]
pub struct CompiledPolicy {
    pub inner: Arc<dyn AnyPolicy>,
    /// Actions drawn without a generator: each has a random stream of its own.
    drawn: AtomicU64,
}

/// What a policy remembers of an episode. It never changes: `update` makes a new one.
#[pyclass(frozen, module = "uqf._core")]
pub struct PolicyState {
    pub memory: AnyMemory,
}

/// A dictionary with more entries, such as the arguments that make a policy again.
#[macro_export]
macro_rules! parts {
    ($parts:expr, {$($name:literal: $value:expr),* $(,)?}) => {{
        let parts: Bound<'_, PyDict> = $parts;
        $(parts.set_item($name, $value)?;)*
        Ok(parts)
    }};
}

impl CompiledPolicy {
    /// The Python object of a policy: `kind` makes its subclass.
    pub fn of<P, K>(inner: Arc<P>, kind: fn(Arc<P>) -> K) -> PyClassInitializer<K>
    where
        P: AnyPolicy + 'static,
        K: pyo3::PyClass<BaseType = CompiledPolicy>,
    {
        let base = CompiledPolicy { inner: inner.clone(), drawn: AtomicU64::new(0) };
        PyClassInitializer::from(base).add_subclass(kind(inner))
    }

    /// Every row is π(a | h), or what every action is worth, before a step of the data.
    fn before_steps<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        values: bool,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (view, threads) = (data.view()?, thread_count(threads)?);
        let (actions, observations) = self.inner.alphabet();
        if (actions, observations) != (view.n_actions, view.n_observations) {
            return Err(PyValueError::new_err(format!(
                "policy has {actions} actions and {observations} observations, the data have {} and {}",
                view.n_actions, view.n_observations
            )));
        }
        let rows = job::long(py, None, |ticker| self.inner.before_steps(&view, values, threads, ticker))?;
        shaped(py, rows, [view.n_steps(), actions])
    }
}

#[pymethods]
impl CompiledPolicy {
    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.alphabet().0
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.alphabet().1
    }

    /// 0 acts greedily, ties by chance; otherwise actions are drawn from softmax(q_values / temperature).
    #[getter]
    fn temperature(&self) -> f64 {
        self.inner.temperature()
    }

    /// The memory at the start of an episode; `first` is what it shows before the first action, if anything.
    #[pyo3(signature = (first=None))]
    fn initial_state(&self, py: Python<'_>, first: Option<i64>) -> PyResult<PolicyState> {
        let observations = self.inner.alphabet().1;
        let first = first.map(|first| below("first", first, observations)).transpose()?;
        let work = || Ok(self.inner.start(first));
        let memory = if self.inner.deliberates() { job::quick(py, work)? } else { work()? };
        Ok(PolicyState { memory })
    }

    /// The memory after one more step; `state` itself does not change.
    fn update(
        &self,
        py: Python<'_>,
        state: &PolicyState,
        action: i64,
        observation: i64,
    ) -> PyResult<PolicyState> {
        let (actions, observations) = self.inner.alphabet();
        let (action, observation) =
            (below("action", action, actions)?, below("observation", observation, observations)?);
        let work = || self.inner.updated(&state.memory, action, observation);
        let memory = if self.inner.deliberates() { job::quick(py, work)? } else { work()? };
        Ok(PolicyState { memory })
    }

    /// Value of every action, (n_actions,); comparable across actions at one history.
    fn q_values<'py>(&self, py: Python<'py>, state: &PolicyState) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.inner.q_values(&state.memory)?.into_pyarray(py))
    }

    /// Probability of every action, (n_actions,).
    fn action_probs<'py>(&self, py: Python<'py>, state: &PolicyState) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.inner.action_probs(&state.memory)?.into_pyarray(py))
    }

    /// An action: drawn with `rng` (anything with `random()`), or else with the policy's own random stream.
    #[pyo3(signature = (state, rng=None))]
    fn action(&self, state: &PolicyState, rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        let probs = self.inner.action_probs(&state.memory)?;
        let Some(rng) = rng else {
            return Ok(Rng::stream(0, self.drawn.fetch_add(1, Ordering::Relaxed)).choose(&probs, 1.0));
        };
        Ok(Rng::pick(&probs, rng.call_method0("random")?.extract()?))
    }

    /// The same values, acted on at another temperature.
    fn with_temperature<'py>(slf: &Bound<'py, Self>, temperature: f64) -> PyResult<Bound<'py, PyAny>> {
        let parts = slf.call_method0("parts")?.cast_into::<PyDict>()?;
        parts.set_item("temperature", temperature)?;
        slf.get_type().call((), Some(&parts))
    }

    /// The same values, acted on greedily.
    fn greedy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.call_method1("with_temperature", (0.0,))
    }

    /// This policy acting in `n` episodes at once.
    #[pyo3(signature = (n, *, seed=0))]
    fn batch(&self, n: i64, seed: u64) -> PyResult<PolicyBatch> {
        PolicyBatch::new(n, self.inner.alphabet().0, |n| self.inner.clone().batch(n, seed))
    }

    /// Probability of every action before every step of the data: (n_steps, n_actions).
    #[pyo3(signature = (data, *, threads=None))]
    fn probs_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.before_steps(py, data, false, threads)
    }

    /// Value of every action before every step of the data: (n_steps, n_actions).
    #[pyo3(signature = (data, *, threads=None))]
    fn q_values_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.before_steps(py, data, true, threads)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let inner = &slf.get().inner;
        let ((actions, observations), temperature) = (inner.alphabet(), inner.temperature());
        let acts = if temperature == 0.0 { "greedy".into() } else { format!("temperature {temperature:.4}") };
        let (name, what) = (slf.get_type().name()?, inner.describe());
        Ok(format!("{name}({actions} actions, {observations} observations, {what}, {acts})"))
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyType>, Bound<'py, PyAny>))> {
        let rebuilt = slf.py().import("uqf.pickles")?.getattr("rebuilt")?;
        Ok((rebuilt, (slf.get_type(), slf.call_method0("parts")?)))
    }
}
