//! Policies that look at the last observation only.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::parts;
use crate::policies::observation;
use crate::simulate::policy::Policy;

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
    fn new(
        py: Python<'_>,
        values: PyReadonlyArray2<'_, f64>,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (n_actions, values) = (values.shape()[1], values.as_slice()?.to_vec());
        let made = observation::ObservationPolicy::new(values, n_actions, temperature);
        let inner = Arc::new(made.map_err(|error| job::to_python(py, error))?);
        Ok(CompiledPolicy::of(inner.clone(), ObservationPolicy { inner }))
    }

    /// (n_observations + 1, n_actions)
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (values, n_actions) = (self.inner.values(), self.inner.n_actions());
        values.to_vec().into_pyarray(py).reshape([values.len() / n_actions, n_actions])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parts!(py, { "values": self.values(py)?, "temperature": self.inner.temperature() })
    }
}
