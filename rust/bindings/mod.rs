//! The whole boundary with Python: borrow, call, convert. No logic lives here. What the calls mean and which shapes they
//! take is said once: here where users meet it (worlds and policies), else in `_core.pyi`.
#![allow(clippy::too_many_arguments)]

mod automata;
mod batch;
mod beliefs;
mod clones;
mod convert;
mod episodes;
mod job;
mod models;
mod parts;
mod policies;
mod policy;
mod spectral;
mod summaries;
mod worlds;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{
        automata::{AutomatonPolicy, ForestPolicy},
        batch::PolicyBatch,
        beliefs::CloneLayout,
        clones::CloneModels,
        episodes::{discounted_sums, episode_priorities, rollout, temporal_differences, validate},
        models::{hidden_models, point_plan},
        policies::{BeliefPolicy, ContextPolicy, FilterPolicy, ObservationPolicy, Pomcp, TablePolicy},
        policy::{CompiledPolicy, PolicyState, softmax},
        spectral::{context_tree, filter_states, hankel_sums, most_frequent, project_words, sum_operators},
        summaries::{SummaryBins, SummaryPolicy, summaries_along},
        worlds::{Simulation, World},
    };

    /// The version of the crate is that of the package; the names are listed in `_core.pyi`, not again here. Who forgot
    /// `--release` hears so: it is slower by far.
    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::{PyAnyMethods, PyModuleMethods};
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        if cfg!(debug_assertions) {
            let category = module.py().get_type::<pyo3::exceptions::PyRuntimeWarning>();
            let words = c"uqf was built without optimisation and is slow: build it with `make build`";
            pyo3::PyErr::warn(module.py(), &category, words, 1)?;
        }
        module.delattr("__all__")
    }
}
