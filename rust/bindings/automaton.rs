//! Automata and the policies that act on their states.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::batch::PolicyBatch;
use crate::bindings::convert::{Arrays, threads as thread_count};
use crate::bindings::draw::Luck;
use crate::bindings::job;
use crate::plan::automaton;
use crate::plan::automaton_policy::{self, Behavior, Memory};
use crate::simulate::batch::Batch;
use crate::simulate::policy::Policy;

/// A number below `limit`.
fn index(name: &str, given: i64, limit: usize) -> PyResult<usize> {
    match usize::try_from(given) {
        Ok(value) if value < limit => Ok(value),
        _ => Err(PyValueError::new_err(format!("{name} = {given}: choose 0 to {}", limit.saturating_sub(1)))),
    }
}

/// Operators by symbol.
#[pyclass(frozen, module = "uqf._core")]
pub struct Automaton {
    inner: Arc<automaton::Automaton>,
}

#[pymethods]
impl Automaton {
    /// `operators` (seen, rank, rank) belong to `symbols` (seen,); the others are zero.
    #[new]
    fn new(
        py: Python<'_>,
        symbols: PyReadonlyArray1<'_, i64>,
        operators: PyReadonlyArray3<'_, f64>,
        n_symbols: usize,
    ) -> PyResult<Self> {
        let rank = operators.shape()[1];
        let made =
            automaton::Automaton::new(rank, n_symbols, symbols.as_slice()?, operators.as_slice()?.to_vec());
        made.map(|inner| Automaton { inner: Arc::new(inner) }).map_err(|error| job::to_python(py, error))
    }

    /// α A_word ω of every word; word i is `symbols[offsets[i]:offsets[i + 1]]`.
    fn values<'py>(
        &self,
        py: Python<'py>,
        alpha: PyReadonlyArray1<'py, f64>,
        omega: PyReadonlyArray1<'py, f64>,
        symbols: PyReadonlyArray1<'py, i64>,
        offsets: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (alpha, omega) = (alpha.as_slice()?, omega.as_slice()?);
        let (symbols, offsets) = (symbols.as_slice()?, offsets.as_slice()?);
        let fits = offsets.iter().all(|&o| o >= 0 && o as usize <= symbols.len());
        if alpha.len() != self.inner.rank()
            || omega.len() != self.inner.rank()
            || !fits
            || !offsets.is_sorted()
        {
            return Err(PyValueError::new_err(
                "alpha, omega or offsets do not fit the automaton and the words",
            ));
        }
        let word =
            |pair: &[i64]| self.inner.value(alpha, omega, &symbols[pair[0] as usize..pair[1] as usize]);
        let values = job::quick(py, || Ok(offsets.windows(2).map(word).collect::<Vec<f64>>()))?;
        Ok(values.into_pyarray(py))
    }

    /// The state (a row vector) after one more symbol; unscaled.
    fn step<'py>(
        &self,
        py: Python<'py>,
        state: PyReadonlyArray1<'py, f64>,
        symbol: i64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let state = state.as_slice()?;
        if state.len() != self.inner.rank() {
            return Err(PyValueError::new_err(format!(
                "state has {} entries, not {}",
                state.len(),
                self.inner.rank()
            )));
        }
        let symbol = index("symbol", symbol, self.inner.n_symbols())?;
        let mut next = vec![0.0; state.len()];
        let place = self.inner.place(symbol);
        if place != automaton::UNSEEN {
            self.inner.step(state, place, &mut next);
        }
        Ok(next.into_pyarray(py))
    }
}

/// What an automaton policy remembers of an episode.
#[pyclass(frozen, module = "uqf._core")]
pub struct AutomatonMemory {
    inner: Memory,
}

#[pymethods]
impl AutomatonMemory {
    /// The state vector, rescaled.
    #[getter]
    fn vector<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.state.clone().into_pyarray(py)
    }
}

/// Acts on the state of an automaton; see `uqf.learn` for how its parts are learned.
#[pyclass(frozen, module = "uqf._core")]
pub struct AutomatonPolicy {
    pub inner: Arc<automaton_policy::AutomatonPolicy>,
    luck: Luck,
}

