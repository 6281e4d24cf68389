//! Features of histories, and policies that act on forests over them.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::automaton::AutomatonPolicy;
use crate::bindings::batch::PolicyBatch;
use crate::bindings::convert::{Arrays, threads as thread_count};
use crate::bindings::draw::{Luck, entry};
use crate::bindings::job;
use crate::plan::features::{self, Memory, Window};
use crate::plan::forest;
use crate::simulate::batch::Batch;
use crate::simulate::policy::Policy;

/// What is remembered of an episode for its features.
#[pyclass(frozen, module = "uqf._core")]
pub struct FeatureMemory {
    inner: Memory,
}

/// Feature vectors of histories.
#[pyclass(frozen, module = "uqf._core")]
pub struct Features {
    inner: features::Features,
}

#[pymethods]
impl Features {
    /// The state that an automaton policy acts on.
    #[staticmethod]
    fn automaton(policy: &AutomatonPolicy) -> Self {
        Features { inner: features::Features::Automaton(policy.inner.clone()) }
    }

    /// The last `length` steps, the latest first.
    #[staticmethod]
    fn window(length: usize, one_hot: bool, n_actions: usize, n_observations: usize) -> PyResult<Self> {
        if length == 0 {
            return Err(PyValueError::new_err("length = 0: give at least one step"));
        }
        let window = Window { length, one_hot, n_actions, n_observations };
        Ok(Features { inner: features::Features::Window(window) })
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.dim()
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations()
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
        if (view.n_actions, view.n_observations) != (self.inner.n_actions(), self.inner.n_observations()) {
            return Err(PyValueError::new_err("data and features have different actions or observations"));
        }
        let run = |ticker: &_| features::features_along(&self.inner, &view, threads, ticker);
        let rows = job::long(py, None, run)?;
        rows.into_pyarray(py).reshape([view.n_steps() + view.n_episodes(), self.inner.dim()])
    }
}

/// (base, weights, roots, feature, threshold, left, right, value) of one forest.
type Parts<'py> = (
    f64,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
);

fn assemble(parts: &Parts) -> PyResult<forest::Forest> {
    let (base, weights, roots, feature, threshold, left, right, value) = parts;
    Ok(forest::Forest {
        base: *base,
        weights: weights.as_slice()?.to_vec(),
        roots: roots.as_slice()?.to_vec(),
        feature: feature.as_slice()?.to_vec(),
        threshold: threshold.as_slice()?.to_vec(),
        left: left.as_slice()?.to_vec(),
        right: right.as_slice()?.to_vec(),
        value: value.as_slice()?.to_vec(),
    })
}

/// Acts on one forest per action, over features of the history.
#[pyclass(frozen, module = "uqf._core")]
pub struct ForestPolicy {
    pub inner: forest::ForestPolicy,
    luck: Luck,
}

#[pymethods]
impl ForestPolicy {
    #[new]
    #[pyo3(signature = (features, forests, *, temperature=0.0))]
    fn new(py: Python<'_>, features: &Features, forests: Vec<Parts<'_>>, temperature: f64) -> PyResult<Self> {
        let forests = Arc::new(forests.iter().map(assemble).collect::<PyResult<Vec<_>>>()?);
        let inner = forest::ForestPolicy { features: features.inner.clone(), forests, temperature };
        Self::wrap(py, inner)
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.features.n_actions()
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.features.n_observations()
    }

    #[getter]
    fn temperature(&self) -> f64 {
        self.inner.temperature
    }

    /// The same values, acted on greedily.
    fn greedy(&self, py: Python<'_>) -> PyResult<Self> {
        self.with_temperature(py, 0.0)
    }

    /// The same values, acted on at another temperature.
    fn with_temperature(&self, py: Python<'_>, temperature: f64) -> PyResult<Self> {
        Self::wrap(py, forest::ForestPolicy { temperature, ..self.inner.clone() })
    }

    /// This policy acting in `n` episodes at once.
    #[pyo3(signature = (n, *, seed=0))]
    fn batch(&self, n: i64, seed: u64) -> PyResult<PolicyBatch> {
        let (n_actions, n_observations) = (self.n_actions(), self.n_observations());
        let policy = Arc::new(self.inner.clone());
        PolicyBatch::new(n, n_actions, |n| Batch::new(policy, n_actions, n_observations, n, seed))
    }

    fn initial_state(&self) -> FeatureMemory {
        FeatureMemory { inner: self.inner.start() }
    }

    /// The memory after one more step; `state` itself does not change.
    fn update(&self, state: &FeatureMemory, action: i64, observation: i64) -> PyResult<FeatureMemory> {
        let action = entry("action", action, self.n_actions())?;
        let observation = entry("observation", observation, self.n_observations())?;
        let mut memory = self.known(state)?.clone();
        self.inner.update(&mut memory, action, observation);
        Ok(FeatureMemory { inner: memory })
    }

    /// Value of every action.
    fn q_values<'py>(&self, py: Python<'py>, state: &FeatureMemory) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut values = vec![0.0; self.n_actions()];
        self.inner.q_values(self.known(state)?, &mut values);
        Ok(values.into_pyarray(py))
    }

    fn action_probs<'py>(
        &self,
        py: Python<'py>,
        state: &FeatureMemory,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.probs(state)?.into_pyarray(py))
    }

    /// An action: drawn with `rng` (anything with `random()`), or else with the policy's own luck.
    #[pyo3(signature = (state, rng=None))]
    fn action(&self, state: &FeatureMemory, rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        self.luck.draw(&self.probs(state)?, rng)
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
        let (x, threads) = (x.as_slice()?, thread_count(threads)?);
        let run = |ticker: &_| forest::evaluate_all(&self.inner.forests, x, n_features, threads, ticker);
        job::long(py, None, run)?.into_pyarray(py).reshape([rows, self.n_actions()])
    }
}

impl ForestPolicy {
    fn wrap(py: Python<'_>, inner: forest::ForestPolicy) -> PyResult<Self> {
        inner.validate().map_err(|error| job::to_python(py, error))?;
        Ok(ForestPolicy { inner, luck: Luck::default() })
    }

    fn known<'a>(&self, state: &'a FeatureMemory) -> PyResult<&'a Memory> {
        let message = "state belongs to another policy: begin with initial_state()";
        let fits = self.inner.features.fits(&state.inner);
        if fits { Ok(&state.inner) } else { Err(PyValueError::new_err(message)) }
    }

    fn probs(&self, state: &FeatureMemory) -> PyResult<Vec<f64>> {
        let mut probs = vec![0.0; self.n_actions()];
        self.inner.action_probs(self.known(state)?, &mut probs);
        Ok(probs)
    }
}
