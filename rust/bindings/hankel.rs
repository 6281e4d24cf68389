//! Words, Hankel statistics and operators.

use numpy::ndarray::Array3;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, count, threads as thread_count};
use crate::bindings::job;
use crate::error::{Error, Result};
use crate::learn::cuts::{Coverage, Settings, WordMap};
use crate::learn::double::{Double, Quantum};
use crate::learn::hankel::{Accumulator, Cells, accumulate};
use crate::learn::operators::{self, ReducedMaps};
use crate::learn::projection::{Kind, Projection};
use crate::learn::target::Target;
use crate::learn::words::{self, Occurrences, Word, WordIndex};

fn occurrences_named(name: &str) -> Result<Occurrences> {
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
    let mut rows = vec![0.0; words.len() * dim];
    for (word, row) in words.iter().zip(rows.chunks_exact_mut(dim)) {
        let bytes: Vec<u8> = word.iter().flat_map(|symbol| symbol.to_le_bytes()).collect();
        projection.add_to(projection.key(&bytes), 1.0, row);
    }
    rows.into_pyarray(py).reshape([words.len(), dim])
}

/// What is counted: words, targets, projection. Targets are (name, discount, offset).
#[pyclass(frozen, module = "uqf._core")]
pub struct HankelSettings {
    inner: Settings,
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

fn values<'py>(py: Python<'py>, sums: &[Double]) -> Bound<'py, PyArray1<f64>> {
    sums.iter().map(|sum| sum.value()).collect::<Vec<f64>>().into_pyarray(py)
}

type Triplets<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

fn triplets<'py>(py: Python<'py>, cells: &Cells, width: u64) -> Triplets<'py> {
    let (mut rows, mut columns, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    cells.for_each(|cell, sum| {
        rows.push((cell / width) as i64);
        columns.push((cell % width) as i64);
        entries.push(sum.value());
    });
    (rows.into_pyarray(py), columns.into_pyarray(py), entries.into_pyarray(py))
}

/// Sums over episodes, not yet divided by their number. Merging in any grouping gives the same bits.
#[pyclass(module = "uqf._core")]
pub struct HankelStatistics {
    inner: Accumulator,
}

#[pymethods]
impl HankelStatistics {
    /// One pass over the data. `by_symbol` also keeps a block per symbol, so that no second pass is needed.
    #[staticmethod]
    #[pyo3(signature = (data, settings, *, by_symbol=false, threads=None, progress=None))]
    fn accumulate(
        py: Python<'_>,
        data: Arrays<'_>,
        settings: &HankelSettings,
        by_symbol: bool,
        threads: Option<i64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (view, threads, settings) = (data.view()?, thread_count(threads)?, &settings.inner);
        let run = |ticker: &_| accumulate(&view, settings, by_symbol, threads, ticker);
        job::long(py, progress.as_ref(), run).map(|inner| HankelStatistics { inner })
    }

    /// Sums over no episode at all, to merge into.
    #[staticmethod]
    #[pyo3(signature = (settings, *, by_symbol=false))]
    fn empty(settings: &HankelSettings, by_symbol: bool) -> Self {
        HankelStatistics { inner: Accumulator::new(&settings.inner, by_symbol) }
    }

    /// Adds the sums of another shard, in place.
    fn merge(&mut self, py: Python<'_>, other: &HankelStatistics) -> PyResult<()> {
        self.inner.merge(&other.inner, 1.0).map_err(|error| job::to_python(py, error))
    }

    /// Takes the sums of a shard out again, in place.
    fn subtract(&mut self, py: Python<'_>, other: &HankelStatistics) -> PyResult<()> {
        self.inner.merge(&other.inner, -1.0).map_err(|error| job::to_python(py, error))
    }

    /// The sums of both shards; neither changes.
    fn plus(&self, py: Python<'_>, other: &HankelStatistics) -> PyResult<Self> {
        let mut inner = self.inner.clone();
        inner.merge(&other.inner, 1.0).map_err(|error| job::to_python(py, error))?;
        Ok(HankelStatistics { inner })
    }

    #[getter]
    fn episodes(&self) -> u64 {
        self.inner.episodes
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.inner.steps
    }

