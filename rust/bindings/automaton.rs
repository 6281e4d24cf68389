//! Automata: operators by symbol.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::convert::{below, in_rows};
use crate::bindings::job;
use crate::policies::automaton;

/// Operators by symbol.
#[pyclass(frozen, module = "uqf._core")]
pub struct Automaton {
    inner: automaton::Automaton,
}

#[pymethods]
impl Automaton {
    /// `operators` (seen, rank, rank) belong to `symbols` (seen,); the others are zero.
    #[new]
    fn new(
        py: Python<'_>,
        symbols: PyReadonlyArray1<'_, i64>,
        operators: PyReadonlyArray3<'_, f64>,
        n_symbols: usize,
    ) -> PyResult<Self> {
        let (rank, operators) = (operators.shape()[1], in_rows(&operators)?.into_owned());
        let made = automaton::Automaton::new(rank, n_symbols, symbols.as_slice()?, operators);
        made.map(|inner| Automaton { inner }).map_err(|error| job::to_python(py, error))
    }

    /// α A_word ω of every word; word i is `symbols[offsets[i]:offsets[i + 1]]`.
    fn values<'py>(
        &self,
        py: Python<'py>,
        alpha: PyReadonlyArray1<'py, f64>,
        omega: PyReadonlyArray1<'py, f64>,
        symbols: PyReadonlyArray1<'py, i64>,
        offsets: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (alpha, omega) = (alpha.as_slice()?, omega.as_slice()?);
        let (symbols, offsets) = (symbols.as_slice()?, offsets.as_slice()?);
        let values = job::quick(py, || self.inner.values(alpha, omega, symbols, offsets))?;
        Ok(values.into_pyarray(py))
    }

    /// The state (a row vector) after one more symbol; unscaled.
    fn step<'py>(
        &self,
        py: Python<'py>,
        state: PyReadonlyArray1<'py, f64>,
        symbol: i64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (state, rank) = (state.as_slice()?, self.inner.rank());
        if state.len() != rank {
            return Err(PyValueError::new_err(format!("state has {} entries, not {rank}", state.len())));
        }
        let mut next = vec![0.0; rank];
        let place = self.inner.place(below("symbol", symbol, self.inner.n_symbols())?);
        if place != automaton::UNSEEN {
            self.inner.step(state, place, &mut next);
        }
        Ok(next.into_pyarray(py))
    }
}
