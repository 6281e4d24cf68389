//! Policies on the beliefs of cloned hidden Markov models.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, collected, in_rows, large, same_alphabets, shaped, small, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::parts;
use crate::policies::belief::{self, Beliefs, Joined};
use crate::policies::belief_filter::Filter;

/// Models one after the other: states (models,), starts, transitions, and the range of states of every observation.
pub fn filter_parts<'py>(py: Python<'py>, beliefs: &Beliefs) -> PyResult<Bound<'py, PyDict>> {
    let filters = &beliefs.filters;
    let joined = |part: fn(&Filter) -> &Vec<f32>| collected(py, filters.iter().flat_map(part).copied());
    let ranges = filters.iter().flat_map(|filter| &filter.ranges).flat_map(|&(low, high)| [low, high]);
    let shape = [filters.len(), filters.first().map_or(0, |filter| filter.ranges.len()), 2];
    parts!(PyDict::new(py), {
        "states": collected(py, filters.iter().map(|filter| filter.n_states as i64)),
        "starts": joined(|filter| &filter.start),
        "transitions": joined(|filter| &filter.transitions),
        "shown": joined(|filter| &filter.shown),
        "ranges": large(py, ranges).reshape(shape)?,
        "opens": beliefs.opens,
        "kinds": large(py, beliefs.kinds.iter().copied()),
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
/// shown : float32, optional
///     The (n_observations, states) of every model, flat: probability that a state shows an observation. By default a
///     state shows those in whose range it lies.
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
    #[pyo3(signature = (*, states, starts, transitions, ranges, kinds, weights, bias, shown=None, opens=false, temperature=0.0))]
    fn new(
        states: PyReadonlyArray1<'_, i64>,
        starts: PyReadonlyArray1<'_, f32>,
        transitions: PyReadonlyArray1<'_, f32>,
        ranges: PyReadonlyArray3<'_, i64>,
        kinds: PyReadonlyArray1<'_, i64>,
        weights: PyReadonlyArray2<'_, f64>,
        bias: PyReadonlyArray1<'_, f64>,
        shown: Option<PyReadonlyArray1<'_, f32>>,
        opens: bool,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (n_actions, n_observations) = (bias.len(), ranges.shape()[1]);
        let (flat, kinds) = (small("ranges", &in_rows(&ranges)?)?, small("kinds", kinds.as_slice()?)?);
        let arrays = Joined {
            states: states.as_slice()?,
            starts: starts.as_slice()?,
            transitions: transitions.as_slice()?,
            shown: shown.as_ref().map_or(Ok(&[][..]), |shown| shown.as_slice())?,
            ranges: &flat,
        };
        let beliefs = Beliefs::cut(arrays, kinds, opens, n_observations)?;
        let (weights, bias) = (in_rows(&weights)?.into_owned(), bias.as_slice()?.to_vec());
        let beliefs = Arc::new(beliefs);
        let inner = belief::BeliefPolicy { n_actions, n_observations, beliefs, weights, bias, temperature };
        inner.validate()?;
        Ok(CompiledPolicy::of(Arc::new(inner), |inner| BeliefPolicy { inner }))
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
        same_alphabets("policy", &view, self.inner.n_actions, self.inner.n_observations)?;
        let rows = job::long(py, None, |ticker| beliefs.along(&view, threads, ticker))?;
        shaped(py, rows, [view.n_steps() + view.n_episodes(), 1 + beliefs.n_features])
    }

    /// (features, n_actions)
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [self.inner.beliefs.n_features, self.inner.n_actions];
        shaped(py, self.inner.weights.iter().copied(), shape)
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parts!(filter_parts(py, &self.inner.beliefs)?, {
            "weights": self.weights(py)?,
            "bias": self.inner.bias.clone().into_pyarray(py),
            "temperature": self.inner.temperature,
        })
    }
}