impl AutomatonPolicy {
    /// The memory, if it is one of this policy.
    fn own<'m>(&self, state: &'m AutomatonMemory) -> PyResult<&'m Memory> {
        if self.inner.knows(&state.inner) {
            return Ok(&state.inner);
        }
        let (given, rank) = (state.inner.state.len(), self.inner.automaton.rank());
        Err(PyValueError::new_err(format!(
            "state is the memory of another policy (rank {given}, this one has rank {rank}); begin with initial_state()"
        )))
    }

    fn wrap(inner: automaton_policy::AutomatonPolicy) -> Self {
        AutomatonPolicy { inner: Arc::new(inner), luck: Luck::default() }
    }
}

type StatesAndRows<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl AutomatonPolicy {
    #[new]
    #[pyo3(signature = (automaton, *, n_actions, n_observations, start, anchor, weights, table=None,
                        normaliser=None, window=None, temperature=0.0, behavior=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        automaton: &Automaton,
        n_actions: usize,
        n_observations: usize,
        start: PyReadonlyArray1<'_, f64>,
        anchor: PyReadonlyArray1<'_, f64>,
        weights: PyReadonlyArray2<'_, f64>,
        table: Option<PyReadonlyArray2<'_, f64>>,
        normaliser: Option<PyReadonlyArray1<'_, f64>>,
        window: Option<usize>,
        temperature: f64,
        behavior: Option<(PyRef<'_, AutomatonPolicy>, f64)>,
    ) -> PyResult<Self> {
        let policy = automaton_policy::AutomatonPolicy {
            automaton: automaton.inner.clone(),
            n_actions,
            n_observations,
            start: start.as_slice()?.to_vec(),
            anchor: anchor.as_slice()?.to_vec(),
            weights: weights.as_slice()?.to_vec(),
            table: table.map(|table| table.as_slice().map(<[f64]>::to_vec)).transpose()?.unwrap_or_default(),
            normaliser: normaliser.map(|vector| vector.as_slice().map(<[f64]>::to_vec)).transpose()?,
            window,
            temperature,
            behavior: behavior.map(|(policy, epsilon)| Behavior { policy: policy.inner.clone(), epsilon }),
        };
        policy.validate().map_err(|error| job::to_python(py, error))?;
        Ok(Self::wrap(policy))
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations
    }

    /// 0 acts greedily; otherwise actions are drawn from softmax(q_values / temperature).
    #[getter]
    fn temperature(&self) -> f64 {
        self.inner.temperature
    }

    #[getter]
    fn rank(&self) -> usize {
        self.inner.automaton.rank()
    }

    /// Symbols that have an operator, in the order of `operators`.
    #[getter]
    fn symbols<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.inner.automaton.symbols().into_pyarray(py)
    }

    /// (seen symbols, rank, rank)
    #[getter]
    fn operators<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (rank, operators) = (self.rank(), self.inner.automaton.operators());
        operators.to_vec().into_pyarray(py).reshape([operators.len() / (rank * rank), rank, rank])
    }

    /// State of the empty history, (rank,).
    #[getter]
    fn start<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.start.clone().into_pyarray(py)
    }

    /// State of an unknown history, (rank,).
    #[getter]
    fn anchor<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.anchor.clone().into_pyarray(py)
    }

    /// (n_actions, rank)
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.inner.weights.clone().into_pyarray(py).reshape([self.inner.n_actions, self.rank()])
    }

    /// (seen symbols + 2, n_actions), or None.
    #[getter]
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let (table, n_actions) = (&self.inner.table, self.inner.n_actions);
        if table.is_empty() {
            return Ok(None);
        }
        table.clone().into_pyarray(py).reshape([table.len() / n_actions, n_actions]).map(Some)
    }

    /// What the state is scaled by, (rank,), or None.
    #[getter]
    fn normaliser<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.inner.normaliser.clone().map(|vector| vector.into_pyarray(py))
    }

    /// Only the last so many symbols count; None for the whole history.
    #[getter]
    fn window(&self) -> Option<usize> {
        self.inner.window
    }

    /// Whether values are divided by the probabilities of a behaviour policy.
    #[getter]
    fn has_behavior(&self) -> bool {
        self.inner.behavior.is_some()
    }

    /// (behaviour policy, epsilon) whose probabilities values are divided by, or None.
    #[getter]
    fn behavior(&self) -> Option<(Self, f64)> {
        let wrapped = |policy| AutomatonPolicy { inner: policy, luck: Luck::default() };
        self.inner.behavior.as_ref().map(|behavior| (wrapped(behavior.policy.clone()), behavior.epsilon))
    }

    /// This policy acting in `n` episodes at once.
    #[pyo3(signature = (n, *, seed=0))]
    fn batch(&self, n: i64, seed: u64) -> PyResult<PolicyBatch> {
        let policy = self.inner.clone();
        let (n_actions, n_observations) = (policy.n_actions, policy.n_observations);
        PolicyBatch::new(n, n_actions, |n| Batch::new(policy, n_actions, n_observations, n, seed))
    }

    /// The same values, acted on greedily.
    fn greedy(&self, py: Python<'_>) -> PyResult<Self> {
        self.with_temperature(py, 0.0)
    }

    /// The same values, acted on at another temperature.
    fn with_temperature(&self, py: Python<'_>, temperature: f64) -> PyResult<Self> {
        let policy = automaton_policy::AutomatonPolicy { temperature, ..(*self.inner).clone() };
        policy.validate().map_err(|error| job::to_python(py, error))?;
        Ok(Self::wrap(policy))
    }

    fn initial_state(&self) -> AutomatonMemory {
        AutomatonMemory { inner: self.inner.start() }
    }

    /// The memory after one more step; `state` itself does not change.
    fn update(&self, state: &AutomatonMemory, action: i64, observation: i64) -> PyResult<AutomatonMemory> {
        let action = index("action", action, self.inner.n_actions)?;
        let observation = index("observation", observation, self.inner.n_observations)?;
        let mut memory = self.own(state)?.clone();
        self.inner.update(&mut memory, action, observation);
        Ok(AutomatonMemory { inner: memory })
    }

    /// Value of every action; comparable across actions at one history, not across histories.
    fn q_values<'py>(&self, py: Python<'py>, state: &AutomatonMemory) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut values = vec![0.0; self.inner.n_actions];
        self.inner.q_values(self.own(state)?, &mut values);
        Ok(values.into_pyarray(py))
    }

    fn action_probs<'py>(
        &self,
        py: Python<'py>,
        state: &AutomatonMemory,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut probs = vec![0.0; self.inner.n_actions];
        self.inner.action_probs(self.own(state)?, &mut probs);
        Ok(probs.into_pyarray(py))
    }

    /// An action: drawn with `rng` (anything with `random()`), or else with the policy's own luck.
    #[pyo3(signature = (state, rng=None))]
    fn action(&self, state: &AutomatonMemory, rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        let mut probs = vec![0.0; self.inner.n_actions];
        self.inner.action_probs(self.own(state)?, &mut probs);
        self.luck.draw(&probs, rng)
    }

    /// What is remembered before every step of a data set: states (n_steps, rank), rows of the table (n_steps,).
    #[pyo3(signature = (data, *, threads=None))]
    fn states_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<i64>,
    ) -> PyResult<StatesAndRows<'py>> {
        let (view, threads, policy) = (data.view()?, thread_count(threads)?, self.inner.as_ref());
        if (view.n_actions, view.n_observations) != (policy.n_actions, policy.n_observations) {
            return Err(PyValueError::new_err("data and policy have different actions or observations"));
        }
        let run = |ticker: &_| automaton_policy::states_along(policy, &view, threads, ticker);
        let (states, rows) = job::long(py, None, run)?;
        let states = states.into_pyarray(py).reshape([view.n_steps(), policy.automaton.rank()])?;
        Ok((states, rows.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py)))
    }
}
