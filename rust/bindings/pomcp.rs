//! The online planner.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::bindings::convert::count;
use crate::bindings::policy::{CompiledPolicy, PolicyState};
use crate::bindings::world::World;
use crate::policies::any::own;
use crate::policies::pomcp::{self, Rollouts, Settings};

/// Plans at every step; `uqf.baselines.POMCP` says how.
#[pyclass(frozen, subclass, extends = CompiledPolicy, module = "uqf._core")]
pub struct Pomcp {
    inner: Arc<pomcp::Pomcp>,
}

#[pymethods]
impl Pomcp {
    #[new]
    #[pyo3(signature = (world, *, simulations, particles, rollouts, exploration, discount, horizon, seed))]
    fn new(
        world: &World,
        simulations: i64,
        particles: i64,
        rollouts: &str,
        exploration: Option<f64>,
        discount: f64,
        horizon: i64,
        seed: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let settings = Settings {
            simulations: count("simulations", simulations)?,
            particles: count("particles", particles)?,
            rollouts: Rollouts::named(rollouts)?,
            discount,
            horizon: count("horizon", horizon)?,
        };
        let inner = pomcp::Pomcp::new(world.inner.clone(), settings, exploration, seed)?;
        Ok(CompiledPolicy::of(Arc::new(inner), |inner| Pomcp { inner }))
    }

    /// The constant of UCB1 in use.
    #[getter]
    fn exploration(&self) -> f64 {
        self.inner.exploration()
    }

    /// Size of the particle belief; 0 once the episode should have ended in every particle.
    fn n_particles(&self, state: &PolicyState) -> PyResult<usize> {
        Ok(own(self.inner.as_ref(), &state.memory)?.n_particles())
    }

    /// Steps simulated since the episode began.
    fn simulated_steps(&self, state: &PolicyState) -> PyResult<u64> {
        Ok(own(self.inner.as_ref(), &state.memory)?.simulated_steps())
    }
}
