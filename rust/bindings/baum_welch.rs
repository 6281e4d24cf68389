//! The expectation step of Baum–Welch.

use numpy::{
    IntoPyArray, PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::bindings::convert::{Arrays, in_rows, threads as thread_count};
use crate::bindings::job;
use crate::learn::beliefs::baum_welch::{self, Model};

type Cube<'py> = Bound<'py, PyArray3<f64>>;
type Counts<'py> = (f64, Bound<'py, PyArray1<f64>>, Cube<'py>, Cube<'py>, Cube<'py>);

/// (log-likelihood, counts of starts (S,), of transitions (A, S, S), of observations (A, S, O), rewards (A, S, S)).
#[pyfunction]
#[pyo3(signature = (data, start, transitions, observations, *, threads=None))]
pub fn expected_counts<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    start: PyReadonlyArray1<'py, f64>,
    transitions: PyReadonlyArray3<'py, f64>,
    observations: PyReadonlyArray3<'py, f64>,
    threads: Option<i64>,
) -> PyResult<Counts<'py>> {
    let (view, threads) = (data.view()?, thread_count(threads)?);
    let (transitions, observations) = (in_rows(&transitions)?, in_rows(&observations)?);
    let model = Model {
        n_states: start.len(),
        start: start.as_slice()?,
        transitions: &transitions,
        observations: &observations,
    };
    let found = job::long(py, None, |ticker| baum_welch::expected_counts(&view, &model, threads, ticker))?;
    let (actions, states) = (view.n_actions, model.n_states);
    Ok((
        found.log_likelihood,
        found.start.into_pyarray(py),
        found.transitions.into_pyarray(py).reshape([actions, states, states])?,
        found.observations.into_pyarray(py).reshape([actions, states, view.n_observations])?,
        found.rewards.into_pyarray(py).reshape([actions, states, states])?,
    ))
}
