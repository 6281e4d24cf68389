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

/// Values (n_observations + 1, n_actions) by last observation, with a last row for a start that showed nothing.
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
