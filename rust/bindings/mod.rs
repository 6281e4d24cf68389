//! The whole boundary with Python: borrow, call, convert. No logic lives here.

mod along;
mod automaton;
mod automaton_policy;
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
mod hankel_settings;
mod hankel_state;
mod job;
mod policy;
mod pomcp;
mod pomdp_file;
mod rollout;
mod table;
mod observation;
mod trajectories;
mod words;
mod world;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::along::discounted_sums;
    #[pymodule_export]
    use super::automaton::Automaton;
    #[pymodule_export]
    use super::automaton_policy::AutomatonPolicy;
    #[pymodule_export]
    use super::batch::PolicyBatch;
    #[pymodule_export]
    use super::baum_welch::expected_counts;
    #[pymodule_export]
    use super::belief_policy::BeliefPolicy;
    #[pymodule_export]
    use super::beliefs::CloneModels;
    #[pymodule_export]
    use super::clone_layout::CloneLayout;
    #[pymodule_export]
    use super::context::{ContextPolicy, context_tree};
    #[pymodule_export]
    use super::filter::{Filter, FilterPolicy};
    #[pymodule_export]
    use super::forest::{Features, ForestPolicy};
    #[pymodule_export]
    use super::hankel::{HankelStatistics, sum_operators};
    #[pymodule_export]
    use super::hankel_settings::HankelSettings;
    #[pymodule_export]
    use super::observation::ObservationPolicy;
    #[pymodule_export]
    use super::policy::{CompiledPolicy, PolicyState};
    #[pymodule_export]
    use super::pomcp::Pomcp;
    #[pymodule_export]
    use super::pomdp_file::{read_pomdp, write_pomdp};
    #[pymodule_export]
    use super::rollout::{returns, rollout};
    #[pymodule_export]
    use super::table::TablePolicy;
    #[pymodule_export]
    use super::trajectories::{episode_priorities, take_episodes, validate};
    #[pymodule_export]
    use super::words::{most_frequent, project_words};
    #[pymodule_export]
    use super::world::{Simulation, World};

    /// The version of the crate is that of the package.
    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
