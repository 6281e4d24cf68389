//! Many episodes of one policy.

use std::sync::{Mutex, MutexGuard};

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::convert::{Matrix, Vector, Whole, threads as thread_count};
use crate::bindings::job;
use crate::simulate::batch::{AllSeen, Episodes};

/// More is a slip of the finger, and would fill the memory before anyone noticed.
const MAX_EPISODES: i64 = 100_000_000;

/// Fewer episodes than this are stepped by one thread before others could be woken.
const MIN_PARALLEL: usize = 256;

/// A policy acting in many episodes at once; made by `policy.batch(n)`.
#[pyclass(frozen, module = "uqf._core")]
pub struct PolicyBatch {
    // Locked only where the interpreter is released: a thread that waits for both would wait for ever.
    episodes: Mutex<Box<dyn Episodes>>,
    n: usize,
    n_actions: usize,
}

impl PolicyBatch {
    pub fn new(n: i64, n_actions: usize, make: impl FnOnce(usize) -> Box<dyn Episodes>) -> PyResult<Self> {
        if !(1..=MAX_EPISODES).contains(&n) {
            return Err(PyValueError::new_err(format!("n = {n}: give 1 to {MAX_EPISODES} episodes")));
        }
        Ok(PolicyBatch { episodes: Mutex::new(make(n as usize)), n: n as usize, n_actions })
    }

    fn threads(&self, given: Option<Whole<i64>>) -> PyResult<usize> {
        if given.is_none() && self.n < MIN_PARALLEL { Ok(1) } else { thread_count(given) }
    }

    fn by_action<'py>(
        &self,
        py: Python<'py>,
        values: bool,
        threads: Option<Whole<i64>>,
    ) -> PyResult<Matrix<'py>> {
        let threads = self.threads(threads)?;
        let rows = job::quick(py, || self.locked().by_action(values, threads))?;
        rows.into_pyarray(py).reshape([self.n, self.n_actions])
    }

    fn locked(&self) -> MutexGuard<'_, Box<dyn Episodes>> {
        self.episodes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl PolicyBatch {
    fn __len__(&self) -> usize {
        self.n
    }

    /// Probability of every action in every episode: (n, n_actions).
    #[pyo3(signature = (*, threads=None))]
    fn action_probs<'py>(&self, py: Python<'py>, threads: Option<Whole<i64>>) -> PyResult<Matrix<'py>> {
        self.by_action(py, false, threads)
    }

    /// What every action is worth in every episode: (n, n_actions).
    #[pyo3(signature = (*, threads=None))]
    fn q_values<'py>(&self, py: Python<'py>, threads: Option<Whole<i64>>) -> PyResult<Matrix<'py>> {
        self.by_action(py, true, threads)
    }

    /// An action for every episode, (n,), each drawn with the random stream of its own episode.
    #[pyo3(signature = (*, threads=None))]
    fn act<'py>(&self, py: Python<'py>, threads: Option<Whole<i64>>) -> PyResult<Vector<'py, i64>> {
        let threads = self.threads(threads)?;
        Ok(job::quick(py, || self.locked().act(threads))?.into_pyarray(py))
    }

    /// Takes in the action of every episode, (n,), and what was seen: codes (n,), or raw columns (n, d) as float32 for a
    /// policy that has `column_sizes`.
    #[pyo3(signature = (actions, observations, *, threads=None))]
    fn update(
        &self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        observations: Observations<'_>,
        threads: Option<Whole<i64>>,
    ) -> PyResult<()> {
        let (actions, threads) = (actions.as_slice()?, self.threads(threads)?);
        let seen = observations.seen()?;
        job::quick(py, || self.locked().update(actions, &seen, threads))
    }

    /// Begins the episodes marked in `starts` (n,) anew; `first`, like observations, is what they show before the first
    /// action.
    #[pyo3(signature = (starts, first=None))]
    fn reset(
        &self,
        py: Python<'_>,
        starts: PyReadonlyArray1<'_, bool>,
        first: Option<Observations<'_>>,
    ) -> PyResult<()> {
        let starts = starts.as_slice()?;
        let first = first.as_ref().map(Observations::seen).transpose()?;
        job::quick(py, || self.locked().reset(starts, first.as_ref()))
    }
}

/// What was seen in every episode.
#[derive(FromPyObject)]
pub enum Observations<'py> {
    Codes(PyReadonlyArray1<'py, i64>),
    Rows(PyReadonlyArray2<'py, f32>),
}

impl Observations<'_> {
    fn seen(&self) -> PyResult<AllSeen<'_>> {
        Ok(match self {
            Observations::Codes(codes) => AllSeen::Codes(codes.as_slice()?),
            Observations::Rows(rows) if rows.is_c_contiguous() => {
                AllSeen::Rows(rows.as_slice()?, rows.shape()[1])
            }
            Observations::Rows(_) => {
                return Err(PyValueError::new_err("observations: give rows that are contiguous"));
            }
        })
    }
}
