//! Features of histories, and policies that act on forests over them.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::automaton::AutomatonPolicy;
use crate::bindings::convert::{Arrays, in_rows, same_alphabets, shaped, threads as thread_count};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::parts;
use crate::policies::features::{self, Window};
use crate::policies::forest::{self, Forests};

/// Feature vectors of histories: the state of an automaton policy, or the last `length` steps, the latest first.
#[pyclass(frozen, module = "uqf._core")]
pub struct Features {
    inner: features::Features,
}

/// Features from the arguments that Python gives them by.
fn features_of(
    automaton: Option<Bound<'_, AutomatonPolicy>>,
    length: usize,
    one_hot: bool,
    n_actions: usize,
    n_observations: usize,
) -> PyResult<features::Features> {
    let features = match automaton {
        Some(policy) => features::Features::Automaton(policy.get().inner.clone()),
        None => features::Features::Window(Window { length, one_hot, n_actions, n_observations }),
    };
    features.validate()?;
    Ok(features)
}

fn feature_parts<'py>(py: Python<'py>, features: &features::Features) -> PyResult<Bound<'py, PyDict>> {
    let (automaton, length, one_hot) = match features {
        features::Features::Automaton(policy) => {
            (Some(Py::new(py, AutomatonPolicy::wrapped(policy.clone()))?), 0, false)
        }
        features::Features::Window(window) => (None, window.length, window.one_hot),
    };
    parts!(PyDict::new(py), {
        "automaton": automaton,
        "length": length,
        "one_hot": one_hot,
        "n_actions": features.n_actions(),
        "n_observations": features.n_observations(),
    })
}

#[pymethods]
impl Features {
    #[new]
    #[pyo3(signature = (*, automaton=None, length=0, one_hot=false, n_actions, n_observations))]
    fn new(
        automaton: Option<Bound<'_, AutomatonPolicy>>,
        length: usize,
        one_hot: bool,
        n_actions: usize,
        n_observations: usize,
    ) -> PyResult<Self> {
        Ok(Features { inner: features_of(automaton, length, one_hot, n_actions, n_observations)? })
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.dim()
    }

    /// The arguments that make these features again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        feature_parts(py, &self.inner)
    }

    /// Features at every cut of every episode: (n_steps + n_episodes, n_features).
    #[pyo3(signature = (data, *, threads=None))]
    fn along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (view, threads) = (data.view()?, thread_count(threads)?);
        same_alphabets("features", &view, self.inner.n_actions(), self.inner.n_observations())?;
        let rows = job::long(py, None, |ticker| self.inner.along(&view, threads, ticker))?;
        shaped(py, rows, [view.n_steps() + view.n_episodes(), self.inner.dim()])
    }
}

type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Places<'py> = PyReadonlyArray1<'py, i64>;

/// Acts on one forest per action, over features of the history: base + weights · x + the leaves that x falls into.
///
/// The first arguments are those of `Features`. base, weights : (n_actions,), (n_actions, n_features); trees, nodes :
/// (n_actions,), how many trees and nodes each forest has; roots, feature, threshold, left, right, value : those of all
/// forests, one after the other; roots and children count from the first node of their forest. A node goes left if
/// x[feature] ≤ threshold; a negative feature marks a leaf.
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct ForestPolicy {
    inner: Arc<forest::ForestPolicy>,
}

#[pymethods]
impl ForestPolicy {
    #[new]
    #[pyo3(signature = (*, automaton=None, length=0, one_hot=false, n_actions, n_observations, base, weights, trees,
                        nodes, roots, feature, threshold, left, right, value, temperature=0.0))]
    fn new(
        automaton: Option<Bound<'_, AutomatonPolicy>>,
        length: usize,
        one_hot: bool,
        n_actions: usize,
        n_observations: usize,
        base: Numbers<'_>,
        weights: PyReadonlyArray2<'_, f64>,
        trees: Places<'_>,
        nodes: Places<'_>,
        roots: Places<'_>,
        feature: Places<'_>,
        threshold: Numbers<'_>,
        left: Places<'_>,
        right: Places<'_>,
        value: Numbers<'_>,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let features = features_of(automaton, length, one_hot, n_actions, n_observations)?;
        let forests = Forests {
            base: base.as_slice()?.to_vec(),
            weights: in_rows(&weights)?.into_owned(),
            trees: trees.as_slice()?.to_vec(),
            nodes: nodes.as_slice()?.to_vec(),
            roots: roots.as_slice()?.to_vec(),
            feature: feature.as_slice()?.to_vec(),
            threshold: threshold.as_slice()?.to_vec(),
            left: left.as_slice()?.to_vec(),
            right: right.as_slice()?.to_vec(),
            value: value.as_slice()?.to_vec(),
        };
        let inner = Arc::new(forest::ForestPolicy::new(features, forests, temperature)?);
        Ok(CompiledPolicy::of(inner, |inner| ForestPolicy { inner }))
    }

    /// Values (rows, n_actions) of feature vectors (rows, n_features).
    #[pyo3(signature = (x, *, threads=None))]
    fn values<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f32>,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, n_features) = (x.shape()[0], x.shape()[1]);
        if n_features != self.inner.features.dim() {
            let wanted = self.inner.features.dim();
            return Err(PyValueError::new_err(format!("x has {n_features} columns: expected {wanted}")));
        }
        let (x, threads) = (in_rows(&x)?, thread_count(threads)?);
        let values = job::long(py, None, |ticker| self.inner.evaluate_all(&x, threads, ticker))?;
        shaped(py, values, [rows, self.inner.features.n_actions()])
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let forests = self.inner.forests.clone();
        let shape = [forests.base.len(), self.inner.features.dim()];
        parts!(feature_parts(py, &self.inner.features)?, {
            "base": forests.base.into_pyarray(py),
            "weights": shaped(py, forests.weights, shape)?,
            "trees": forests.trees.into_pyarray(py),
            "nodes": forests.nodes.into_pyarray(py),
            "roots": forests.roots.into_pyarray(py),
            "feature": forests.feature.into_pyarray(py),
            "threshold": forests.threshold.into_pyarray(py),
            "left": forests.left.into_pyarray(py),
            "right": forests.right.into_pyarray(py),
            "value": forests.value.into_pyarray(py),
            "temperature": self.inner.temperature,
        })
    }
}
