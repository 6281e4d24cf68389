//! Words: counted, paired, projected.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::bindings::convert::{Arrays, count};
use crate::bindings::job;
use crate::error::{Error, Result};
use crate::learn::pairs;
use crate::learn::projection::{Kind, Projection};
use crate::learn::words::{self, Occurrences, Word};

pub fn occurrences_named(name: &str) -> Result<Occurrences> {
    match name {
        "start" => Ok(Occurrences::Start),
        "anywhere" => Ok(Occurrences::Anywhere),
        _ => Err(Error::argument("occurrences", name, "choose start or anywhere")),
    }
}

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
        Ok(words::most_frequent(&view, occurrences_named(occurrences)?, max_length, limit))
    })?;
    Ok(ranked.into_iter().unzip())
}

/// The yardstick of accumulation: (dim, dim) counters, one incremented for every pair of words.
#[pyfunction]
#[pyo3(signature = (data, *, max_prefix, max_suffix, dim))]
pub fn count_pairs<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    max_prefix: i64,
    max_suffix: i64,
    dim: i64,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (view, dim) = (data.view()?, count("dim", dim)?);
    let (max_prefix, max_suffix) = (count("max_prefix", max_prefix)?, count("max_suffix", max_suffix)?);
    let counts = job::quick(py, || Ok(pairs::count_pairs(&view, max_prefix, max_suffix, dim)))?;
    counts.into_pyarray(py).reshape([dim, dim])
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
