//! Hankel statistics: what is counted, the sums, and the sums as plain arrays (how they are pickled and stored).

use numpy::IntoPyArray;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, Vector, Whole, collected, count, field, numbers, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::parts::attribute;
use crate::learn::spectral::cuts::{Coverage, Settings};
use crate::learn::spectral::double::{Double, Quantum};
use crate::learn::spectral::hankel::{Accumulator, Cells, accumulate};
use crate::learn::spectral::target::Target;
use crate::learn::spectral::words::{Occurrences, Word};
use crate::parts;

/// What is counted, from a `uqf.learn.spectral.basis.Counting`.
pub fn settings(counting: &Bound<'_, PyAny>) -> PyResult<Settings> {
    let (basis, target) = (counting.getattr("basis")?, counting.getattr("target")?);
    let occurrences = Occurrences::named(&attribute::<String>(&basis, "occurrences")?)?;
    let (discount, offset) = (attribute(&target, "discount")?, attribute(&target, "offset")?);
    let target = Target::named(&attribute::<String>(&target, "name")?, discount, offset)?;
    let quantum = Quantum::for_size(attribute(counting, "term_size")?);
    if let Some((prefixes, suffixes)) = attribute::<Option<(Vec<Word>, Vec<Word>)>>(counting, "words")? {
        return Ok(Settings::listed(occurrences, target, quantum, prefixes, suffixes)?);
    }
    let number = |name: &str| count(name, attribute(&basis, name)?);
    let longest = (number("max_prefix")?, number("max_suffix")?);
    let (kind, seed): (String, _) = (attribute(&basis, "projection")?, attribute(&basis, "seed")?);
    let projection = (kind.as_str(), number("prefix_dim")?, number("suffix_dim")?, seed);
    Ok(Settings::projected(occurrences, target, quantum, longest, projection)?)
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
    #[pyo3(signature = (data, counting, *, by_symbol=false, threads=None, progress=None))]
    fn accumulate(
        py: Python<'_>,
        data: Arrays<'_>,
        counting: &Bound<'_, PyAny>,
        by_symbol: bool,
        threads: Option<Whole<i64>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (view, threads, settings) = (data.view()?, thread_count(threads)?, settings(counting)?);
        let run = |ticker: &_| accumulate(&view, &settings, by_symbol, threads, ticker);
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

/// The sums as plain arrays. Cells of the block, whose owner is −1, and of those of the symbols stand one after the other:
/// those of owner i are `offsets[i]..offsets[i + 1]`, each with its place (`keys`) and the two parts of its sum.
fn to_state<'py>(py: Python<'py>, inner: &Accumulator) -> PyResult<Bound<'py, PyDict>> {
    let (mut owners, mut offsets, mut keys, mut parts) = (vec![], vec![0], vec![], vec![]);
    let by_symbol = inner.symbol_blocks.iter().map(|(&symbol, cells)| (i64::from(symbol), cells));
    for (owner, cells) in std::iter::once((-1, &inner.block)).chain(by_symbol) {
        cells.for_each(|cell, sum| {
            keys.push(cell);
            parts.extend(<[f64; 2]>::from(sum.parts()));
        });
        owners.push(owner);
        offsets.push(keys.len() as i64);
    }
    let line = |sums: &[Double]| collected(py, sums.iter().flat_map(|sum| <[f64; 2]>::from(sum.parts())));
    parts!(PyDict::new(py), {
        "shape": inner.shape(),
        "by_symbol": inner.by_symbol,
        "counts": (inner.episodes, inner.steps),
        "coverage": coverage(inner),
        "owners": owners.into_pyarray(py),
        "offsets": offsets.into_pyarray(py),
        "keys": keys.into_pyarray(py),
        "parts": parts.into_pyarray(py),
        "column": line(&inner.column),
        "start": line(&inner.start),
        "average": line(&inner.average),
    })
}

/// The sums of such arrays; refused where sizes do not fit, before memory is taken for them.
fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Accumulator> {
    let field = |name: &str| field(state, "statistics", name);
    let shape: (usize, usize) = field("shape")?.extract()?;
    let line = |name: &str, length: usize| -> PyResult<Vec<Double>> {
        let parts: Vec<f64> = numbers(&field(name)?)?;
        if parts.len() != length.saturating_mul(2) {
            let message = format!("{name} has {} numbers for a shape of {shape:?}", parts.len());
            return Err(PyValueError::new_err(message));
        }
        Ok(parts.chunks_exact(2).map(|pair| Double::from_parts(pair[0], pair[1])).collect())
    };
    let lines = [line("column", shape.0)?, line("start", shape.1)?, line("average", shape.1)?];
    let (owners, offsets): (Vec<i64>, Vec<i64>) = (numbers(&field("owners")?)?, numbers(&field("offsets")?)?);
    let (keys, parts): (Vec<u64>, Vec<f64>) = (numbers(&field("keys")?)?, numbers(&field("parts")?)?);
    let cut =
        offsets.first() == Some(&0) && offsets.last() == Some(&(keys.len() as i64)) && offsets.is_sorted();
    if !cut || offsets.len() != owners.len() + 1 || owners.first() != Some(&-1) {
        return Err(PyValueError::new_err("offsets do not cut the cells into those of their owners"));
    }
    let cells = shape.0.saturating_mul(shape.1) as u64;
    if parts.len() != 2 * keys.len() || keys.iter().any(|&key| key >= cells) {
        return Err(PyValueError::new_err("stored cells lie outside the block"));
    }
    let mut inner = Accumulator::of_shape(shape, field("by_symbol")?.extract()?);
    for (owner, ends) in owners.into_iter().zip(offsets.windows(2)) {
        let cells = match u32::try_from(owner) {
            Ok(symbol) => inner.symbol_blocks.entry(symbol).or_insert_with(Cells::touched),
            Err(_) => &mut inner.block,
        };
        for place in ends[0] as usize..ends[1] as usize {
            cells.set(keys[place], Double::from_parts(parts[2 * place], parts[2 * place + 1]));
        }
    }
    [inner.column, inner.start, inner.average] = lines;
    (inner.episodes, inner.steps) = field("counts")?.extract()?;
    let ((known, seen), (other_known, other_seen)) = field("coverage")?.extract()?;
    inner.coverage = [Coverage { known, seen }, Coverage { known: other_known, seen: other_seen }];
    Ok(inner)
}
