//! What all compiled policies offer Python.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::bindings::batch::PolicyBatch;
use crate::bindings::convert::{
    Arrays, Matrix, Vector, Whole, below, in_rows, shaped, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::parts::{Part, after_parts};
use crate::policies::any::{AnyMemory, AnyPolicy};
use crate::rng::Rng;
use crate::simulate::policy::{Rule, Seen};

/// A policy that is stepped without a call to Python; its kinds are the subclasses.
///
/// `parts()` of every kind are the arguments that make the same policy again.
#[pyclass(frozen, subclass, module = "uqf._core")]
pub struct CompiledPolicy {
    pub inner: Arc<dyn AnyPolicy>,
    /// Actions drawn without a generator: each has a random stream of its own.
    drawn: AtomicU64,
    key: u64,
}

/// What a policy remembers of an episode. It never changes: `update` makes a new one.
#[pyclass(frozen, module = "uqf._core")]
pub struct PolicyState {
    memory: AnyMemory,
    /// Of the policy.
    key: u64,
}

/// An observation: its code, or raw columns.
#[derive(FromPyObject)]
pub enum Observation<'py> {
    Code(i64),
    Row(PyReadonlyArray1<'py, f32>),
}

impl CompiledPolicy {
    /// The Python object of a policy, whose subclass is `own`.
    pub fn of<K>(inner: Arc<dyn AnyPolicy>, own: K) -> PyClassInitializer<K>
    where
        K: pyo3::PyClass<BaseType = CompiledPolicy>,
    {
        let base = CompiledPolicy { key: inner.key(), inner, drawn: AtomicU64::new(0) };
        PyClassInitializer::from(base).add_subclass(own)
    }

    /// The same policy with other parts.
    fn with<'py>(
        slf: &Bound<'py, Self>,
        others: impl IntoIterator<Item = (&'static str, Option<Bound<'py, PyAny>>)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let parts = slf.call_method0("parts")?.cast_into::<PyDict>()?;
        for (name, part) in others {
            parts.set_item(name, part)?;
        }
        slf.get_type().call((), Some(&parts))
    }

    /// A memory; the interpreter is released where the policy thinks about it.
    fn remembered(&self, py: Python<'_>, work: impl FnOnce() -> AnyMemory + Send) -> PyResult<PolicyState> {
        let memory = if self.inner.deliberates() { job::quick(py, || Ok(work()))? } else { work() };
        Ok(PolicyState { memory, key: self.key })
    }

    /// The memory, if it is one of this policy, perhaps at another temperature.
    pub fn own<'a>(&self, state: &'a PolicyState) -> PyResult<&'a AnyMemory> {
        let message = "state = the memory of another policy: begin with initial_state()";
        (state.key == self.key).then_some(&state.memory).ok_or_else(|| PyValueError::new_err(message))
    }

    fn seen<'a>(&self, name: &str, observation: &'a Observation<'_>) -> PyResult<Seen<'a>> {
        let row = match observation {
            Observation::Code(code) => {
                return Ok(Seen::Code(below(name, *code, self.inner.n_observations())?));
            }
            Observation::Row(row) => row.as_slice()?,
        };
        if self.inner.column_sizes().is_some_and(|sizes| sizes.len() == row.len()) {
            return Ok(Seen::Row(row));
        }
        Err(PyValueError::new_err(format!(
            "{name} has {} columns: give as many as the policy has `column_sizes`, or a code if it has none",
            row.len()
        )))
    }

    /// Every row is π(a | h), or what every action is worth, before a step of the data.
    fn before_steps<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        values: bool,
        threads: Option<Whole<i64>>,
    ) -> PyResult<Matrix<'py>> {
        let (view, columns, threads) = (data.view()?, data.columns()?, thread_count(threads)?);
        let (actions, observations) = (self.inner.n_actions(), self.inner.n_observations());
        if (actions, observations) != (view.n_actions, view.n_observations) {
            return Err(PyValueError::new_err(format!(
                "policy has {actions} actions and {observations} observations, the data have {} and {}",
                view.n_actions, view.n_observations
            )));
        }
        let rows = job::long(py, None, |ticker| {
            self.inner.before_steps(&view, columns.as_ref(), values, threads, ticker)
        })?;
        shaped(py, rows, [view.n_steps(), actions])
    }
}

