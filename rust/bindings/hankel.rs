//! Hankel statistics: what is counted, the sums, and the sums as plain arrays (how they are pickled and stored).

use numpy::IntoPyArray;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, Vector, Whole, collected, count, field, numbers, threads as thread_count,
};
use crate::bindings::job;
use crate::learn::spectral::cuts::{Coverage, Settings};
use crate::learn::spectral::double::{Double, Quantum};
use crate::learn::spectral::hankel::{Accumulator, Cells, accumulate};
use crate::learn::spectral::target::Target;
use crate::learn::spectral::words::{Occurrences, Word};

/// What is counted: words, target, projection. The target is (name, discount, offset).
#[pyclass(frozen, module = "uqf._core")]
pub struct HankelSettings {
    pub inner: Settings,
}

#[pymethods]
impl HankelSettings {
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

    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }
}

fn values<'py>(py: Python<'py>, sums: &[Double]) -> Vector<'py> {
    collected(py, sums.iter().map(|sum| sum.value()))
}

type Triplets<'py> = (Vector<'py, i64>, Vector<'py, i64>, Vector<'py>);

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
#[pyclass(frozen, module = "uqf._core")]
pub struct HankelStatistics {
    inner: Accumulator,
}

#[pymethods]
impl HankelStatistics {
    #[staticmethod]
    #[pyo3(signature = (data, settings, *, by_symbol=false, threads=None, progress=None))]
    fn accumulate(
        py: Python<'_>,
        data: Arrays<'_>,
        settings: &HankelSettings,
        by_symbol: bool,
        threads: Option<Whole<i64>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (view, threads, settings) = (data.view()?, thread_count(threads)?, &settings.inner);
        let run = |ticker: &_| accumulate(&view, settings, by_symbol, threads, ticker);
        job::long(py, progress.as_ref(), run).map(|inner| HankelStatistics { inner })
    }

    #[pyo3(signature = (other, sign=1.0))]
    fn plus(&self, other: &HankelStatistics, sign: f64) -> PyResult<Self> {
        let mut inner = self.inner.clone();
        inner.merge(&other.inner, sign)?;
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

    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    #[getter]
    fn coverage(&self) -> ((u64, u64), (u64, u64)) {
        coverage(&self.inner)
    }

    fn block<'py>(&self, py: Python<'py>) -> Triplets<'py> {
        triplets(py, &self.inner.block, self.inner.shape().1 as u64)
    }

    #[getter]
    fn symbols(&self) -> Vec<u32> {
        self.inner.symbol_blocks.keys().copied().collect()
    }

    fn symbol_block<'py>(&self, py: Python<'py>, symbol: u32) -> PyResult<Triplets<'py>> {
        let cells = self.inner.symbol_blocks.get(&symbol);
        let cells = cells.ok_or_else(|| PyKeyError::new_err(format!("symbol {symbol} was not seen")))?;
        Ok(triplets(py, cells, self.inner.shape().1 as u64))
    }

    fn column<'py>(&self, py: Python<'py>) -> Vector<'py> {
        values(py, &self.inner.column)
    }

    fn start<'py>(&self, py: Python<'py>) -> Vector<'py> {
        values(py, &self.inner.start)
    }

    fn average<'py>(&self, py: Python<'py>) -> Vector<'py> {
        values(py, &self.inner.average)
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_state(py, &self.inner)
    }

    #[staticmethod]
    fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(HankelStatistics { inner: from_state(state)? })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        Ok((slf.get_type().getattr("from_state")?, (slf.get().__getstate__(slf.py())?,)))
    }
}

/// Words (known, seen) among the prefixes and among the suffixes.
fn coverage(inner: &Accumulator) -> ((u64, u64), (u64, u64)) {
    let [prefixes, suffixes] = inner.coverage;
    ((prefixes.known, prefixes.seen), (suffixes.known, suffixes.seen))
}

/// The sums as plain arrays.
fn to_state<'py>(py: Python<'py>, inner: &Accumulator) -> PyResult<Bound<'py, PyDict>> {
    let state = PyDict::new(py);
    state.set_item("shape", inner.shape())?;
    state.set_item("by_symbol", inner.by_symbol)?;
    state.set_item("counts", (inner.episodes, inner.steps))?;
    state.set_item("coverage", coverage(inner))?;
    state.set_item("block", cells_to_python(py, &inner.block))?;
    let blocks = PyDict::new(py);
    for (symbol, cells) in &inner.symbol_blocks {
        blocks.set_item(symbol, cells_to_python(py, cells))?;
    }
    state.set_item("symbol_blocks", blocks)?;
    for (name, sums) in [("column", &inner.column), ("start", &inner.start), ("average", &inner.average)] {
        let parts: Vec<f64> = sums.iter().flat_map(|sum| <[f64; 2]>::from(sum.parts())).collect();
        state.set_item(name, parts.into_pyarray(py))?;
    }
    Ok(state)
}

/// The sums of such arrays; refused where sizes do not fit.
fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Accumulator> {
    let field = |name: &str| field(state, "statistics", name);
    let shape: (usize, usize) = field("shape")?.extract()?;
    let (episodes, steps) = field("counts")?.extract()?;
    let ((known, seen), (other_known, other_seen)) = field("coverage")?.extract()?;
    let vector = |name: &str, length: usize| -> PyResult<Vec<Double>> {
        let parts: Vec<f64> = numbers(&field(name)?)?;
        let pairs = parts.chunks_exact(2);
        let sums: Vec<Double> = pairs.map(|pair| Double::from_parts(pair[0], pair[1])).collect();
        if sums.len() != length {
            return Err(PyValueError::new_err(format!("{name} has {} sums, expected {length}", sums.len())));
        }
        Ok(sums)
    };
    let cells = shape.0.saturating_mul(shape.1);
    let mut inner = Accumulator::of_shape(shape, field("by_symbol")?.extract()?);
    inner.block = cells_from_python(inner.block, &field("block")?, cells)?;
    for (symbol, stored) in field("symbol_blocks")?.cast::<PyDict>()?.iter() {
        inner.symbol_blocks.insert(symbol.extract()?, cells_from_python(Cells::touched(), &stored, cells)?);
    }
    inner.column = vector("column", shape.0)?;
    inner.start = vector("start", shape.1)?;
    inner.average = vector("average", shape.1)?;
    (inner.episodes, inner.steps) = (episodes, steps);
    inner.coverage = [Coverage { known, seen }, Coverage { known: other_known, seen: other_seen }];
    Ok(inner)
}

type StoredCells<'py> = (Vector<'py, u64>, Vector<'py>);

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
    let (keys, parts): (Vec<u64>, Vec<f64>) = (numbers(&keys)?, numbers(&parts)?);
    if parts.len() != 2 * keys.len() || keys.iter().any(|&key| key >= count as u64) {
        return Err(PyValueError::new_err("stored cells lie outside the block"));
    }
    for (key, pair) in keys.iter().zip(parts.chunks_exact(2)) {
        cells.set(*key, Double::from_parts(pair[0], pair[1]));
    }
    Ok(cells)
}
