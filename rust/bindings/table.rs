//! Policies that look at the last symbol, or at the last observation, only.

use std::sync::Arc;

use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{in_rows, shaped};
use crate::bindings::policy::CompiledPolicy;
use crate::parts;
use crate::policies::{observation, table};
use crate::simulate::policy::Policy;

/// Action probabilities by last symbol.
///
/// The value of an action is the logarithm of its probability; temperature 1 acts by the table itself.
///
/// Parameters
/// ----------
/// probs : (n_symbols + 1, n_actions)
///     One row per symbol and a last one for the start.
/// n_observations : int
///     Size of the alphabet.
/// temperature : float
///     0 takes the most probable action, 1 acts by the table.
///
/// Examples
/// --------
/// >>> import numpy as np, uqf
/// >>> policy = uqf.TablePolicy(np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), 1)
/// >>> policy.action_probs(policy.update(policy.initial_state(), action=1, observation=0)).tolist()
/// [0.2, 0.8]
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct TablePolicy {
    inner: Arc<table::TablePolicy>,
}

#[pymethods]
impl TablePolicy {
    #[new]
    #[pyo3(signature = (probs, n_observations, *, temperature=1.0))]
    fn new(
        probs: PyReadonlyArray2<'_, f64>,
        n_observations: usize,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (n_actions, probs) = (probs.shape()[1], in_rows(&probs)?.into_owned());
        let inner = Arc::new(table::TablePolicy::new(probs, n_actions, n_observations, temperature)?);
        Ok(CompiledPolicy::of(inner, |inner| TablePolicy { inner }))
    }

    /// Action probabilities by symbol, with a last row for the start.
    #[getter]
    fn probs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (probs, n_actions) = (&self.inner.probs, self.inner.n_actions());
        shaped(py, probs.iter().copied(), [probs.len() / n_actions, n_actions])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parts!(PyDict::new(py), {
            "probs": self.probs(py)?,
            "n_observations": self.inner.n_observations(),
            "temperature": self.inner.temperature(),
        })
    }
}

/// Values by last observation.
///
/// Parameters
/// ----------
/// values : (n_observations + 1, n_actions)
///     The last row is for a start that showed nothing.
/// temperature : float
///     0 acts greedily; more draws actions from softmax(q_values / temperature).
///
/// Examples
/// --------
/// >>> import numpy as np, uqf
/// >>> policy = uqf.ObservationPolicy(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.4]]))
/// >>> policy.action(policy.update(policy.initial_state(), action=0, observation=0))
/// 1
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct ObservationPolicy {
    inner: Arc<observation::ObservationPolicy>,
}

#[pymethods]
impl ObservationPolicy {
    #[new]
    #[pyo3(signature = (values, *, temperature=0.0))]
    fn new(values: PyReadonlyArray2<'_, f64>, temperature: f64) -> PyResult<PyClassInitializer<Self>> {
        let (n_actions, values) = (values.shape()[1], in_rows(&values)?.into_owned());
        let inner = Arc::new(observation::ObservationPolicy::new(values, n_actions, temperature)?);
        Ok(CompiledPolicy::of(inner, |inner| ObservationPolicy { inner }))
    }

    /// (n_observations + 1, n_actions)
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (values, n_actions) = (&self.inner.values, self.inner.n_actions());
        shaped(py, values.iter().copied(), [values.len() / n_actions, n_actions])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parts!(PyDict::new(py), { "values": self.values(py)?, "temperature": self.inner.temperature() })
    }
}
