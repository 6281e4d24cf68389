//! Policies that act on sums of context tables and of weighted beliefs.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::bindings::batch::PolicyBatch;
use crate::bindings::clones::CloneModels;
use crate::bindings::convert::Arrays;
use crate::bindings::draw::{Luck, entry};
use crate::bindings::job;
use crate::plan::beliefs::{Beliefs, Stepper};
use crate::plan::context_table::{self, MOST_DEPTH};
use crate::plan::sum_policy::{self, BeliefTerm, Memory, Term};
use crate::simulate::batch::Batch;
use crate::simulate::policy::Policy;

/// Keys of the contexts of length 1 … depth before every step: (n_steps, depth); 0 where the episode is too short.
#[pyfunction]
pub fn context_keys<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    depth: usize,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    if depth == 0 || depth > MOST_DEPTH {
        return Err(PyValueError::new_err(format!("depth = {depth}: give 1 to {MOST_DEPTH} symbols")));
    }
    let view = data.view()?;
    let keys = job::quick(py, || {
        let mut keys = vec![0u64; view.n_steps() * depth];
        let start_symbol = (view.n_actions * view.n_observations) as u32;
        for episode in 0..view.n_episodes() {
            let mut recent = vec![start_symbol];
            for step in view.episode(episode) {
                context_table::context_keys(&recent, &mut keys[step * depth..(step + 1) * depth]);
                recent.push(view.symbol(step) as u32);
            }
        }
        Ok(keys)
    })?;
    keys.into_pyarray(py).reshape([view.n_steps(), depth])
}

/// What a sum policy remembers of an episode.
#[pyclass(frozen, module = "uqf._core")]
pub struct SumMemory {
    inner: Memory,
}

/// softmax of a sum of values: of context tables (keys, values (len(keys) + 1, actions), depth) and of weights on
/// beliefs (models, weights (features, actions), bias (actions,)).
#[pyclass(frozen, module = "uqf._core")]
pub struct SumPolicy {
    pub inner: sum_policy::SumPolicy,
    luck: Luck,
}

type ContextArrays<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray2<'py, f64>, usize);
type BeliefArrays<'py> = (PyRef<'py, CloneModels>, PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>);

type StoredModel<'py> = (PyReadonlyArray1<'py, f32>, PyReadonlyArray3<'py, f32>, Vec<(u32, u32)>);
type StoredBeliefs<'py> = (Vec<StoredModel<'py>>, PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>);

fn context_terms(py: Python<'_>, contexts: Vec<ContextArrays<'_>>, n_actions: usize) -> PyResult<Vec<Term>> {
    let mut terms = Vec::new();
    for (keys, values, depth) in contexts {
        if values.shape()[1] != n_actions || depth == 0 || depth > MOST_DEPTH {
            return Err(PyValueError::new_err("contexts: values need a column per action, depth 1 to 16"));
        }
        let table =
            context_table::ContextTable::new(depth, keys.as_slice()?, values.as_slice()?.to_vec(), n_actions);
        terms.push(Term::Contexts(Arc::new(table.map_err(|error| job::to_python(py, error))?)));
    }
    Ok(terms)
}

fn wrap(py: Python<'_>, inner: sum_policy::SumPolicy) -> PyResult<SumPolicy> {
    inner.validate().map_err(|error| job::to_python(py, error))?;
    Ok(SumPolicy { inner, luck: Luck::default() })
}

#[pymethods]
impl SumPolicy {
    #[new]
    #[pyo3(signature = (*, n_actions, n_observations, contexts, beliefs, temperature))]
    fn new(
        py: Python<'_>,
        n_actions: usize,
        n_observations: usize,
        contexts: Vec<ContextArrays<'_>>,
        beliefs: Vec<BeliefArrays<'_>>,
        temperature: f64,
    ) -> PyResult<Self> {
        let mut terms = context_terms(py, contexts, n_actions)?;
        for (models, weights, bias) in beliefs {
            let (weights, bias) = (weights.as_slice()?.to_vec(), bias.as_slice()?.to_vec());
            terms.push(Term::Beliefs(Arc::new(BeliefTerm {
                beliefs: models.beliefs(),
                weights,
                bias,
            })));
        }
        wrap(py, sum_policy::SumPolicy { n_actions, n_observations, terms, temperature })
    }

    #[getter]
    fn n_actions(&self) -> usize {
        self.inner.n_actions
    }

    #[getter]
    fn n_observations(&self) -> usize {
        self.inner.n_observations
    }

    /// 0 acts greedily; otherwise actions are drawn from softmax(q_values / temperature).
    #[getter]
    fn temperature(&self) -> f64 {
        self.inner.temperature
    }

    /// This policy acting in `n` episodes at once.
    #[pyo3(signature = (n, *, seed=0))]
    fn batch(&self, n: i64, seed: u64) -> PyResult<PolicyBatch> {
        let policy = Arc::new(self.inner.clone());
        let (n_actions, n_observations) = (policy.n_actions, policy.n_observations);
        PolicyBatch::new(n, n_actions, |n| Batch::new(policy, n_actions, n_observations, n, seed))
    }

    /// The same values, acted on greedily.
    fn greedy(&self, py: Python<'_>) -> PyResult<Self> {
        self.with_temperature(py, 0.0)
    }

    /// The same values, acted on at another temperature.
    fn with_temperature(&self, py: Python<'_>, temperature: f64) -> PyResult<Self> {
        wrap(py, sum_policy::SumPolicy { temperature, ..self.inner.clone() })
    }

