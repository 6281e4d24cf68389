//! The online planner and its memory.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::convert::count;
use crate::bindings::job;
use crate::bindings::world::World;
use crate::domains;
use crate::plan::pomcp::{self, Rollouts, Settings};
use crate::simulate::environment::Environment;
use crate::simulate::policy::Policy;

/// Belief and search at one step of an episode; made and read by the planner.
#[pyclass(frozen, module = "uqf._core")]
pub struct PomcpState {
    memory: pomcp::Memory,
    /// The world whose states the particles are.
    world: Arc<domains::World>,
}

#[pymethods]
impl PomcpState {
    /// Size of the particle belief; 0 once the episode should have ended in every particle.
    #[getter]
    fn n_particles(&self) -> usize {
        self.memory.n_particles()
    }

    /// Steps simulated since the episode began.
    #[getter]
    fn simulated_steps(&self) -> u64 {
        self.memory.simulated_steps()
    }
}

#[pyclass(frozen, subclass, module = "uqf._core")]
pub struct Pomcp {
    pub inner: pomcp::Pomcp,
}

impl Pomcp {
    fn symbol(&self, action: i64, observation: i64) -> PyResult<(usize, usize)> {
        let below = |name: &str, given: i64, limit: usize| {
            let checked = usize::try_from(given).ok().filter(|&index| index < limit);
            checked
                .ok_or_else(|| PyValueError::new_err(format!("{name} = {given}: choose 0 to {}", limit - 1)))
        };
        let world = self.inner.world();
        Ok((
            below("action", action, world.n_actions())?,
            below("observation", observation, world.n_observations())?,
        ))
    }

    fn wrap(&self, memory: pomcp::Memory) -> PomcpState {
        PomcpState { memory, world: self.inner.world().clone() }
    }

    /// A memory made with another world has particles that this planner cannot step.
    fn check<'a>(&self, state: &'a PomcpState) -> PyResult<&'a pomcp::Memory> {
        if Arc::ptr_eq(self.inner.world(), &state.world) {
            return Ok(&state.memory);
        }
        Err(PyValueError::new_err("state comes from a planner of another world: begin with initial_state()"))
    }
}

#[pymethods]
impl Pomcp {
    #[new]
    #[pyo3(signature = (world, *, simulations, particles, rollouts, exploration, discount, horizon, seed))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        world: &World,
        simulations: i64,
        particles: i64,
        rollouts: &str,
        exploration: Option<f64>,
        discount: f64,
        horizon: i64,
        seed: u64,
    ) -> PyResult<Self> {
        let settings = Settings {
            simulations: count("simulations", simulations)?,
            particles: count("particles", particles)?,
            rollouts: Rollouts::named(rollouts).map_err(|error| job::to_python(py, error))?,
            discount,
            horizon: count("horizon", horizon)?,
        };
        let made = pomcp::Pomcp::new(world.inner.clone(), settings, exploration, seed);
        made.map(|inner| Pomcp { inner }).map_err(|error| job::to_python(py, error))
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.world().n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.world().n_observations()
    }

    /// The constant of UCB1 in use.
    #[getter]
    fn exploration(&self) -> f64 {
        self.inner.exploration()
    }

    /// Belief and search at the start of an episode; always the same for the same seed.
    fn initial_state(&self, py: Python<'_>) -> PyResult<PomcpState> {
        let memory = job::quick(py, || Ok(self.inner.start()))?;
        Ok(self.wrap(memory))
    }

    /// Belief and search after one more step; `state` is left as it was.
    fn update(
        &self,
        py: Python<'_>,
        state: &PomcpState,
        action: i64,
        observation: i64,
    ) -> PyResult<PomcpState> {
        let (action, observation) = self.symbol(action, observation)?;
        let memory = self.check(state)?;
        let memory = job::quick(py, || Ok(self.inner.advance(memory, action, observation)))?;
        Ok(self.wrap(memory))
    }

    /// One on the best action; all alike if the belief was lost.
    fn action_probs(&self, state: &PomcpState) -> PyResult<Vec<f64>> {
        let mut probs = vec![0.0; self.n_actions()];
        self.inner.action_probs(self.check(state)?, &mut probs);
        Ok(probs)
    }

    /// The best action; the first if the belief was lost. Nothing is drawn from `rng`.
    #[pyo3(signature = (state, rng=None))]
    fn action(&self, state: &PomcpState, rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        let _ = rng;
        Ok(self.inner.best_action(self.check(state)?).unwrap_or(0))
    }

    /// Mean simulated return after each action; minus infinity for actions that were not tried.
    fn q_values(&self, state: &PomcpState) -> PyResult<Vec<f64>> {
        Ok(self.inner.values(self.check(state)?))
    }
}
