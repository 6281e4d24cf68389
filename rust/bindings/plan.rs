//! Plans in a finite model.

use numpy::{IntoPyArray, PyArray3, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::bindings::convert::in_rows;
use crate::bindings::job;
use crate::learn::plan::{Arrays, Model, Settings, plan};

/// (vectors (A, V, S), the value of the start): what an action is worth at a belief is the largest product.
#[pyfunction]
#[pyo3(signature = (transitions, emissions, rewards, starts, discount, *, points, rounds, sweeps, horizon, seed))]
pub fn point_plan<'py>(
    py: Python<'py>,
    transitions: PyReadonlyArray3<'py, f32>,
    emissions: PyReadonlyArray3<'py, f32>,
    rewards: PyReadonlyArray2<'py, f32>,
    starts: PyReadonlyArray2<'py, f32>,
    discount: f64,
    points: usize,
    rounds: usize,
    sweeps: usize,
    horizon: usize,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray3<f32>>, f64)> {
    let (n_actions, n_observations) = (rewards.shape()[0], emissions.shape()[1]);
    let (transitions, emissions) = (in_rows(&transitions)?, in_rows(&emissions)?);
    let (rewards, starts) = (in_rows(&rewards)?, in_rows(&starts)?);
    let arrays =
        Arrays { transitions: &transitions, emissions: &emissions, rewards: &rewards, starts: &starts };
    let settings = Settings { points, rounds, sweeps, horizon };
    let result = job::long(py, None, |ticker| {
        let model = Model::new(&arrays, n_actions, n_observations, discount)?;
        plan(&model, &settings, seed, ticker)
    })?;
    Ok((result.vectors.0.into_pyarray(py), result.value))
}
