//! Policies that act on the state of an automaton.

use std::borrow::Cow;
use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, in_rows, small, threads as thread_count};
use crate::bindings::job;
use crate::bindings::policy::{CompiledPolicy, PolicyState};
use crate::parts;
use crate::policies::automaton::Automaton;
use crate::policies::automaton_policy::{self, Behavior, Memory};
use crate::simulate::policy::Policy;
use crate::trajectories::start_symbol;

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

fn numbers(array: Option<PyReadonlyArray2<'_, f64>>) -> PyResult<Vec<f64>> {
    Ok(array.map(|array| in_rows(&array).map(Cow::into_owned)).transpose()?.unwrap_or_default())
}

#[pymethods]
impl AutomatonPolicy {
    #[new]
    #[pyo3(signature = (*, symbols, operators, n_actions, n_observations, start, anchor, weights, actions=None,
                        propensities=None, normaliser=None, window=None, temperature=0.0, behavior=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
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
        let automaton = Automaton::new(rank, n_symbols, symbols.as_slice()?, operators);
        let inner = automaton_policy::AutomatonPolicy {
            automaton: Arc::new(automaton.map_err(|error| job::to_python(py, error))?),
            n_actions,
            n_observations,
            start: start.as_slice()?.to_vec(),
            anchor: anchor.as_slice()?.to_vec(),
            weights: in_rows(&weights)?.into_owned(),
            actions: actions.map(|list| small("actions", list.as_slice()?)).transpose()?.unwrap_or_default(),
            propensities: numbers(propensities)?,
            normaliser: normaliser.map(|vector| vector.as_slice().map(<[f64]>::to_vec)).transpose()?,
            window,
            temperature,
            behavior: behavior
                .map(|(policy, epsilon)| Behavior { policy: policy.get().inner.clone(), epsilon }),
        };
        inner.validate().map_err(|error| job::to_python(py, error))?;
        let inner = Arc::new(inner);
        Ok(CompiledPolicy::of(inner.clone(), AutomatonPolicy { inner }))
    }

    #[getter]
    fn rank(&self) -> usize {
        self.inner.automaton.rank()
    }

    /// (plans, rank); one plan for every action unless `parts()` say otherwise.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (weights, rank) = (&self.inner.weights, self.rank());
        weights.clone().into_pyarray(py).reshape([weights.len() / rank, rank])
    }

    /// (seen symbols, rank, rank)
    #[getter]
    fn operators<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (rank, operators) = (self.rank(), self.inner.automaton.operators());
        operators.to_vec().into_pyarray(py).reshape([operators.len() / (rank * rank), rank, rank])
    }

    /// The state vector of a memory, rescaled: (rank,).
    fn vector<'py>(&self, py: Python<'py>, state: &PolicyState) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let own = state.memory.downcast_ref::<Memory>().filter(|memory| self.inner.knows(memory));
        let message = "state = the memory of another policy: begin with initial_state()";
        let memory = own.ok_or_else(|| PyValueError::new_err(message))?;
        Ok(memory.state.clone().into_pyarray(py))
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
        if (view.n_actions, view.n_observations) != (policy.n_actions, policy.n_observations) {
            return Err(PyValueError::new_err("data and policy have different actions or observations"));
        }
        let states = job::long(py, None, |ticker| policy.states_along(&view, threads, ticker))?;
        states.into_pyarray(py).reshape([view.n_steps() + view.n_episodes(), self.rank()])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = &self.inner;
        let propensities =
            (!inner.propensities.is_empty()).then(|| inner.propensities.clone().into_pyarray(py));
        let rows = inner.propensities.len() / inner.n_actions;
        let actions = (!inner.actions.is_empty()).then(|| {
            inner.actions.iter().map(|&action| i64::from(action)).collect::<Vec<_>>().into_pyarray(py)
        });
        let wrapped = |behavior: &Behavior| -> PyResult<(Py<AutomatonPolicy>, f64)> {
            let inner = behavior.policy.clone();
            let policy = Py::new(py, CompiledPolicy::of(inner.clone(), AutomatonPolicy { inner }))?;
            Ok((policy, behavior.epsilon))
        };
        parts!(py, {
            "symbols": inner.automaton.symbols().into_pyarray(py),
            "operators": self.operators(py)?,
            "n_actions": inner.n_actions,
            "n_observations": inner.n_observations,
            "start": inner.start.clone().into_pyarray(py),
            "anchor": inner.anchor.clone().into_pyarray(py),
            "weights": self.weights(py)?,
            "actions": actions,
            "propensities": propensities.map(|table| table.reshape([rows, inner.n_actions])).transpose()?,
            "normaliser": inner.normaliser.clone().map(|vector| vector.into_pyarray(py)),
            "window": inner.window,
            "temperature": inner.temperature,
            "behavior": inner.behavior.as_ref().map(wrapped).transpose()?,
        })
    }
}
