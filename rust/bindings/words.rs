//! Words: counted, paired, projected.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::bindings::convert::{Arrays, count};
use crate::bindings::job;
use crate::learn::spectral::projection::{Kind, Projection};
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
    let projection = Kind::named(kind).and_then(|kind| Projection::new("dim", kind, dim, seed));
    let projection = projection.map_err(|error| job::to_python(py, error))?;
    let mut rows = Vec::with_capacity(words.len() * dim);
    for word in &words {
        let bytes: Vec<u8> = word.iter().flat_map(|symbol| symbol.to_le_bytes()).collect();
        rows.extend(projection.vector(projection.key(&bytes)));
    }
    rows.into_pyarray(py).reshape([words.len(), dim])
}
