//! Worlds and single running episodes.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray3, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{below, count, owned};
use crate::bindings::job;
use crate::domains::tabular::{Model, Rewards, Tabular};
use crate::domains::{self, WorldState, gridworld, pocman, spocman, tiger};
use crate::error::Result;
use crate::rng::Rng;
use crate::simulate::environment::Environment;
use crate::simulate::rollout::episode_rngs;

/// A simulated world; stateless, shared by any number of episodes and threads.
#[pyclass(frozen, module = "uqf._core")]
pub struct World {
    pub inner: Arc<domains::World>,
}

fn wrap(py: Python<'_>, world: Result<domains::World>) -> PyResult<World> {
    let inner = world.map_err(|error| job::to_python(py, error))?;
    Ok(World { inner: Arc::new(inner) })
}

#[pymethods]
impl World {
    #[staticmethod]
    fn tiger(py: Python<'_>) -> PyResult<Self> {
        wrap(py, Ok(domains::World::Tiger(tiger::Tiger)))
    }

    #[staticmethod]
    fn gridworld(py: Python<'_>, variant: &str) -> PyResult<Self> {
        wrap(py, gridworld::Gridworld::named(variant).map(domains::World::Gridworld))
    }

    #[staticmethod]
    fn pocman(py: Python<'_>, maze: &str) -> PyResult<Self> {
        wrap(py, pocman::Pocman::named(maze).map(domains::World::Pocman))
    }

    #[staticmethod]
    fn spocman(py: Python<'_>, ghosts: &str) -> PyResult<Self> {
        wrap(py, spocman::Spocman::named(ghosts).map(domains::World::Spocman))
    }

    /// A finite POMDP: (A, S, S), (A, S, O), (A, S) or (A, S, S) or (A, S, S, O), (S,), (S,).
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn tabular(
        py: Python<'_>,
        transitions: PyReadonlyArray3<'_, f64>,
        observations: PyReadonlyArray3<'_, f64>,
        rewards: PyReadonlyArrayDyn<'_, f64>,
        start: PyReadonlyArray1<'_, f64>,
        terminal: PyReadonlyArray1<'_, bool>,
        action_names: Vec<String>,
        observation_names: Vec<String>,
        state_names: Vec<String>,
    ) -> PyResult<Self> {
        let model = Model {
            n_actions: transitions.shape()[0],
            n_states: transitions.shape()[1],
            n_observations: observations.shape()[2],
            transitions: owned(py, &transitions)?,
            observations: owned(py, &observations)?,
            rewards: Rewards {
                values: owned(py, &rewards)?,
                by_next_state: rewards.ndim() >= 3,
                by_observation: rewards.ndim() >= 4,
            },
            start: start.as_slice()?.to_vec(),
            terminal: terminal.as_slice()?.to_vec(),
        };
        let world = Tabular::new(model)
            .and_then(|tabular| tabular.named(action_names, observation_names, state_names))
            .map(domains::World::Tabular);
        wrap(py, world)
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations()
    }

    #[getter]
    fn action_names(&self) -> Vec<String> {
        (0..self.inner.n_actions()).map(|action| self.inner.action_name(action)).collect()
    }

    #[getter]
    fn observation_names(&self) -> Vec<String> {
        (0..self.inner.n_observations()).map(|observation| self.inner.observation_name(observation)).collect()
    }

    /// The arrays of a small world by name, or None if it has too many states to write down.
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(tabular) = self.inner.tabular() else { return Ok(None) };
        let model = tabular.model().map_err(|error| job::to_python(py, error))?;
        let (actions, states, width) = (model.n_actions, model.n_states, model.n_observations);
        let mut reward_shape = vec![actions, states];
        reward_shape.extend(model.rewards.by_next_state.then_some(states));
        reward_shape.extend(model.rewards.by_observation.then_some(width));
        let arrays = PyDict::new(py);
        arrays.set_item(
            "transitions",
            model.transitions.into_pyarray(py).reshape([actions, states, states])?,
        )?;
        arrays.set_item(
            "observations",
            model.observations.into_pyarray(py).reshape([actions, states, width])?,
        )?;
        arrays.set_item("rewards", model.rewards.values.into_pyarray(py).reshape(reward_shape)?)?;
        arrays.set_item("start", model.start.into_pyarray(py))?;
        arrays.set_item("terminal", model.terminal.into_pyarray(py))?;
        arrays.set_item("state_names", &tabular.state_names)?;
        Ok(Some(arrays))
    }

    /// Episode number `episode` of a rollout with this seed, to be stepped by hand.
    #[pyo3(signature = (seed, episode=0))]
    fn simulation(&self, seed: u64, episode: i64) -> PyResult<Simulation> {
        let (mut world_rng, policy_rng) = episode_rngs(seed, count("episode", episode)?);
        let state = self.inner.start(&mut world_rng);
        Ok(Simulation { world: self.inner.clone(), state, world_rng, policy_rng, terminated: false })
    }
}

/// One running episode.
#[pyclass(module = "uqf._core")]
pub struct Simulation {
    world: Arc<domains::World>,
    state: WorldState,
    world_rng: Rng,
    policy_rng: Rng,
    terminated: bool,
}

#[pymethods]
impl Simulation {
    /// (observation, reward, terminated)
    fn step(&mut self, action: i64) -> PyResult<(usize, f64, bool)> {
        if self.terminated {
            return Err(PyValueError::new_err("the episode has ended; start another simulation"));
        }
        let action = below("action", action, self.world.n_actions())?;
        let outcome = self.world.step(&mut self.state, action, &mut self.world_rng);
        self.terminated = outcome.terminated;
        Ok((outcome.observation, outcome.reward, outcome.terminated))
    }

    /// An action drawn from these probabilities with the episode's own random stream for policies, as `rollout` would.
    fn choose(&mut self, probs: PyReadonlyArray1<'_, f64>) -> PyResult<usize> {
        let probs = probs.as_slice()?;
        if probs.len() != self.world.n_actions() {
            let message =
                format!("probs has {} entries; there are {} actions", probs.len(), self.world.n_actions());
            return Err(PyValueError::new_err(message));
        }
        Ok(self.policy_rng.choose(probs, 1.0))
    }

    /// The state as text.
    fn render(&self) -> String {
        self.world.render(&self.state)
    }
}
