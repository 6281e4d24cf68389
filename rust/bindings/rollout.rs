//! Episodes of compiled policies.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bindings::convert::{count, threads as thread_count, trajectories_to_python};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::bindings::world::World;
use crate::policies::any::AnyPolicy;
use crate::simulate::environment::Environment;
use crate::simulate::policy::Uniform;
use crate::simulate::rollout::Schedule;

/// The policy, or the uniform one for None; one that could not act in this world is refused.
fn policy_or_uniform(
    policy: Option<Bound<'_, CompiledPolicy>>,
    world: &World,
) -> PyResult<Arc<dyn AnyPolicy>> {
    let (n_actions, n_observations) = (world.inner.n_actions(), world.inner.n_observations());
    let Some(policy) = policy else { return Ok(Arc::new(Uniform { n_actions, n_observations })) };
    let (actions, observations) = policy.get().inner.alphabet();
    if actions != n_actions || observations < n_observations {
        return Err(PyValueError::new_err(format!(
            "policy has {actions} actions and {observations} observations, the world has {n_actions} and \
             {n_observations}"
        )));
    }
    Ok(policy.get().inner.clone())
}

/// Recorded episodes: (actions, observations, rewards, behavior_probs, offsets, terminated, first_observations).
#[pyfunction]
#[pyo3(signature = (world, policy, *, episodes, horizon, epsilon, seed, first=0, threads=None, progress=None))]
pub fn rollout<'py>(
    py: Python<'py>,
    world: &World,
    policy: Option<Bound<'py, CompiledPolicy>>,
    episodes: i64,
    horizon: i64,
    epsilon: f64,
    seed: u64,
    first: i64,
    threads: Option<i64>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let schedule = Schedule {
        episodes: count("episodes", episodes)?,
        first: count("first", first)?,
        horizon: count("horizon", horizon)?,
        epsilon,
        seed,
        threads: thread_count(threads)?,
    };
    let (policy, world) = (policy_or_uniform(policy, world)?, world.inner.as_ref());
    let data = job::long(py, progress.as_ref(), |ticker| policy.rollout(world, &schedule, ticker))?;
    trajectories_to_python(py, data)
}

type Scores<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>);

/// (discounted returns, lengths), one entry per episode.
#[pyfunction]
#[pyo3(signature = (world, policy, *, episodes, horizon, discount, seed, threads=None, progress=None))]
pub fn returns<'py>(
    py: Python<'py>,
    world: &World,
    policy: Option<Bound<'py, CompiledPolicy>>,
    episodes: i64,
    horizon: i64,
    discount: f64,
    seed: u64,
    threads: Option<i64>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Scores<'py>> {
    let schedule = Schedule {
        episodes: count("episodes", episodes)?,
        first: 0,
        horizon: count("horizon", horizon)?,
        epsilon: 0.0,
        seed,
        threads: thread_count(threads)?,
    };
    let (policy, world) = (policy_or_uniform(policy, world)?, world.inner.as_ref());
    let scores =
        job::long(py, progress.as_ref(), |ticker| policy.returns(world, &schedule, discount, ticker))?;
    let (returns, lengths): (Vec<f64>, Vec<i64>) = scores.into_iter().unzip();
    Ok((returns.into_pyarray(py), lengths.into_pyarray(py)))
}
