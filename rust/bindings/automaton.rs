//! Automata, and policies that act on their states.

use std::borrow::Cow;
use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, below, in_rows, large, same_alphabets, shaped, small, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::policy::{CompiledPolicy, PolicyState};
use crate::parts;
use crate::policies::any::own;
use crate::policies::automaton;
use crate::policies::automaton_policy::{self, Behavior};
use crate::policies::places::UNSEEN;
use crate::trajectories::start_symbol;

/// Operators by symbol.
#[pyclass(frozen, module = "uqf._core")]
pub struct Automaton {
    inner: automaton::Automaton,
}

#[pymethods]
impl Automaton {
    /// `operators` (seen, rank, rank) belong to `symbols` (seen,); the others are zero.
    #[new]
    fn new(
        symbols: PyReadonlyArray1<'_, i64>,
        operators: PyReadonlyArray3<'_, f64>,
        n_symbols: usize,
    ) -> PyResult<Self> {
        let (rank, operators) = (operators.shape()[1], in_rows(&operators)?.into_owned());
        Ok(Automaton { inner: automaton::Automaton::new(rank, n_symbols, symbols.as_slice()?, operators)? })
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
        let values = job::quick(py, || self.inner.values(alpha, omega, symbols, offsets))?;
        Ok(values.into_pyarray(py))
    }

    /// The state (a row vector) after one more symbol; unscaled.
    fn step<'py>(
        &self,
        py: Python<'py>,
        state: PyReadonlyArray1<'py, f64>,
        symbol: i64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (state, rank) = (state.as_slice()?, self.inner.rank());
        if state.len() != rank {
            return Err(PyValueError::new_err(format!("state has {} entries, not {rank}", state.len())));
        }
        let mut next = vec![0.0; rank];
        let place = self.inner.place(below("symbol", symbol, self.inner.n_symbols())?);
        if place != UNSEEN {
            self.inner.step(state, place, &mut next);
        }
        Ok(next.into_pyarray(py))
    }
}

/// Acts on the state αᵀA_h of an automaton, which is rescaled at every step by a positive number.
///
/// The symbol n_actions · n_observations + o is that of o shown before the first action. A symbol without an operator
/// brings the state of an unknown history.
///
/// Parameters
/// ----------
/// symbols, operators : (seen,), (seen, rank, rank)
///     The symbols that have an operator, and these.
/// n_actions, n_observations : int
///     Sizes of the alphabets.
/// start, anchor : (rank,)
///     States of the empty history and of an unknown one, where windows begin.
/// weights : (n_actions, rank), or (plans, rank)
///     What an action is worth; with plans, the best plan that begins with it, −inf if none does.
/// actions : (plans,), optional
///     The first action of every plan.
/// propensities : (seen + 2, n_actions), optional
///     Π(a | last symbol), then for an unseen symbol and for the start; values are divided by them.
/// normaliser : (rank,), optional
///     The state is scaled to normaliser · state = 1; without, to largest entry 1.
/// window : int, optional
///     Only the last so many symbols count.
/// temperature : float
///     0 acts greedily; more draws actions from softmax(q_values / temperature).
/// behavior : (AutomatonPolicy, epsilon), optional
///     By whose probabilities values are divided.
///
/// Examples
/// --------
/// >>> import uqf
/// >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
/// >>> policy = uqf.UQF(rank=2, discount=0.95).fit(data).policy_
/// >>> type(policy).__name__, policy.rank
/// ('AutomatonPolicy', 2)
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct AutomatonPolicy {
    pub inner: Arc<automaton_policy::AutomatonPolicy>,
}

impl AutomatonPolicy {
    pub fn wrapped(inner: Arc<automaton_policy::AutomatonPolicy>) -> PyClassInitializer<Self> {
        CompiledPolicy::of(inner, |inner| AutomatonPolicy { inner })
    }
}

