//! Worlds, and single running episodes.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Whole, below, count, owned, shaped};
use crate::domains::tabular::{Model, Rewards, Tabular};
use crate::domains::{self, Episode};
use crate::error::Result;
use crate::parts;
use crate::rng::Rng;
use crate::simulate::rollout::episode_rngs;

/// A simulated world; stateless, shared by any number of episodes and threads.
#[pyclass(frozen, module = "uqf._core")]
pub struct World {
    pub inner: Arc<domains::World>,
}

fn wrap(world: Result<domains::World>) -> PyResult<World> {
    Ok(World { inner: Arc::new(world?) })
}

#[pymethods]
impl World {
    #[staticmethod]
    fn named(name: &str, variant: &str) -> PyResult<Self> {
        wrap(domains::World::named(name, variant))
    }

    /// A finite POMDP: (A, S, S), (A, S, O), (A, S) or (A, S, S) or (A, S, S, O), (S,), (S,), (S, O) or None.
    ///
    /// An empty list of names numbers the things instead.
    #[staticmethod]
    fn tabular(
        transitions: PyReadonlyArray3<'_, f64>,
        observations: PyReadonlyArray3<'_, f64>,
        rewards: PyReadonlyArrayDyn<'_, f64>,
        start: PyReadonlyArray1<'_, f64>,
        terminal: PyReadonlyArray1<'_, bool>,
        first_observations: Option<PyReadonlyArray2<'_, f64>>,
        action_names: Vec<String>,
        observation_names: Vec<String>,
        state_names: Vec<String>,
    ) -> PyResult<Self> {
        let model = Model {
            n_actions: transitions.shape()[0],
            n_states: transitions.shape()[1],
            n_observations: observations.shape()[2],
            transitions: owned(&transitions)?,
            observations: owned(&observations)?,
            rewards: Rewards {
                values: owned(&rewards)?,
                by_next_state: rewards.ndim() >= 3,
                by_observation: rewards.ndim() >= 4,
            },
            start: start.as_slice()?.to_vec(),
            terminal: terminal.as_slice()?.to_vec(),
            first_observations: first_observations.as_ref().map(owned).transpose()?,
        };
        let world = Tabular::new(model)
            .and_then(|tabular| tabular.named(action_names, observation_names, state_names))
            .map(|tabular| domains::World::Tabular(Arc::new(tabular)));
        wrap(world)
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations()
    }

    /// Whether episodes show an observation before their first action.
    #[getter]
    fn shows_first(&self) -> bool {
        self.inner.shows_first()
    }

    #[getter]
    fn action_names(&self) -> Vec<String> {
        self.inner.action_names()
    }

    #[getter]
    fn observation_names(&self) -> Vec<String> {
        self.inner.observation_names()
    }

    /// The arrays of a small world by name, or None if it has too many states to write down.
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(tabular) = self.inner.tabular() else { return Ok(None) };
        let model = tabular.model()?;
        let (actions, states, width) = (model.n_actions, model.n_states, model.n_observations);
        let mut reward_shape = vec![actions, states];
        reward_shape.extend(model.rewards.by_next_state.then_some(states));
        reward_shape.extend(model.rewards.by_observation.then_some(width));
        let first = model.first_observations.map(|rows| shaped(py, rows, [states, width])).transpose()?;
        let arrays: PyResult<_> = parts!(PyDict::new(py), {
            "transitions": shaped(py, model.transitions, [actions, states, states])?,
            "observations": shaped(py, model.observations, [actions, states, width])?,
            "rewards": shaped(py, model.rewards.values, reward_shape)?,
            "start": model.start.into_pyarray(py),
            "terminal": model.terminal.into_pyarray(py),
            "first_observations": first,
            "state_names": &tabular.state_names,
        });
        arrays.map(Some)
    }

    /// Episode number `episode` of a rollout with this seed, to be stepped by hand.
    #[pyo3(signature = (seed, episode=Whole(0)), text_signature = "($self, seed, episode=0)")]
    fn simulation(&self, seed: Whole<u64>, episode: Whole<i64>) -> PyResult<Simulation> {
        let (world_rng, policy_rng) = episode_rngs(seed.0, count("episode", episode.0)?);
        let (episode, first) = self.inner.begin(world_rng);
        let n_actions = self.inner.n_actions();
        Ok(Simulation { episode, first, n_actions, policy_rng, terminated: false })
    }
}

/// One running episode.
#[pyclass(module = "uqf._core")]
pub struct Simulation {
    episode: Box<dyn Episode>,
    /// What was shown before the first action, in worlds that show anything.
    #[pyo3(get)]
    first: Option<usize>,
    n_actions: usize,
    policy_rng: Rng,
    terminated: bool,
}

#[pymethods]
impl Simulation {
    /// (observation, reward, terminated); refused once the episode has ended.
    fn step(&mut self, action: Whole<i64>) -> PyResult<(usize, f64, bool)> {
        if self.terminated {
            return Err(PyValueError::new_err("the episode has ended; start another simulation"));
        }
        let outcome = self.episode.step(below("action", action.0, self.n_actions)?);
        self.terminated = outcome.terminated;
        Ok((outcome.observation, outcome.reward, outcome.terminated))
    }

    /// An action drawn from these probabilities with the episode's own random stream for policies, as `rollout` would.
    ///
    /// The probabilities must sum to one; that is not checked here.
    fn choose(&mut self, probs: PyReadonlyArray1<'_, f64>) -> PyResult<usize> {
        let probs = probs.as_slice()?;
        if probs.len() != self.n_actions {
            let message = format!("probs has {} entries; there are {} actions", probs.len(), self.n_actions);
            return Err(PyValueError::new_err(message));
        }
        Ok(self.policy_rng.choose(probs, 1.0))
    }

    /// The state as text.
    fn render(&self) -> String {
        self.episode.render()
    }
}
