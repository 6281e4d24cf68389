//! Hidden Markov models in which a state may show any observation.

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, Whole, threads as thread_count};
use crate::bindings::job;
use crate::learn::hidden::grow::Priors;
use crate::learn::hidden::{Coded, Growth, Model, Start, grown};

/// Models of some episodes, each a dict of start (S,), transitions (A, S, S), the probability of the next state and of
/// going on; ends (S,), the probability that reaching a state is the end; emissions (O, S), what a state shows if it is
/// not, ones for what was never seen; rewards (A, S), means; likelihoods (episodes,), logarithms, of the episodes of
/// `judges`.
///
/// trust : float, optional
///     Begins at one state for every observation, which is what it seems with this probability; otherwise at `first`
///     states, which are split.
/// priors : of a row of transitions, of the same as all actions have it, of emissions, of rewards, of a start state
#[pyfunction]
#[pyo3(signature = (data, judges, *, numbers, states, first, trust, explore, settle, batch, overshoot, priors, held_out,
    patience, seed, threads=None, progress=None))]
pub fn hidden_models<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    judges: Arrays<'py>,
    numbers: (usize, usize),
    states: usize,
    first: usize,
    trust: Option<f32>,
    explore: usize,
    settle: usize,
    batch: usize,
    overshoot: f32,
    priors: (f32, f32, f32, f32, f32),
    held_out: f64,
    patience: usize,
    seed: u64,
    threads: Option<Whole<i64>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (view, judging, threads) = (data.view()?, judges.view()?, thread_count(threads)?);
    let (transitions, pooled, emissions, rewards, start) = priors;
    let growth = Growth {
        start: trust.map_or(Start::Random(first.max(1)), Start::Seen),
        states,
        held_out,
        patience,
        explore,
        settle,
        batch,
        overshoot,
        priors: Priors { transitions, pooled, emissions, rewards, start },
        seed,
    };
    let (coded, models, likelihoods) = job::long(py, progress, |ticker| {
        let coded = Coded::of(&view)?;
        let models = grown(&coded, &growth, numbers.0..numbers.1, threads, ticker)?;
        let other = coded.like(&judging);
        let likely: crate::error::Result<Vec<_>> =
            models.iter().map(|model| model.likelihoods(&other, ticker)).collect();
        Ok((coded, models, likely?))
    })?;
    let each = models.iter().zip(likelihoods);
    each.map(|(model, likelihoods)| {
        let arrays = model_arrays(py, model, &coded)?;
        arrays.set_item("likelihoods", likelihoods.into_pyarray(py))?;
        Ok(arrays)
    })
    .collect()
}

fn model_arrays<'py>(py: Python<'py>, model: &Model, coded: &Coded) -> PyResult<Bound<'py, PyDict>> {
    let (states, actions) = (model.states, coded.n_actions);
    let arrays = PyDict::new(py);
    arrays.set_item("start", model.start.clone().into_pyarray(py))?;
    let transitions = model.going().into_pyarray(py).reshape([actions, states, states])?;
    arrays.set_item("transitions", transitions)?;
    arrays.set_item("ends", model.ends().to_vec().into_pyarray(py))?;
    let emissions = model.shown(coded).into_pyarray(py).reshape([coded.codes.len(), states])?;
    arrays.set_item("emissions", emissions)?;
    arrays.set_item("rewards", model.mean_rewards(coded).into_pyarray(py).reshape([actions, states])?)?;
    Ok(arrays)
}
