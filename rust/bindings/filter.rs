//! Affine filters, and policies that act on their states.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{in_rows, shaped, threads as thread_count};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::learn::spectral::filter;
use crate::parts;
use crate::policies::filter::{self as policies, Parts};
use crate::simulate::policy::Policy;

/// x' = [1, x] · operators[symbol], shortened to a root mean square of `reach` where it is longer.
///
/// operators : (symbols, 1 + rank, rank)
#[pyclass(frozen, module = "uqf._core")]
pub struct Filter {
    inner: filter::Filter,
}

#[pymethods]
impl Filter {
    #[new]
    fn new(operators: PyReadonlyArray3<'_, f32>, reach: f32) -> PyResult<Self> {
        Ok(Filter { inner: filter::Filter::new(operators.shape()[2], &in_rows(&operators)?, reach)? })
    }

    /// [1, state] at every cut of episodes, (n_steps + n_episodes, 1 + rank).
    ///
    /// places : (n_steps,), the symbol of every step, −1 for one that changes nothing; starts : (n_episodes, rank), the
    /// states before the first steps; with `backward` those after the last steps, and states run from there back.
    #[pyo3(signature = (places, offsets, starts, *, backward=false, threads=None))]
    fn along<'py>(
        &self,
        py: Python<'py>,
        places: PyReadonlyArray1<'py, i32>,
        offsets: PyReadonlyArray1<'py, i64>,
        starts: PyReadonlyArray2<'py, f32>,
        backward: bool,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let starts = in_rows(&starts)?;
        let (places, offsets) = (places.as_slice()?, offsets.as_slice()?);
        let threads = thread_count(threads)?;
        let width = 1 + self.inner.rank();
        let rows = job::long(py, None, |ticker| {
            self.inner.along(places, offsets, &starts, backward, threads, ticker)
        })?;
        let count = rows.len() / width;
        shaped(py, rows, [count, width])
    }
}

/// Acts on the state of a filter: q(h, a) = [1, state(h)] · weights[:, a].
///
/// A symbol that is not among `symbols` changes nothing.
///
/// Parameters
/// ----------
/// symbols, operators : (seen,), (seen, 1 + rank, rank)
///     State after a symbol: [1, state] · operator.
/// n_observations : int
///     Size of the alphabet.
/// start : (rank,)
///     State before the first step.
/// reach : float
///     A state is shortened to this root mean square where it is longer.
/// weights : (1 + rank, n_actions)
///     What an action is worth, linear in the state.
/// temperature : float
///     0 acts greedily; more draws actions from softmax(q_values / temperature).
///
/// Examples
/// --------
/// >>> import uqf
/// >>> data = uqf.rollout(uqf.make("gridworld-near"), episodes=100, seed=0)
/// >>> policy = uqf.SpectralQ(0.99).fit(data).policy_
/// >>> type(policy).__name__, policy.n_actions
/// ('FilterPolicy', 4)
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct FilterPolicy {
    inner: Arc<policies::FilterPolicy>,
}

#[pymethods]
impl FilterPolicy {
    #[new]
    #[pyo3(signature = (*, symbols, operators, n_observations, start, reach, weights, temperature=0.0))]
    fn new(
        symbols: PyReadonlyArray1<'_, i64>,
        operators: PyReadonlyArray3<'_, f32>,
        n_observations: usize,
        start: PyReadonlyArray1<'_, f32>,
        reach: f32,
        weights: PyReadonlyArray2<'_, f64>,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let parts = Parts {
            n_actions: weights.shape()[1],
            n_observations,
            symbols: symbols.as_slice()?,
            filter: filter::Filter::new(operators.shape()[2], &in_rows(&operators)?, reach)?,
            start: start.as_slice()?.to_vec(),
            weights: in_rows(&weights)?.into_owned(),
            temperature,
        };
        Ok(CompiledPolicy::of(Arc::new(policies::FilterPolicy::new(parts)?), |inner| FilterPolicy { inner }))
    }

    #[getter]
    fn rank(&self) -> usize {
        self.inner.filter.rank()
    }

    /// (seen symbols, 1 + rank, rank)
    #[getter]
    fn operators<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let (filter, rank) = (&self.inner.filter, self.rank());
        shaped(py, filter.operators(), [filter.n_symbols(), 1 + rank, rank])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = &self.inner;
        parts!(PyDict::new(py), {
            "symbols": inner.places.symbols().into_pyarray(py),
            "operators": self.operators(py)?,
            "n_observations": inner.n_observations(),
            "start": inner.start.clone().into_pyarray(py),
            "reach": inner.filter.reach(),
            "weights": shaped(py, inner.weights.iter().copied(), [1 + self.rank(), inner.n_actions()])?,
            "temperature": inner.temperature(),
        })
    }
}
