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
