//! Policies along logged episodes.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::convert::{Arrays, threads as thread_count};
use crate::bindings::job;
use crate::bindings::policies::Compiled;
use crate::simulate::replay;
use crate::with_policy;

/// Probability of every action before every step of the data: (n_steps, n_actions). None is the uniform policy.
#[pyfunction]
#[pyo3(signature = (data, policy, *, threads=None))]
pub fn action_probabilities<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    policy: Option<Compiled<'py>>,
    threads: Option<i64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (view, threads) = (data.view()?, thread_count(threads)?);
    let own = policy.as_ref().map(Compiled::alphabet);
    if let Some((actions, observations)) = own.filter(|&sizes| sizes != (view.n_actions, view.n_observations))
    {
        return Err(PyValueError::new_err(format!(
            "policy has {actions} actions and {observations} observations, the data have {} and {}",
            view.n_actions, view.n_observations
        )));
    }
    let probs = with_policy!(&policy, policy => {
        job::long(py, None, |ticker| replay::action_probabilities(policy, &view, threads, ticker))
    })?;
    probs.into_pyarray(py).reshape([view.n_steps(), view.n_actions])
}
