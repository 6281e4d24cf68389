//! The whole boundary with Python: borrow, call, convert. No logic lives here. What the calls mean and which shapes they
//! take is said once, in `_core.pyi`; what users meet as `uqf.…` has its docstring here.
#![allow(clippy::too_many_arguments)]

mod automata;
mod batch;
mod beliefs;
mod clones;
mod convert;
mod episodes;
mod hankel;
mod hidden;
mod job;
mod parts;
mod plan;
mod policies;
mod policy;
mod spectral;
mod worlds;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{
        automata::{Automaton, AutomatonPolicy, Features, ForestPolicy},
        batch::PolicyBatch,
        beliefs::{CloneLayout, expected_counts},
        clones::CloneModels,
        episodes::{discounted_sums, episode_priorities, returns, rollout, temporal_differences, validate},
        hankel::{HankelSettings, HankelStatistics},
        hidden::hidden_models,
        plan::point_plan,
        policies::{BeliefPolicy, ContextPolicy, FilterPolicy, ObservationPolicy, Pomcp, TablePolicy},
        policy::{CompiledPolicy, PolicyState, softmax},
        spectral::{Filter, context_tree, most_frequent, project_words, sum_operators},
        worlds::{Simulation, World, read_pomdp, write_pomdp},
    };

    /// The version of the crate is that of the package.
    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
