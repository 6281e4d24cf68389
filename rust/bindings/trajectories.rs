//! Checking and selecting episodes.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bindings::convert::{Arrays, trajectories_to_python};
use crate::bindings::job;
use crate::error::Error;
use crate::recorded::Trajectories;

/// Raises ValueError naming the first episode and step that cannot be.
#[pyfunction]
pub fn validate(py: Python<'_>, data: Arrays<'_>) -> PyResult<()> {
    let view = data.view()?;
    job::quick(py, || view.validate())
}

/// A random number of every episode, (n_episodes,), which depends on its content and on the seed, not on where it lies.
/// Copies of an episode have different numbers.
#[pyfunction]
pub fn episode_priorities<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let view = data.view()?;
    let priorities = job::quick(py, || Ok(view.priorities(seed)))?;
    Ok(priorities.into_pyarray(py))
}

/// The arrays of the chosen episodes, copied in the order given.
#[pyfunction]
pub fn take_episodes<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    episodes: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (view, episodes) = (data.view()?, episodes.as_slice()?);
    let taken = job::quick(py, || {
        let mut taken = Trajectories::new();
        for &episode in episodes {
            let index = usize::try_from(episode).ok().filter(|&index| index < view.n_episodes());
            let index = index.ok_or_else(|| {
                Error::argument("index", episode, format!("there are {} episodes", view.n_episodes()))
            })?;
            let range = view.episode(index);
            taken.actions.extend_from_slice(&view.actions[range.clone()]);
            taken.observations.extend_from_slice(&view.observations[range.clone()]);
            taken.rewards.extend_from_slice(&view.rewards[range.clone()]);
            if let Some(probs) = view.behavior_probs {
                taken.behavior_probs.extend_from_slice(&probs[range]);
            }
            taken.end_episode(view.terminated[index]);
        }
        Ok(taken)
    })?;
    trajectories_to_python(py, taken)
}
