//! Policies on the beliefs of cloned hidden Markov models.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, in_rows, small, threads as thread_count};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::parts;
use crate::policies::belief::{self, Beliefs};
use crate::policies::belief_filter::Filter;

/// Models one after the other: states (models,), starts, transitions, and the range of states of every observation.
pub fn filter_parts<'py>(py: Python<'py>, beliefs: &Beliefs) -> PyResult<Bound<'py, PyDict>> {
    let filters = beliefs.filters();
    let joined = |part: fn(&Filter) -> &Vec<f32>| filters.iter().flat_map(part).copied().collect::<Vec<_>>();
    let states: Vec<i64> = filters.iter().map(|filter| filter.n_states as i64).collect();
    let ranges = filters.iter().flat_map(|filter| &filter.ranges);
    let ranges: Vec<i64> = ranges.flat_map(|&(low, high)| [i64::from(low), i64::from(high)]).collect();
    let shape = [filters.len(), ranges.len() / (2 * filters.len()).max(1), 2];
    parts!(py, {
        "states": states.into_pyarray(py),
        "starts": joined(|filter| &filter.start).into_pyarray(py),
        "transitions": joined(|filter| &filter.transitions).into_pyarray(py),
        "ranges": ranges.into_pyarray(py).reshape(shape)?,
        "opens": beliefs.opens(),
        "kinds": beliefs.kinds().iter().map(|&kind| i64::from(kind)).collect::<Vec<_>>().into_pyarray(py),
    })
}

/// Acts on bias + weights · beliefs of several cloned hidden Markov models.
///
/// Parameters
/// ----------
/// states : (models,)
///     The states of each.
/// starts : (features,), float32
///     Beliefs at the start.
/// transitions : float32
///     The (kinds, states, states) of every model, flat: probability of going on and of the next state.
/// ranges : (models, n_observations, 2)
///     First and last + 1 of the states that show an observation.
/// kinds : (n_actions,)
///     Which transition matrix an action has.
/// weights, bias : (features, n_actions), (n_actions,)
///     What an action is worth, linear in the beliefs.
/// opens : bool
///     Whether the models know what an episode shows before its first action.
/// temperature : float
///     0 acts greedily; more draws actions from softmax(q_values / temperature).
///
/// Examples
/// --------
/// >>> import uqf
/// >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
/// >>> policy = uqf.BeliefQ(0.95, states=4, models=1).fit(data).policy_
/// >>> type(policy).__name__, policy.n_actions
/// ('BeliefPolicy', 3)
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct BeliefPolicy {
    inner: Arc<belief::BeliefPolicy>,
}

#[pymethods]
impl BeliefPolicy {
    #[new]
    #[pyo3(signature = (*, states, starts, transitions, ranges, kinds, weights, bias, opens=false, temperature=0.0))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        states: PyReadonlyArray1<'_, i64>,
        starts: PyReadonlyArray1<'_, f32>,
        transitions: PyReadonlyArray1<'_, f32>,
        ranges: PyReadonlyArray3<'_, i64>,
        kinds: PyReadonlyArray1<'_, i64>,
        weights: PyReadonlyArray2<'_, f64>,
        bias: PyReadonlyArray1<'_, f64>,
        opens: bool,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (n_actions, n_observations) = (bias.len(), ranges.shape()[1]);
        let (flat, kinds) = (small("ranges", &in_rows(&ranges)?)?, small("kinds", kinds.as_slice()?)?);
        let (starts, transitions) = (starts.as_slice()?, transitions.as_slice()?);
        let beliefs =
            Beliefs::cut(states.as_slice()?, starts, transitions, &flat, kinds, opens, n_observations);
        let weights = in_rows(&weights)?.into_owned();
        let made = beliefs.and_then(|beliefs| {
            let bias = bias.as_slice().map(<[f64]>::to_vec).unwrap_or_default();
            let beliefs = Arc::new(beliefs);
            let policy =
                belief::BeliefPolicy { n_actions, n_observations, beliefs, weights, bias, temperature };
            policy.validate().map(|()| policy)
        });
        let inner = Arc::new(made.map_err(|error| job::to_python(py, error))?);
        Ok(CompiledPolicy::of(inner.clone(), BeliefPolicy { inner }))
    }

    /// [1, beliefs] at every cut of the data, also after the last step: (n_steps + n_episodes, 1 + features).
    #[pyo3(signature = (data, *, threads=None))]
    fn beliefs_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (view, threads, beliefs) = (data.view()?, thread_count(threads)?, &self.inner.beliefs);
        if (view.n_actions, view.n_observations) != (self.inner.n_actions, self.inner.n_observations) {
            return Err(PyValueError::new_err("data and policy have different actions or observations"));
        }
        let rows = job::long(py, None, |ticker| beliefs.along(&view, threads, ticker))?;
        rows.into_pyarray(py).reshape([view.n_steps() + view.n_episodes(), 1 + beliefs.n_features()])
    }

    /// (features, n_actions)
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [self.inner.beliefs.n_features(), self.inner.n_actions];
        self.inner.weights.clone().into_pyarray(py).reshape(shape)
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = filter_parts(py, &self.inner.beliefs)?;
        parts.set_item("weights", self.weights(py)?)?;
        parts.set_item("bias", self.inner.bias.clone().into_pyarray(py))?;
        parts.set_item("temperature", self.inner.temperature)?;
        Ok(parts)
    }
}