#[pymethods]
impl CompiledPolicy {
    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations()
    }

    /// Of a policy that looks at raw columns, how many values each has, 0 for a number: (d,). None: it looks at codes.
    #[getter]
    fn column_sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.inner.column_sizes().map(<[i64]>::to_vec).give(py)
    }

    /// 0 acts greedily, ties by chance; otherwise actions are drawn from softmax(q_values / temperature).
    #[getter]
    fn temperature(&self) -> f64 {
        self.inner.rule().temperature
    }

    /// Which actions the log says anything about, (n_actions,); the others have probability 0. None: all.
    #[getter]
    fn supported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.inner.rule().supported.clone().give(py)
    }

    /// After which observations fewer actions have support, codes (n,). None: after none.
    #[getter]
    fn supported_after<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.inner.rule().after.clone().map(|after| after_parts(after).0).give(py)
    }

    /// The actions that have support there, (n, n_actions). None: all that have it anywhere.
    #[getter]
    fn supported_then<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.inner.rule().after.clone().map(|after| after_parts(after).1).give(py)
    }

    /// The memory at the start of an episode; `first` is what it shows before the first action, if anything.
    #[pyo3(signature = (first=None))]
    fn initial_state(&self, py: Python<'_>, first: Option<Observation<'_>>) -> PyResult<PolicyState> {
        let first = first.as_ref().map(|first| self.seen("first", first)).transpose()?;
        self.remembered(py, || self.inner.start(first))
    }

    /// The memory after one more step; `state` itself does not change. A policy that looks at raw columns takes them,
    /// (d,) as float32, in place of the code; given the code, it looks at those that the code stands for.
    fn update(
        &self,
        py: Python<'_>,
        state: &PolicyState,
        action: Whole<i64>,
        observation: Observation<'_>,
    ) -> PyResult<PolicyState> {
        let action = below("action", action.0, self.inner.n_actions())?;
        let seen = self.seen("observation", &observation)?;
        let memory = self.own(state)?;
        self.remembered(py, || self.inner.updated(memory, action, seen))
    }

    /// Value of every action, (n_actions,); comparable across actions at one history.
    fn q_values<'py>(&self, py: Python<'py>, state: &PolicyState) -> PyResult<Vector<'py>> {
        Ok(self.inner.q_values(self.own(state)?).into_pyarray(py))
    }

    /// Probability of every action, (n_actions,).
    fn action_probs<'py>(&self, py: Python<'py>, state: &PolicyState) -> PyResult<Vector<'py>> {
        Ok(self.inner.action_probs(self.own(state)?).into_pyarray(py))
    }

    /// An action: drawn with `rng` (anything with `random()`), or else with the policy's own random stream.
    #[pyo3(signature = (state, rng=None))]
    fn action(&self, state: &PolicyState, rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        let probs = self.inner.action_probs(self.own(state)?);
        let Some(rng) = rng else {
            return Ok(Rng::stream(0, self.drawn.fetch_add(1, Ordering::Relaxed)).choose(&probs, 1.0));
        };
        let Ok(random) = rng.getattr("random") else {
            let kind = rng.get_type();
            return Err(PyTypeError::new_err(format!(
                "rng is a {kind}: give one of numpy.random.default_rng()"
            )));
        };
        Ok(Rng::pick(&probs, random.call0()?.extract()?))
    }

    /// The same values, acted on at another temperature.
    fn with_temperature<'py>(slf: &Bound<'py, Self>, temperature: f64) -> PyResult<Bound<'py, PyAny>> {
        Self::with(slf, [("temperature", Some(temperature.into_bound_py_any(slf.py())?))])
    }

    /// The same values, of which only those of the marked actions, (n_actions,), count; None: all. After the observations
    /// `after`, codes (n,) in increasing order where `n_observations` stands for the start, only those of `then` do,
    /// (n, n_actions).
    #[pyo3(signature = (supported, after=None, then=None))]
    fn with_support<'py>(
        slf: &Bound<'py, Self>,
        supported: Bound<'py, PyAny>,
        after: Option<Bound<'py, PyAny>>,
        then: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::with(
            slf,
            [("supported", Some(supported)), ("supported_after", after), ("supported_then", then)],
        )
    }

    /// The same values, acted on greedily.
    fn greedy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.call_method1("with_temperature", (0.0,))
    }

    /// This policy acting in `n` episodes at once.
    #[pyo3(signature = (n, *, seed=Whole(0)), text_signature = "($self, n, *, seed=0)")]
    fn batch(&self, n: Whole<i64>, seed: Whole<u64>) -> PyResult<PolicyBatch> {
        PolicyBatch::new(n.0, self.inner.n_actions(), |n| self.inner.clone().batch(n, seed.0))
    }

    /// Probability of every action before every step of the data: (n_steps, n_actions).
    #[pyo3(signature = (data, *, threads=None))]
    fn probs_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<Whole<i64>>,
    ) -> PyResult<Matrix<'py>> {
        self.before_steps(py, data, false, threads)
    }

    /// Value of every action before every step of the data: (n_steps, n_actions).
    #[pyo3(signature = (data, *, threads=None))]
    fn q_values_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<Whole<i64>>,
    ) -> PyResult<Matrix<'py>> {
        self.before_steps(py, data, true, threads)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let inner = &slf.get().inner;
        let ((actions, observations), temperature) =
            ((inner.n_actions(), inner.n_observations()), inner.rule().temperature);
        let acts = if temperature == 0.0 { "greedy".into() } else { format!("temperature {temperature:.4}") };
        let (name, what) = (slf.get_type().name()?, inner.describe());
        Ok(format!("{name}({actions} actions, {observations} observations, {what}, {acts})"))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, parts) = (slf.py(), slf.call_method0("parts")?.cast_into::<PyDict>()?);
        let partial = py.import("functools")?.getattr("partial")?;
        Ok((partial.call((slf.get_type(),), Some(&parts))?, PyTuple::empty(py)))
    }
}

/// Probabilities along the last axis of values (rows, n_actions), by the rule of all policies.
#[pyfunction]
#[pyo3(signature = (values, temperature, supported=None))]
pub fn softmax<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    temperature: f64,
    supported: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<Matrix<'py>> {
    let rule = Rule { temperature, supported: Part::take(supported)?, after: None };
    let (shape, mut probs) = ([values.shape()[0], values.shape()[1]], in_rows(&values)?.into_owned());
    rule.check(shape[1])?;
    if shape[1] > 0 {
        py.detach(|| probs.chunks_exact_mut(shape[1]).for_each(|row| rule.softmax(row)));
    }
    shaped(py, probs, shape)
}
