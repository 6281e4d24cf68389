//! Hidden Markov models in which a state may show any observation, and plans in such models.

use numpy::{
    IntoPyArray, PyArray3, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, Whole, in_rows, threads as thread_count};
use crate::bindings::job;
use crate::error::Result;
use crate::learn::hidden::grow::Priors;
use crate::learn::hidden::{Coded, Growth, Model, grown};
use crate::learn::plan::{self, Settings};
use crate::{parts, settings};

#[pyfunction]
#[pyo3(signature = (data, judges, growth, *, numbers, noisy, seed, threads=None, progress=None))]
pub fn hidden_models<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    judges: Arrays<'py>,
    growth: &Bound<'py, PyAny>,
    numbers: (usize, usize),
    noisy: bool,
    seed: u64,
    threads: Option<Whole<i64>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (view, judging, threads) = (data.view()?, judges.view()?, thread_count(threads)?);
    let first: usize = growth.getattr("first")?.extract()?;
    let priors = settings!(growth, Priors { transitions, pooled, emissions, rewards, start });
    let growth = settings!(growth, Growth { trust, states, held_out, patience, evidence, explore, settle, batch, overshoot } + {
        first: if noisy { 0 } else { first.max(1) }, priors: priors, seed: seed
    });
    let (coded, models, likelihoods) = job::long(py, progress, |ticker| {
        let coded = Coded::of(&view)?;
        let models = grown(&coded, &growth, numbers.0..numbers.1, threads, ticker)?;
        let other = coded.like(&judging);
        let likely =
            models.iter().map(|model| model.likelihoods(&other, ticker)).collect::<Result<Vec<_>>>()?;
        Ok((coded, models, likely))
    })?;
    models.iter().zip(likelihoods).map(|(model, likely)| model_arrays(py, model, &coded, likely)).collect()
}

fn model_arrays<'py>(
    py: Python<'py>,
    model: &Model,
    coded: &Coded,
    likelihoods: Vec<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let (states, actions) = (model.states, coded.n_actions);
    parts!(PyDict::new(py), {
        "start": model.start.clone().into_pyarray(py),
        "transitions": model.going().into_pyarray(py).reshape([actions, states, states])?,
        "ends": model.ends().to_vec().into_pyarray(py),
        "emissions": model.shown(coded).into_pyarray(py).reshape([coded.codes.len(), states])?,
        "rewards": model.mean_rewards(coded).into_pyarray(py).reshape([actions, states])?,
        "likelihoods": likelihoods.into_pyarray(py),
    })
}

#[pyfunction]
#[pyo3(signature = (transitions, emissions, rewards, starts, discount, settings, *, seed))]
pub fn point_plan<'py>(
    py: Python<'py>,
    transitions: PyReadonlyArray3<'py, f32>,
    emissions: PyReadonlyArray3<'py, f32>,
    rewards: PyReadonlyArray2<'py, f32>,
    starts: PyReadonlyArray2<'py, f32>,
    discount: f64,
    settings: &Bound<'py, PyAny>,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray3<f32>>, f64)> {
    let (n_actions, n_observations) = (rewards.shape()[0], emissions.shape()[1]);
    let (transitions, emissions) = (in_rows(&transitions)?, in_rows(&emissions)?);
    let (rewards, starts) = (in_rows(&rewards)?, in_rows(&starts)?);
    let arrays =
        plan::Arrays { transitions: &transitions, emissions: &emissions, rewards: &rewards, starts: &starts };
    let settings = settings!(settings, Settings { points, rounds, sweeps, horizon });
    let result = job::long(py, None, |ticker| {
        let model = plan::Model::new(&arrays, n_actions, n_observations, discount)?;
        plan::plan(&model, &settings, seed, ticker)
    })?;
    Ok((result.vectors.0.into_pyarray(py), result.value))
}
