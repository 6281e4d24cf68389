//! Hankel statistics as plain arrays and back: how they are pickled and stored.

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{aligned, field};
use crate::learn::spectral::cuts::Coverage;
use crate::learn::spectral::double::Double;
use crate::learn::spectral::hankel::{Accumulator, Cells};

/// Words (known, seen) among the prefixes and among the suffixes.
pub fn coverage(inner: &Accumulator) -> ((u64, u64), (u64, u64)) {
    let [prefixes, suffixes] = inner.coverage;
    ((prefixes.known, prefixes.seen), (suffixes.known, suffixes.seen))
}

/// The sums as plain arrays.
pub fn to_state<'py>(py: Python<'py>, inner: &Accumulator) -> PyResult<Bound<'py, PyDict>> {
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
pub fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Accumulator> {
    let field = |name: &str| field(state, "statistics", name);
    let shape: (usize, usize) = field("shape")?.extract()?;
    let (episodes, steps) = field("counts")?.extract()?;
    let ((known, seen), (other_known, other_seen)) = field("coverage")?.extract()?;
    let vector = |name: &str, length: usize| -> PyResult<Vec<Double>> {
        let parts = aligned::<f64>(&field(name)?)?;
        let sums: Vec<Double> =
            parts.as_slice()?.chunks_exact(2).map(|pair| Double::from_parts(pair[0], pair[1])).collect();
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

type StoredCells<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>);

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
    let (keys, parts) = (aligned::<u64>(&keys)?, aligned::<f64>(&parts)?);
    let (keys, parts) = (keys.as_slice()?, parts.as_slice()?);
    if parts.len() != 2 * keys.len() || keys.iter().any(|&key| key >= count as u64) {
        return Err(PyValueError::new_err("stored cells lie outside the block"));
    }
    for (key, pair) in keys.iter().zip(parts.chunks_exact(2)) {
        cells.set(*key, Double::from_parts(pair[0], pair[1]));
    }
    Ok(cells)
}
