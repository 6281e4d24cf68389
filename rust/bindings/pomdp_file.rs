//! `.pomdp` files: text to arrays, and a world to text.

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::count;
use crate::bindings::job;
use crate::bindings::world::World;
use crate::formats::{read, write};

/// The arguments of a `TabularPOMDP`, from the bytes of a file.
#[pyfunction]
pub fn read_pomdp<'py>(py: Python<'py>, content: &[u8], max_entries: i64) -> PyResult<Bound<'py, PyDict>> {
    let max_entries = count("max_entries", max_entries)?;
    let file = job::long(py, None, |ticker| read::read(content, max_entries, ticker))?;
    let model = file.model;
    let (actions, states, width) = (model.n_actions, model.n_states, model.n_observations);
    let mut reward_shape = vec![actions, states];
    reward_shape.extend(model.rewards.by_next_state.then_some(states));
    reward_shape.extend(model.rewards.by_observation.then_some(width));
    let arguments = PyDict::new(py);
    arguments
        .set_item("transitions", model.transitions.into_pyarray(py).reshape([actions, states, states])?)?;
    arguments
        .set_item("observations", model.observations.into_pyarray(py).reshape([actions, states, width])?)?;
    arguments.set_item("rewards", model.rewards.values.into_pyarray(py).reshape(reward_shape)?)?;
    arguments.set_item("start", model.start.into_pyarray(py))?;
    arguments.set_item("discount", file.discount)?;
    arguments.set_item("action_names", file.action_names)?;
    arguments.set_item("observation_names", file.observation_names)?;
    arguments.set_item("state_names", file.state_names)?;
    Ok(arguments)
}

/// The text of the file of a world that has arrays.
#[pyfunction]
pub fn write_pomdp(py: Python<'_>, world: &World, discount: f64) -> PyResult<String> {
    let tabular =
        world.inner.tabular().ok_or_else(|| PyValueError::new_err("this world has no arrays to write"))?;
    job::quick(py, || write::write(&tabular, discount))
}
