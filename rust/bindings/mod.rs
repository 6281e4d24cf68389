//! The whole boundary with Python: borrow, call, convert. No logic lives here.
#![allow(clippy::too_many_arguments)]

mod automaton;
mod batch;
mod baum_welch;
mod belief_policy;
mod beliefs;
mod beliefs_state;
mod clone_layout;
mod context;
mod convert;
mod filter;
mod forest;
mod hankel;
mod hankel_state;
mod hidden;
mod job;
mod plan;
mod policy;
mod pomcp;
mod rollout;
mod table;
mod trajectories;
mod words;
mod world;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{
        automaton::{Automaton, AutomatonPolicy},
        batch::PolicyBatch,
        baum_welch::expected_counts,
        belief_policy::BeliefPolicy,
        beliefs::CloneModels,
        clone_layout::CloneLayout,
        context::{ContextPolicy, context_tree},
        filter::{Filter, FilterPolicy},
        forest::{Features, ForestPolicy},
        hankel::{HankelStatistics, sum_operators},
        hidden::hidden_models,
        plan::point_plan,
        policy::{CompiledPolicy, PolicyState},
        pomcp::Pomcp,
        rollout::{returns, rollout},
        table::{ObservationPolicy, TablePolicy},
        trajectories::{discounted_sums, episode_priorities, take_episodes, temporal_differences, validate},
        words::{HankelSettings, most_frequent, project_words},
        world::{Simulation, World, read_pomdp, write_pomdp},
    };

    /// The version of the crate is that of the package.
    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
