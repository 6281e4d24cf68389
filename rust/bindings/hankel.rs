//! Hankel statistics and operators.

use numpy::{IntoPyArray, PyArray1, PyArray3, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, collected, in_rows, large, shaped, threads as thread_count};
use crate::bindings::words::HankelSettings;
use crate::bindings::{hankel_state, job};
use crate::learn::spectral::double::Double;
use crate::learn::spectral::hankel::{Accumulator, Cells, accumulate};
use crate::learn::spectral::operators::{self, ReducedMaps};

fn values<'py>(py: Python<'py>, sums: &[Double]) -> Bound<'py, PyArray1<f64>> {
    collected(py, sums.iter().map(|sum| sum.value()))
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
    fn merge(&mut self, other: &HankelStatistics) -> PyResult<()> {
        Ok(self.inner.merge(&other.inner, 1.0)?)
    }

    /// Takes the sums of a shard out again, in place.
    fn subtract(&mut self, other: &HankelStatistics) -> PyResult<()> {
        Ok(self.inner.merge(&other.inner, -1.0)?)
    }

    /// The sums of both shards; neither changes.
    fn plus(&self, other: &HankelStatistics) -> PyResult<Self> {
        let mut inner = self.inner.clone();
        inner.merge(&other.inner, 1.0)?;
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

    /// (left_dim, right_dim)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    /// ((known, seen) prefix occurrences, (known, seen) suffix occurrences)
    #[getter]
    fn coverage(&self) -> ((u64, u64), (u64, u64)) {
        hankel_state::coverage(&self.inner)
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

    /// Column λ, (left_dim,).
    fn column<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        values(py, &self.inner.column)
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
        hankel_state::to_state(py, &self.inner)
    }

    #[staticmethod]
    fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(HankelStatistics { inner: hankel_state::from_state(state)? })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let state = slf.borrow().__getstate__(slf.py())?;
        Ok((slf.get_type().getattr("from_state")?, (state,)))
    }
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
    let (left, right) = (in_rows(&left_map)?, in_rows(&right_map)?);
    let maps = ReducedMaps { rank, left: &left, right: &right };
    let (view, threads, settings) = (data.view()?, thread_count(threads)?, &settings.inner);
    let run = |ticker: &_| operators::operators(&view, settings, &maps, threads, ticker);
    let found = job::long(py, progress.as_ref(), run)?;
    let (symbols, shape) = (large(py, found.keys().copied()), [found.len(), rank, rank]);
    Ok((symbols, shaped(py, found.into_values().flatten(), shape)?))
}