    /// The policy of this sum of values plus another's, each in units of its own temperature; acts at temperature 1.
    fn plus(&self, py: Python<'_>, other: &SumPolicy) -> PyResult<Self> {
        if (self.inner.n_actions, self.inner.n_observations)
            != (other.inner.n_actions, other.inner.n_observations)
        {
            return Err(PyValueError::new_err("the policies have different actions or observations"));
        }
        wrap(py, self.inner.in_its_own_units().plus(&other.inner.in_its_own_units()))
    }

    /// All that the policy is made of: `from_parts` makes it again.
    ///
    /// contexts: (keys, values, depth); beliefs: ([(start, moves, ranges) of every model], weights, bias).
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = &self.inner;
        let (contexts, beliefs) = (PyList::empty(py), PyList::empty(py));
        for term in &inner.terms {
            match term {
                Term::Contexts(table) => {
                    let (keys, values) = table.parts();
                    let values =
                        values.to_vec().into_pyarray(py).reshape([keys.len() + 1, inner.n_actions])?;
                    contexts.append((keys.into_pyarray(py), values, table.depth()))?;
                }
                Term::Beliefs(term) => {
                    let models = PyList::empty(py);
                    for stepper in term.beliefs.steppers() {
                        let shape = [inner.n_actions, stepper.n_states, stepper.n_states];
                        let moves = stepper.moves.clone().into_pyarray(py).reshape(shape)?;
                        models.append((
                            stepper.start.clone().into_pyarray(py),
                            moves,
                            stepper.ranges.clone(),
                        ))?;
                    }
                    let shape = [term.beliefs.n_features(), inner.n_actions];
                    let weights = term.weights.clone().into_pyarray(py).reshape(shape)?;
                    beliefs.append((models, weights, term.bias.clone().into_pyarray(py)))?;
                }
            }
        }
        let parts = PyDict::new(py);
        parts.set_item("n_actions", inner.n_actions)?;
        parts.set_item("n_observations", inner.n_observations)?;
        parts.set_item("contexts", contexts)?;
        parts.set_item("beliefs", beliefs)?;
        parts.set_item("temperature", inner.temperature)?;
        Ok(parts)
    }

    /// The policy of such parts.
    #[staticmethod]
    #[pyo3(signature = (*, n_actions, n_observations, contexts, beliefs, temperature))]
    fn from_parts(
        py: Python<'_>,
        n_actions: usize,
        n_observations: usize,
        contexts: Vec<ContextArrays<'_>>,
        beliefs: Vec<StoredBeliefs<'_>>,
        temperature: f64,
    ) -> PyResult<Self> {
        let mut terms = context_terms(py, contexts, n_actions)?;
        for (models, weights, bias) in beliefs {
            let mut steppers = Vec::new();
            for (start, moves, ranges) in models {
                let (start, moves) = (start.as_slice()?.to_vec(), moves.as_slice()?.to_vec());
                let stepper = Stepper { n_states: start.len(), ranges, start, moves };
                stepper.validate(n_actions, n_observations).map_err(|error| job::to_python(py, error))?;
                steppers.push(stepper);
            }
            let (weights, bias) = (weights.as_slice()?.to_vec(), bias.as_slice()?.to_vec());
            let beliefs = Arc::new(Beliefs::of(steppers));
            terms.push(Term::Beliefs(Arc::new(BeliefTerm { beliefs, weights, bias })));
        }
        wrap(py, sum_policy::SumPolicy { n_actions, n_observations, terms, temperature })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let rebuild = slf.py().import("uqf.policies")?.getattr("rebuild_sum_policy")?;
        Ok((rebuild, (slf.get().parts(slf.py())?,)))
    }

    fn initial_state(&self) -> SumMemory {
        SumMemory { inner: self.inner.start() }
    }

    /// The memory after one more step; `state` itself does not change.
    fn update(&self, state: &SumMemory, action: i64, observation: i64) -> PyResult<SumMemory> {
        let action = entry("action", action, self.inner.n_actions)?;
        let observation = entry("observation", observation, self.inner.n_observations)?;
        self.check_memory(state)?;
        let mut memory = state.inner.clone();
        self.inner.update(&mut memory, action, observation);
        Ok(SumMemory { inner: memory })
    }

    /// Value of every action; comparable across actions at one history.
    fn q_values<'py>(&self, py: Python<'py>, state: &SumMemory) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.check_memory(state)?;
        let mut values = vec![0.0; self.inner.n_actions];
        self.inner.q_values(&state.inner, &mut values);
        Ok(values.into_pyarray(py))
    }

    fn action_probs<'py>(&self, py: Python<'py>, state: &SumMemory) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.check_memory(state)?;
        let mut probs = vec![0.0; self.inner.n_actions];
        self.inner.action_probs(&state.inner, &mut probs);
        Ok(probs.into_pyarray(py))
    }

    /// An action: drawn with `rng` (anything with `random()`), or else with the policy's own luck.
    #[pyo3(signature = (state, rng=None))]
    fn action(&self, state: &SumMemory, rng: Option<Bound<'_, PyAny>>) -> PyResult<usize> {
        self.check_memory(state)?;
        let mut probs = vec![0.0; self.inner.n_actions];
        self.inner.action_probs(&state.inner, &mut probs);
        self.luck.draw(&probs, rng)
    }
}

impl SumPolicy {
    fn check_memory(&self, state: &SumMemory) -> PyResult<()> {
        if self.inner.accepts(&state.inner) {
            return Ok(());
        }
        Err(PyValueError::new_err("state belongs to another policy; start from this one's initial_state()"))
    }
}
