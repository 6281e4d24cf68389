//! Sums along episodes, in place.

use numpy::{PyReadonlyArray1, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::along;

/// Rows of either precision.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    Double(PyReadwriteArrayDyn<'py, f64>),
    Single(PyReadwriteArrayDyn<'py, f32>),
}

fn width_of(shape: &[usize], by_rows: bool, offsets: &[i64]) -> PyResult<usize> {
    let (rows, width) = match *shape {
        [rows] => (rows, 1),
        [rows, width] if width > 0 && by_rows => (rows, width),
        _ => {
            let message =
                format!("rows has shape {shape:?}: give (n_steps,), or (n_steps, width) row by row");
            return Err(PyValueError::new_err(message));
        }
    };
    if offsets.last().copied() != Some(rows as i64) || offsets[0] != 0 || !offsets.is_sorted() {
        return Err(PyValueError::new_err(format!("offsets do not cut {rows} rows into episodes")));
    }
    Ok(width)
}

/// In place, within every episode: rows[t] += factor · rows[t + 1], from the last step to the first; with `forward`
/// rows[t] += factor · rows[t − 1] from the first to the last. `rows` are (n_steps,) or (n_steps, width).
#[pyfunction]
#[pyo3(signature = (rows, offsets, factor, *, forward=false))]
pub fn discounted_sums(
    py: Python<'_>,
    rows: Rows<'_>,
    offsets: PyReadonlyArray1<'_, i64>,
    factor: f64,
    forward: bool,
) -> PyResult<()> {
    let offsets = offsets.as_slice()?;
    match rows {
        Rows::Double(mut rows) => {
            let width = width_of(rows.shape(), rows.is_c_contiguous(), offsets)?;
            let run = if forward { along::discounted_forward } else { along::discounted_backward };
            let rows = rows.as_slice_mut()?;
            py.detach(|| run(rows, width, offsets, factor));
        }
        Rows::Single(mut rows) => {
            let width = width_of(rows.shape(), rows.is_c_contiguous(), offsets)?;
            let run = if forward { along::discounted_forward } else { along::discounted_backward };
            let rows = rows.as_slice_mut()?;
            py.detach(|| run(rows, width, offsets, factor as f32));
        }
    }
    Ok(())
}
