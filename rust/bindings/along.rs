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

/// One factor for all steps, or one for each.
#[derive(FromPyObject)]
pub enum Factor<'py> {
    Same(f64),
    Each(PyReadonlyArray1<'py, f64>),
}

/// In place, within every episode: rows[t] += factor · rows[t + 1], from the last step to the first; with `forward`
/// rows[t] += factor · rows[t − 1] from the first to the last. `rows` are (n_steps,) or (n_steps, width); `factor` is a
/// number, or factor[t] of an array (n_steps,).
#[pyfunction]
#[pyo3(signature = (rows, offsets, factor, *, forward=false))]
pub fn discounted_sums(
    py: Python<'_>,
    rows: Rows<'_>,
    offsets: PyReadonlyArray1<'_, i64>,
    factor: Factor<'_>,
    forward: bool,
) -> PyResult<()> {
    let offsets = offsets.as_slice()?;
    let (shape, by_rows) = match &rows {
        Rows::Double(rows) => (rows.shape(), rows.is_c_contiguous()),
        Rows::Single(rows) => (rows.shape(), rows.is_c_contiguous()),
    };
    let (width, steps) = (width_of(shape, by_rows, offsets)?, shape[0]);
    let each = match &factor {
        Factor::Same(factor) => &[*factor][..],
        Factor::Each(factors) if factors.len() == steps => factors.as_slice()?,
        Factor::Each(factors) => {
            return Err(PyValueError::new_err(format!(
                "factor has {} entries for {steps} steps",
                factors.len()
            )));
        }
    };
    let varies = matches!(factor, Factor::Each(_));
    let factor = |step: usize| each[if varies { step } else { 0 }];
    match rows {
        Rows::Double(mut rows) => {
            let rows = rows.as_slice_mut()?;
            py.detach(|| match forward {
                true => along::discounted_forward(rows, width, offsets, factor),
                false => along::discounted_backward(rows, width, offsets, factor),
            });
        }
        Rows::Single(mut rows) => {
            let rows = rows.as_slice_mut()?;
            let factor = |step| factor(step) as f32;
            py.detach(|| match forward {
                true => along::discounted_forward(rows, width, offsets, factor),
                false => along::discounted_backward(rows, width, offsets, factor),
            });
        }
    }
    Ok(())
}
