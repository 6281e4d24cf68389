//! Episodes: played, checked, selected, and sums within them.

use std::sync::Arc;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::bindings::convert::{
    Arrays, Matrix, Vector, Whole, count, field, in_rows, shaped, threads as thread_count,
    trajectories_to_python,
};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::bindings::worlds::World;
use crate::learn::values::Differences;
use crate::policies::any::AnyPolicy;
use crate::simulate::policy::Uniform;
use crate::simulate::rollout::Schedule;
use crate::sums;

/// The policy, or the uniform one for None; one that could not act in this world is refused.
fn policy_or_uniform(
    policy: Option<Bound<'_, CompiledPolicy>>,
    world: &World,
) -> PyResult<Arc<dyn AnyPolicy>> {
    let (n_actions, n_observations) = (world.inner.n_actions(), world.inner.n_observations());
    let Some(policy) = policy else { return Ok(Arc::new(Uniform { n_actions, n_observations })) };
    let policy = policy.get().inner.clone();
    let (actions, observations) = (policy.n_actions(), policy.n_observations());
    if actions != n_actions || observations < n_observations {
        return Err(PyValueError::new_err(format!(
            "policy has {actions} actions and {observations} observations, the world has {n_actions} and \
             {n_observations}"
        )));
    }
    Ok(policy)
}

/// Which episodes are played, and how, from what `World.schedule` made in Python.
fn schedule(given: &Bound<'_, PyDict>, threads: Option<Whole<i64>>) -> PyResult<Schedule> {
    let part = |name: &str| field(given, "schedule", name);
    let number = |name: &str| count(name, part(name)?.extract()?);
    Ok(Schedule {
        episodes: number("episodes")?,
        first: number("first")?,
        horizon: number("horizon")?,
        epsilon: part("epsilon")?.extract()?,
        seed: part("seed")?.extract()?,
        threads: thread_count(threads)?,
    })
}

#[pyfunction]
#[pyo3(signature = (world, policy, schedule, *, threads=None, progress=None))]
pub fn rollout<'py>(
    py: Python<'py>,
    world: &World,
    policy: Option<Bound<'py, CompiledPolicy>>,
    schedule: &Bound<'py, PyDict>,
    threads: Option<Whole<i64>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let schedule = self::schedule(schedule, threads)?;
    let (policy, world) = (policy_or_uniform(policy, world)?, world.inner.as_ref());
    let data = job::long(py, progress.as_ref(), |ticker| policy.rollout(world, &schedule, ticker))?;
    trajectories_to_python(py, data)
}

#[pyfunction]
pub fn validate(py: Python<'_>, data: Arrays<'_>) -> PyResult<()> {
    let view = data.view()?;
    job::quick(py, || view.validate())
}

#[pyfunction]
pub fn episode_priorities<'py>(py: Python<'py>, data: Arrays<'py>, seed: u64) -> PyResult<Vector<'py, u64>> {
    let view = data.view()?;
    let priorities = job::quick(py, || Ok(view.priorities(seed)))?;
    Ok(priorities.into_pyarray(py))
}

/// Rows of either precision.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    Double(PyReadwriteArrayDyn<'py, f64>),
    Single(PyReadwriteArrayDyn<'py, f32>),
}

fn width_of(shape: &[usize], by_rows: bool, offsets: &[i64]) -> PyResult<usize> {
    let (rows, width) = match *shape {
        [rows] => (rows, 1),
        [rows, width] if width > 0 && by_rows => (rows, width),
        _ => {
            let message =
                format!("rows has shape {shape:?}: give (n_steps,), or (n_steps, width) row by row");
            return Err(PyValueError::new_err(message));
        }
    };
    if offsets.last().copied() != Some(rows as i64) || offsets[0] != 0 || !offsets.is_sorted() {
        return Err(PyValueError::new_err(format!("offsets do not cut {rows} rows into episodes")));
    }
    Ok(width)
}

/// One factor for all steps, or one for each.
#[derive(FromPyObject)]
pub enum Factor<'py> {
    Same(f64),
    Each(PyReadonlyArray1<'py, f64>),
}

#[pyfunction]
#[pyo3(signature = (rows, offsets, factor, *, forward=false))]
pub fn discounted_sums(
    py: Python<'_>,
    rows: Rows<'_>,
    offsets: PyReadonlyArray1<'_, i64>,
    factor: Factor<'_>,
    forward: bool,
) -> PyResult<()> {
    let offsets = offsets.as_slice()?;
    let (shape, by_rows) = match &rows {
        Rows::Double(rows) => (rows.shape(), rows.is_c_contiguous()),
        Rows::Single(rows) => (rows.shape(), rows.is_c_contiguous()),
    };
    let (width, steps) = (width_of(shape, by_rows, offsets)?, shape[0]);
    let each = match &factor {
        Factor::Same(factor) => &[*factor][..],
        Factor::Each(factors) if factors.len() == steps => factors.as_slice()?,
        Factor::Each(factors) => {
            return Err(PyValueError::new_err(format!(
                "factor has {} entries for {steps} steps",
                factors.len()
            )));
        }
    };
    let varies = matches!(factor, Factor::Each(_));
    let factor = |step: usize| each[if varies { step } else { 0 }];
    match rows {
        Rows::Double(mut rows) => {
            let rows = rows.as_slice_mut()?;
            py.detach(|| sums::discounted(rows, width, offsets, factor, forward));
        }
        Rows::Single(mut rows) => {
            let rows = rows.as_slice_mut()?;
            py.detach(|| sums::discounted(rows, width, offsets, |step| factor(step) as f32, forward));
        }
    }
    Ok(())
}

type Singles<'py> = PyReadonlyArray1<'py, f32>;

#[pyfunction]
pub fn temporal_differences<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f32>,
    offsets: PyReadonlyArray1<'py, i64>,
    rewards: Singles<'py>,
    following: Singles<'py>,
    ratios: Singles<'py>,
    factors: Singles<'py>,
) -> PyResult<Matrix<'py>> {
    let (offsets, shape) = (offsets.as_slice()?, rows.shape());
    let (width, steps) = (shape[1], rewards.len());
    let episodes = offsets.len().saturating_sub(1);
    let lengths = [following.len(), ratios.len(), factors.len()];
    let cut = offsets.first() == Some(&0) && offsets.last() == Some(&(steps as i64)) && offsets.is_sorted();
    if !cut || width == 0 || shape[0] != steps + episodes || lengths.iter().any(|&length| length != steps) {
        let message = format!(
            "rows has shape {shape:?} and {steps} rewards, {lengths:?} other numbers: give (n_steps + n_episodes, width) \
             rows and n_steps of each, cut by offsets"
        );
        return Err(PyValueError::new_err(message));
    }
    let rows = in_rows(&rows)?;
    let differences = Differences {
        rows: &rows,
        width,
        offsets,
        rewards: rewards.as_slice()?,
        following: following.as_slice()?,
        ratios: ratios.as_slice()?,
        factors: factors.as_slice()?,
    };
    let sums = py.detach(|| differences.sums());
    shaped(py, sums, [width, width + 1])
}
