//! Policies that look at the last symbol only.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::in_rows;
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::parts;
use crate::policies::table;
use crate::simulate::policy::Policy;

/// Action probabilities by last symbol: `probs` has one row per symbol and a last one for the start.
///
/// The value of an action is the logarithm of its probability; temperature 1 acts by the table itself.
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct TablePolicy {
    inner: Arc<table::TablePolicy>,
}

#[pymethods]
impl TablePolicy {
    #[new]
    #[pyo3(signature = (probs, n_observations, *, temperature=1.0))]
    fn new(
        py: Python<'_>,
        probs: PyReadonlyArray2<'_, f64>,
        n_observations: usize,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (n_actions, probs) = (probs.shape()[1], in_rows(&probs)?.into_owned());
        let made = table::TablePolicy::new(probs, n_actions, n_observations, temperature);
        let inner = Arc::new(made.map_err(|error| job::to_python(py, error))?);
        Ok(CompiledPolicy::of(inner.clone(), TablePolicy { inner }))
    }

    /// Action probabilities by symbol, with a last row for the start.
    #[getter]
    fn probs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (probs, n_actions) = (self.inner.probs(), self.inner.n_actions());
        probs.to_vec().into_pyarray(py).reshape([probs.len() / n_actions, n_actions])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parts!(py, {
            "probs": self.probs(py)?,
            "n_observations": self.inner.n_observations(),
            "temperature": self.inner.temperature(),
        })
    }
}
