//! What Hankel statistics count.

use pyo3::prelude::*;

use crate::bindings::convert::count;
use crate::bindings::job;
use crate::bindings::words::occurrences_named;
use crate::error::{Error, Result};
use crate::learn::cuts::{Settings, WordMap};
use crate::learn::double::Quantum;
use crate::learn::projection::{Kind, Projection};
use crate::learn::target::Target;
use crate::learn::words::{Word, WordIndex};

/// What is counted: words, targets, projection. Targets are (name, discount, offset).
#[pyclass(frozen, module = "uqf._core")]
pub struct HankelSettings {
    pub inner: Settings,
}

#[pymethods]
impl HankelSettings {
    /// Lists of words make exact blocks; `projection` = (kind, prefix_dim, suffix_dim, seed) compressed ones.
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (*, occurrences, targets, words=None, max_prefix=0, max_suffix=0, projection=None, reward_size=1.0))]
    fn new(
        py: Python<'_>,
        occurrences: &str,
        targets: Vec<(String, f64, f64)>,
        words: Option<(Vec<Word>, Vec<Word>)>,
        max_prefix: i64,
        max_suffix: i64,
        projection: Option<(String, i64, i64, u64)>,
        reward_size: f64,
    ) -> PyResult<Self> {
        let (max_prefix, max_suffix) = (count("max_prefix", max_prefix)?, count("max_suffix", max_suffix)?);
        let build = || {
            let named =
                targets.iter().map(|(name, discount, offset)| Target::named(name, *discount, *offset));
            let targets = named.collect::<Result<Vec<_>>>()?;
            let occurrences = occurrences_named(occurrences)?;
            let quantum = Quantum::for_size(reward_size);
            let settings = match (words, projection) {
                (Some((prefixes, suffixes)), None) => {
                    let prefixes = WordIndex::new("prefixes", prefixes)?;
                    let suffixes = WordIndex::new("suffixes", suffixes)?;
                    Settings {
                        occurrences,
                        max_prefix: prefixes.longest(),
                        max_suffix: suffixes.longest(),
                        targets,
                        prefixes: WordMap::Listed(prefixes),
                        suffixes: WordMap::Listed(suffixes),
                        quantum,
                    }
                }
                (None, Some((kind, prefix_dim, suffix_dim, seed))) => {
                    let kind = Kind::named(&kind)?;
                    // Prefixes and suffixes need independent vectors, hence two seeds.
                    let even = seed
                        .checked_mul(2)
                        .ok_or_else(|| Error::argument("seed", seed, "give an integer below 2**63"))?;
                    let prefixes = Projection::new("prefix_dim", kind, prefix_dim.max(0) as usize, even)?;
                    let suffixes = Projection::new("suffix_dim", kind, suffix_dim.max(0) as usize, even + 1)?;
                    Settings {
                        occurrences,
                        max_prefix,
                        max_suffix,
                        targets,
                        prefixes: WordMap::Projected(prefixes),
                        suffixes: WordMap::Projected(suffixes),
                        quantum,
                    }
                }
                _ => {
                    return Err(Error::argument(
                        "words",
                        "given or not",
                        "give either words or a projection",
                    ));
                }
            };
            settings.validate()?;
            Ok(settings)
        };
        build().map(|inner| HankelSettings { inner }).map_err(|error| job::to_python(py, error))
    }

    /// (left_dim, right_dim)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.left_dim(), self.inner.right_dim())
    }
}
