//! Words: counted, projected, and what Hankel statistics count of them.

use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::convert::{Arrays, count, shaped};
use crate::bindings::job;
use crate::learn::spectral::cuts::Settings;
use crate::learn::spectral::double::Quantum;
use crate::learn::spectral::projection::{Kind, Projection};
use crate::learn::spectral::target::Target;
use crate::learn::spectral::words::{self, Occurrences, Word};

/// The most frequent words with their counts, the empty word first.
#[pyfunction]
#[pyo3(signature = (data, *, occurrences, max_length, limit=None))]
pub fn most_frequent(
    py: Python<'_>,
    data: Arrays<'_>,
    occurrences: &str,
    max_length: i64,
    limit: Option<i64>,
) -> PyResult<(Vec<Word>, Vec<u64>)> {
    let view = data.view()?;
    let max_length = count("max_length", max_length)?;
    let limit = limit.map(|limit| count("limit", limit)).transpose()?;
    let ranked = job::quick(py, || {
        Ok(words::most_frequent(&view, Occurrences::named(occurrences)?, max_length, limit))
    })?;
    Ok(ranked.into_iter().unzip())
}

/// φ of every word: an array (words, dim).
#[pyfunction]
pub fn project_words<'py>(
    py: Python<'py>,
    words: Vec<Word>,
    kind: &str,
    dim: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let projection = Projection::new("dim", Kind::named(kind)?, dim, seed)?;
    let mut rows = Vec::with_capacity(words.len() * dim);
    for word in &words {
        let bytes: Vec<u8> = word.iter().flat_map(|symbol| symbol.to_le_bytes()).collect();
        rows.extend(projection.vector(projection.key(&bytes)));
    }
    shaped(py, rows, [words.len(), dim])
}

/// What is counted: words, target, projection. The target is (name, discount, offset).
#[pyclass(frozen, module = "uqf._core")]
pub struct HankelSettings {
    pub inner: Settings,
}

#[pymethods]
impl HankelSettings {
    /// Lists of words make exact blocks; `projection` = (kind, prefix_dim, suffix_dim, seed) compressed ones.
    #[new]
    #[pyo3(signature = (*, occurrences, target, words=None, max_prefix=0, max_suffix=0, projection=None, reward_size=1.0))]
    fn new(
        occurrences: &str,
        target: (String, f64, f64),
        words: Option<(Vec<Word>, Vec<Word>)>,
        max_prefix: i64,
        max_suffix: i64,
        projection: Option<(String, i64, i64, u64)>,
        reward_size: f64,
    ) -> PyResult<Self> {
        let longest = (count("max_prefix", max_prefix)?, count("max_suffix", max_suffix)?);
        let quantum = Quantum::for_size(reward_size);
        let built = Occurrences::named(occurrences).and_then(|occurrences| {
            let target = Target::named(&target.0, target.1, target.2)?;
            match (words, projection) {
                (Some((prefixes, suffixes)), None) => {
                    Settings::listed(occurrences, target, quantum, prefixes, suffixes).map(Some)
                }
                (None, Some((kind, prefix_dim, suffix_dim, seed))) => {
                    let dims = (prefix_dim.max(0) as usize, suffix_dim.max(0) as usize);
                    let projection = (kind.as_str(), dims.0, dims.1, seed);
                    Settings::projected(occurrences, target, quantum, longest, projection).map(Some)
                }
                _ => Ok(None),
            }
        });
        let inner = built?.ok_or_else(|| PyValueError::new_err("give either words or a projection"))?;
        Ok(HankelSettings { inner })
    }

    /// (left_dim, right_dim)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }
}
