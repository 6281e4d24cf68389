//! Policies over the last few symbols, and the contexts of a data set.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, in_rows, large, shaped, small};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::error::Result;
use crate::learn::contexts;
use crate::parts;
use crate::policies::context::{self, MAX_DEPTH};
use crate::simulate::policy::Policy;

type Tree<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// The contexts of up to `depth` symbols that occur before the steps of a data set: (parents (nodes − 1,), symbols
/// (nodes − 1,), and the node of the longest context at every cut (n_steps + n_episodes,)). Node 0 is the empty
/// context. One of two or more symbols must have occurred `min_count` times. Of more than `max_nodes` the commonest are
/// kept, short ones first.
#[pyfunction]
pub fn context_tree<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    depth: usize,
    min_count: u32,
    max_nodes: usize,
) -> PyResult<Tree<'py>> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!("depth = {depth}: give 0 to {MAX_DEPTH} symbols")));
    }
    let view = data.view()?;
    let tree = job::quick(py, || Ok(contexts::tree(&view, depth, min_count, max_nodes)))?;
    let (parents, symbols): (Vec<u32>, Vec<u32>) = tree.edges.into_iter().unzip();
    Ok((large(py, parents), large(py, symbols), large(py, tree.at_cuts)))
}

/// Values by the longest known context that a history ends with.
///
/// Contexts form a tree: node 0 is empty, and node i + 1 reaches one symbol farther back, `symbols[i]`, than node
/// `parents[i]`. The symbols after those of steps are what episodes showed before their first action, and the last one
/// that nothing was shown.
///
/// Parameters
/// ----------
/// parents, symbols : (nodes − 1,)
///     The tree.
/// values : (nodes, n_actions)
///     What an action is worth after a context.
/// n_observations : int
///     Size of the alphabet.
/// temperature : float
///     0 acts greedily; more draws actions from softmax(q_values / temperature).
///
/// Examples
/// --------
/// >>> import uqf
/// >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
/// >>> policy = uqf.ContextQ(0.95, depth=1).fit(data).policy_
/// >>> state = policy.update(policy.initial_state(), action=0, observation=1)
/// >>> policy.q_values(state).shape
/// (3,)
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct ContextPolicy {
    inner: Arc<context::ContextPolicy>,
}

fn wrap(made: Result<context::ContextPolicy>) -> PyResult<PyClassInitializer<ContextPolicy>> {
    Ok(CompiledPolicy::of(Arc::new(made?), |inner| ContextPolicy { inner }))
}

#[pymethods]
impl ContextPolicy {
    #[new]
    #[pyo3(signature = (*, parents, symbols, values, n_observations, temperature=0.0))]
    fn new(
        parents: PyReadonlyArray1<'_, i64>,
        symbols: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray2<'_, f64>,
        n_observations: usize,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (parents, symbols) =
            (small("parents", parents.as_slice()?)?, small("symbols", symbols.as_slice()?)?);
        if parents.len() != symbols.len() {
            return Err(PyValueError::new_err(format!(
                "{} parents and {} symbols: give one of each for every context",
                parents.len(),
                symbols.len()
            )));
        }
        let (n_actions, values) = (values.shape()[1], in_rows(&values)?.into_owned());
        let edges = parents.into_iter().zip(symbols).collect();
        wrap(context::ContextPolicy::new(edges, values, n_actions, n_observations, temperature))
    }

    /// (nodes, n_actions)
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (values, n_actions) = (&self.inner.values, self.inner.n_actions());
        shaped(py, values.iter().copied(), [values.len() / n_actions, n_actions])
    }

    /// Acts at temperature 1 on the sum of both values, each in units of its own temperature.
    ///
    /// The contexts of both become one tree, so acting takes no longer however many policies were added.
    fn plus(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<Py<ContextPolicy>> {
        Py::new(slf.py(), wrap(slf.get().inner.plus(&other.get().inner))?)
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let edges = &self.inner.edges;
        parts!(PyDict::new(py), {
            "parents": large(py, edges.iter().map(|edge| edge.0)),
            "symbols": large(py, edges.iter().map(|edge| edge.1)),
            "values": self.values(py)?,
            "n_observations": self.inner.n_observations(),
            "temperature": self.inner.temperature(),
        })
    }
}
