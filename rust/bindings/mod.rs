//! The whole boundary with Python: borrow, call, convert. No logic lives here.

mod automaton;
mod batch;
mod baum_welch;
mod clones;
mod context;
mod convert;
mod draw;
mod forest;
mod hankel;
mod hankel_settings;
mod hankel_state;
mod job;
mod policies;
mod pomcp;
mod pomdp_file;
mod replay;
mod rollout;
mod sum_policy;
mod trajectories;
mod words;
mod world;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::automaton::{Automaton, AutomatonMemory, AutomatonPolicy};
    #[pymodule_export]
    use super::batch::PolicyBatch;
    #[pymodule_export]
    use super::baum_welch::expected_counts;
    #[pymodule_export]
    use super::clones::CloneModels;
    #[pymodule_export]
    use super::context::{ContextMemory, ContextPolicy};
    #[pymodule_export]
    use super::forest::{FeatureMemory, Features, ForestPolicy};
    #[pymodule_export]
    use super::hankel::{HankelStatistics, sum_operators};
    #[pymodule_export]
    use super::hankel_settings::HankelSettings;
    #[pymodule_export]
    use super::policies::TablePolicy;
    #[pymodule_export]
    use super::pomcp::{Pomcp, PomcpState};
    #[pymodule_export]
    use super::pomdp_file::{read_pomdp, write_pomdp};
    #[pymodule_export]
    use super::replay::action_probabilities;
    #[pymodule_export]
    use super::rollout::{returns, rollout};
    #[pymodule_export]
    use super::sum_policy::{SumMemory, SumPolicy, context_keys};
    #[pymodule_export]
    use super::trajectories::{take_episodes, validate};
    #[pymodule_export]
    use super::words::{count_pairs, most_frequent, project_words};
    #[pymodule_export]
    use super::world::{Simulation, World};
}