#[pymethods]
impl AutomatonPolicy {
    #[new]
    #[pyo3(signature = (*, symbols, operators, n_actions, n_observations, start, anchor, weights, actions=None,
                        propensities=None, normaliser=None, window=None, temperature=0.0, behavior=None))]
    fn new(
        symbols: PyReadonlyArray1<'_, i64>,
        operators: PyReadonlyArray3<'_, f64>,
        n_actions: usize,
        n_observations: usize,
        start: PyReadonlyArray1<'_, f64>,
        anchor: PyReadonlyArray1<'_, f64>,
        weights: PyReadonlyArray2<'_, f64>,
        actions: Option<PyReadonlyArray1<'_, i64>>,
        propensities: Option<PyReadonlyArray2<'_, f64>>,
        normaliser: Option<PyReadonlyArray1<'_, f64>>,
        window: Option<usize>,
        temperature: f64,
        behavior: Option<(Bound<'_, AutomatonPolicy>, f64)>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (rank, n_symbols) = (operators.shape()[1], start_symbol(n_actions, n_observations));
        let operators = in_rows(&operators)?.into_owned();
        let automaton = automaton::Automaton::new(rank, n_symbols, symbols.as_slice()?, operators)?;
        let inner = automaton_policy::AutomatonPolicy {
            automaton: Arc::new(automaton),
            n_actions,
            n_observations,
            start: start.as_slice()?.to_vec(),
            anchor: anchor.as_slice()?.to_vec(),
            weights: in_rows(&weights)?.into_owned(),
            actions: actions.map_or(Ok(Vec::new()), |list| small("actions", list.as_slice()?))?,
            propensities: propensities
                .map_or(Ok(Vec::new()), |array| in_rows(&array).map(Cow::into_owned))?,
            normaliser: normaliser.map(|vector| vector.as_slice().map(<[f64]>::to_vec)).transpose()?,
            window,
            temperature,
            behavior: behavior
                .map(|(policy, epsilon)| Behavior { policy: policy.get().inner.clone(), epsilon }),
        };
        inner.validate()?;
        Ok(Self::wrapped(Arc::new(inner)))
    }

    #[getter]
    fn rank(&self) -> usize {
        self.inner.automaton.rank()
    }

    /// (plans, rank); one plan for every action unless `parts()` say otherwise.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (weights, rank) = (&self.inner.weights, self.rank());
        shaped(py, weights.iter().copied(), [weights.len() / rank, rank])
    }

    /// (seen symbols, rank, rank)
    #[getter]
    fn operators<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (rank, operators) = (self.rank(), self.inner.automaton.operators());
        shaped(py, operators.iter().copied(), [operators.len() / (rank * rank), rank, rank])
    }

    /// The state vector of a memory, rescaled: (rank,).
    fn vector<'py>(&self, py: Python<'py>, state: &PolicyState) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(own(self.inner.as_ref(), &state.memory)?.state.clone().into_pyarray(py))
    }

    /// State vectors at every cut of a data set, also after the last step: (n_steps + n_episodes, rank).
    #[pyo3(signature = (data, *, threads=None))]
    fn states_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (view, threads, policy) = (data.view()?, thread_count(threads)?, self.inner.as_ref());
        same_alphabets("policy", &view, policy.n_actions, policy.n_observations)?;
        let states = job::long(py, None, |ticker| policy.states_along(&view, threads, ticker))?;
        shaped(py, states, [view.n_steps() + view.n_episodes(), self.rank()])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = &self.inner;
        let rows = inner.propensities.len() / inner.n_actions;
        let propensities = || shaped(py, inner.propensities.iter().copied(), [rows, inner.n_actions]);
        let actions = (!inner.actions.is_empty()).then(|| large(py, inner.actions.iter().copied()));
        let wrapped = |behavior: &Behavior| -> PyResult<(Py<AutomatonPolicy>, f64)> {
            Ok((Py::new(py, Self::wrapped(behavior.policy.clone()))?, behavior.epsilon))
        };
        parts!(PyDict::new(py), {
            "symbols": inner.automaton.places.symbols().into_pyarray(py),
            "operators": self.operators(py)?,
            "n_actions": inner.n_actions,
            "n_observations": inner.n_observations,
            "start": inner.start.clone().into_pyarray(py),
            "anchor": inner.anchor.clone().into_pyarray(py),
            "weights": self.weights(py)?,
            "actions": actions,
            "propensities": (rows > 0).then(propensities).transpose()?,
            "normaliser": inner.normaliser.clone().map(|vector| vector.into_pyarray(py)),
            "window": inner.window,
            "temperature": inner.temperature,
            "behavior": inner.behavior.as_ref().map(wrapped).transpose()?,
        })
    }
}