    /// (left_dim, right_dim, targets)
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        self.inner.shape()
    }

    /// ((known, seen) prefix occurrences, (known, seen) suffix occurrences)
    #[getter]
    fn coverage(&self) -> ((u64, u64), (u64, u64)) {
        let pair = |coverage: Coverage| (coverage.known, coverage.seen);
        (pair(self.inner.coverage[0]), pair(self.inner.coverage[1]))
    }

    /// The Hankel block as (rows, columns, sums) of the cells that are not zero.
    fn block<'py>(&self, py: Python<'py>) -> Triplets<'py> {
        triplets(py, &self.inner.block, self.inner.shape().1 as u64)
    }

    /// Symbols for which there is a block of their own.
    #[getter]
    fn symbols(&self) -> Vec<u32> {
        self.inner.symbol_blocks.keys().copied().collect()
    }

    /// The block of one symbol, as `block`.
    fn symbol_block<'py>(&self, py: Python<'py>, symbol: u32) -> PyResult<Triplets<'py>> {
        let cells = self.inner.symbol_blocks.get(&symbol);
        let cells = cells.ok_or_else(|| PyKeyError::new_err(format!("symbol {symbol} was not seen")))?;
        Ok(triplets(py, cells, self.inner.shape().1 as u64))
    }

    /// Column λ of every target, (left_dim, targets).
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (left, _, targets) = self.inner.shape();
        values(py, &self.inner.columns).reshape([left, targets])
    }

    /// Row λ at the first step of the episodes, (right_dim,).
    fn start<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        values(py, &self.inner.start)
    }

    /// Row λ summed over every place of the episodes, (right_dim,).
    fn average<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        values(py, &self.inner.average)
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = &self.inner;
        let state = PyDict::new(py);
        state.set_item("shape", inner.shape())?;
        state.set_item("by_symbol", inner.by_symbol)?;
        state.set_item("counts", (inner.episodes, inner.steps))?;
        state.set_item("coverage", self.coverage())?;
        state.set_item("block", cells_to_python(py, &inner.block))?;
        let blocks = PyDict::new(py);
        for (symbol, cells) in &inner.symbol_blocks {
            blocks.set_item(symbol, cells_to_python(py, cells))?;
        }
        state.set_item("symbol_blocks", blocks)?;
        for (name, sums) in
            [("columns", &inner.columns), ("start", &inner.start), ("average", &inner.average)]
        {
            let parts: Vec<f64> = sums.iter().flat_map(|sum| <[f64; 2]>::from(sum.parts())).collect();
            state.set_item(name, parts.into_pyarray(py))?;
        }
        Ok(state)
    }

    #[staticmethod]
    fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let field = |name: &str| {
            state.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("statistics without {name}")))
        };
        let shape: (usize, usize, usize) = field("shape")?.extract()?;
        let (episodes, steps) = field("counts")?.extract()?;
        let ((known, seen), (other_known, other_seen)) = field("coverage")?.extract()?;
        let vector = |name: &str, length: usize| -> PyResult<Vec<Double>> {
            let parts: PyReadonlyArray1<'_, f64> = aligned(&field(name)?)?.extract()?;
            let sums: Vec<Double> =
                parts.as_slice()?.chunks_exact(2).map(|pair| Double::from_parts(pair[0], pair[1])).collect();
            if sums.len() != length {
                return Err(PyValueError::new_err(format!(
                    "{name} has {} sums, expected {length}",
                    sums.len()
                )));
            }
            Ok(sums)
        };
        let cells = shape.0.saturating_mul(shape.1);
        let mut inner = Accumulator::of_shape(shape, field("by_symbol")?.extract()?);
        inner.block = cells_from_python(inner.block, &field("block")?, cells)?;
        for (symbol, stored) in field("symbol_blocks")?.cast::<PyDict>()?.iter() {
            inner
                .symbol_blocks
                .insert(symbol.extract()?, cells_from_python(Cells::touched(), &stored, cells)?);
        }
        inner.columns = vector("columns", shape.0 * shape.2)?;
        inner.start = vector("start", shape.1)?;
        inner.average = vector("average", shape.1)?;
        (inner.episodes, inner.steps) = (episodes, steps);
        inner.coverage = [Coverage { known, seen }, Coverage { known: other_known, seen: other_seen }];
        Ok(HankelStatistics { inner })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let state = slf.borrow().__getstate__(slf.py())?;
        Ok((slf.get_type().getattr("from_state")?, (state,)))
    }
}

type StoredCells<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>);

/// Arrays that came over a network may begin anywhere in memory; those are copied.
fn aligned<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.py().import("numpy")?.call_method1("require", (array, array.py().None(), ["C", "A"]))
}

fn cells_to_python<'py>(py: Python<'py>, cells: &Cells) -> StoredCells<'py> {
    let (mut keys, mut parts) = (Vec::new(), Vec::new());
    cells.for_each(|cell, sum| {
        keys.push(cell);
        parts.extend(<[f64; 2]>::from(sum.parts()));
    });
    (keys.into_pyarray(py), parts.into_pyarray(py))
}

fn cells_from_python(mut cells: Cells, stored: &Bound<'_, PyAny>, count: usize) -> PyResult<Cells> {
    let (keys, parts): (Bound<'_, PyAny>, Bound<'_, PyAny>) = stored.extract()?;
    let keys: PyReadonlyArray1<'_, u64> = aligned(&keys)?.extract()?;
    let parts: PyReadonlyArray1<'_, f64> = aligned(&parts)?.extract()?;
    let (keys, parts) = (keys.as_slice()?, parts.as_slice()?);
    if parts.len() != 2 * keys.len() || keys.iter().any(|&key| key >= count as u64) {
        return Err(PyValueError::new_err("stored cells lie outside the block"));
    }
    for (key, pair) in keys.iter().zip(parts.chunks_exact(2)) {
        cells.set(*key, Double::from_parts(pair[0], pair[1]));
    }
    Ok(cells)
}

type SeenOperators<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray3<f64>>);

/// (seen symbols, operators summed over the episodes): Σ (left · left_map) ⊗ (right · right_map) by symbol.
#[pyfunction]
#[pyo3(signature = (data, settings, left_map, right_map, *, threads=None, progress=None))]
pub fn sum_operators<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    settings: &HankelSettings,
    left_map: PyReadonlyArray2<'py, f64>,
    right_map: PyReadonlyArray2<'py, f64>,
    threads: Option<i64>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<SeenOperators<'py>> {
    let rank = left_map.shape()[1];
    let maps = ReducedMaps { rank, left: left_map.as_slice()?, right: right_map.as_slice()? };
    let (view, threads, settings) = (data.view()?, thread_count(threads)?, &settings.inner);
    let run = |ticker: &_| operators::operators(&view, settings, &maps, threads, ticker);
    let found = job::long(py, progress.as_ref(), run)?;
    let symbols: Vec<i64> = found.keys().map(|&symbol| i64::from(symbol)).collect();
    let stacked: Vec<f64> = found.into_values().flatten().collect();
    let stacked = Array3::from_shape_vec((symbols.len(), rank, rank), stacked)
        .map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    Ok((symbols.into_pyarray(py), stacked.into_pyarray(py)))
}
