//! Cloned hidden Markov models: training, beliefs, and policies on them.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, count, small, threads as thread_count};
use crate::bindings::job;
use crate::bindings::policy::CompiledPolicy;
use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::{self, CloneModel, Training};
use crate::parts;
use crate::policies::belief::{self, Beliefs};

/// Cloned hidden Markov models trained on a data set, as they move and pay in one of its tasks.
#[pyclass(frozen, module = "uqf._core")]
pub struct CloneModels {
    models: Arc<Vec<CloneModel>>,
    tasks: Arc<Tasks>,
    task: usize,
    beliefs: Arc<Beliefs>,
}

type Cube<'py> = Bound<'py, PyArray3<f32>>;

impl CloneModels {
    fn at(&self, index: usize) -> PyResult<&CloneModel> {
        self.models.get(index).ok_or_else(|| PyValueError::new_err(format!("no model {index}")))
    }

    fn in_task(models: Arc<Vec<CloneModel>>, tasks: Arc<Tasks>, task: usize) -> Self {
        let beliefs = Arc::new(Beliefs::new(&models, task));
        CloneModels { models, tasks, task, beliefs }
    }
}

fn training_of(
    states: i64,
    models: i64,
    iterations: i64,
    episodes: i64,
    seed: u64,
    threads: Option<i64>,
) -> PyResult<Training> {
    Ok(Training {
        states: count("states", states)?,
        models: count("models", models)?,
        iterations: count("iterations", iterations)?,
        episodes: count("episodes", episodes)?,
        seed,
        threads: thread_count(threads)?,
    })
}

#[pymethods]
impl CloneModels {
    /// Baum–Welch from random starts; `states` are shared out among the observations.
    #[staticmethod]
    #[pyo3(signature = (data, *, states, models, iterations, episodes, seed, tasks=None, threads=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn train(
        py: Python<'_>,
        data: Arrays<'_>,
        states: i64,
        models: i64,
        iterations: i64,
        episodes: i64,
        seed: u64,
        tasks: Option<PyReadonlyArray1<'_, u32>>,
        threads: Option<i64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let view = data.view()?;
        let of_episode = match &tasks {
            Some(tasks) => tasks.as_slice()?.to_vec(),
            None => vec![0; view.n_episodes()],
        };
        if of_episode.len() != view.n_episodes() {
            let message =
                format!("tasks has {} entries: there are {} episodes", of_episode.len(), view.n_episodes());
            return Err(PyValueError::new_err(message));
        }
        let training = training_of(states, models, iterations, episodes, seed, threads)?;
        let (models, tasks) = job::long(py, progress.as_ref(), |ticker| {
            let tasks = Tasks::of(&view, of_episode)?;
            let models = beliefs::train(&view, &tasks, &training, ticker)?;
            Ok((models, tasks))
        })?;
        Ok(Self::in_task(Arc::new(models), Arc::new(tasks), 0))
    }

    /// About how many steps `train` will read, and tell its `progress` when it is done.
    #[staticmethod]
    #[pyo3(signature = (n_steps, n_episodes, *, models, iterations, episodes))]
    fn work(
        n_steps: usize,
        n_episodes: usize,
        models: i64,
        iterations: i64,
        episodes: i64,
    ) -> PyResult<usize> {
        let training = training_of(1, models, iterations, episodes, 0, Some(1))?;
        Ok(training.work(n_steps, n_episodes))
    }

    /// The same models in another task.
    fn for_task(&self, task: usize) -> PyResult<Self> {
        if task >= self.tasks.count() {
            let count = self.tasks.count();
            return Err(PyValueError::new_err(format!("task = {task}: trained on {count}, counted from 0")));
        }
        Ok(Self::in_task(self.models.clone(), self.tasks.clone(), task))
    }

    /// Entries of the feature vector: the states of all models.
    #[getter]
    fn n_features(&self) -> usize {
        self.beliefs.n_features()
    }

    /// Mean log-likelihood of a step, by model.
    #[getter]
    fn log_likelihoods(&self) -> Vec<f64> {
        self.models.iter().map(|model| model.log_likelihood).collect()
    }

    fn __len__(&self) -> usize {
        self.models.len()
    }

    /// Mean log-likelihood of a step of other episodes, by model.
    fn score(&self, py: Python<'_>, data: Arrays<'_>) -> PyResult<Vec<f64>> {
        let view = data.view()?;
        job::long(py, None, |ticker| {
            let tasks = self.tasks.applied(view.n_episodes(), self.task as u32);
            self.models.iter().map(|model| model.score(&view, &tasks, ticker)).collect()
        })
    }

    /// Models after one plain iteration of Baum and Welch on these episodes.
    fn iterated(&self, py: Python<'_>, data: Arrays<'_>) -> PyResult<Self> {
        let view = data.view()?;
        let models = job::long(py, None, |ticker| {
            let tasks = self.tasks.applied(view.n_episodes(), self.task as u32);
            self.models.iter().map(|model| model.iterated(&view, &tasks, ticker)).collect()
        })?;
        Ok(Self::in_task(Arc::new(models), self.tasks.clone(), self.task))
    }

    /// What one model expects of these episodes: (transitions (A, S, S), events (A, events, S), start (S,)).
    fn expected_counts<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        data: Arrays<'py>,
    ) -> PyResult<(Cube<'py>, Cube<'py>, Bound<'py, PyArray1<f32>>)> {
        let (model, view) = (self.at(index)?, data.view()?);
        let counts = job::long(py, None, |ticker| {
            model.expected_counts(&view, &self.tasks.applied(view.n_episodes(), self.task as u32), ticker)
        })?;
        let (actions, states) = (model.n_actions, model.n_states);
        let size = actions * model.n_events * states;
        let events = counts.events[self.task * size..(self.task + 1) * size].to_vec();
        Ok((
            counts.transitions.into_pyarray(py).reshape([actions, states, states])?,
            events.into_pyarray(py).reshape([actions, model.n_events, states])?,
            counts.start.into_pyarray(py),
        ))
    }

    /// The arrays of one model: start, transitions, events, ends, rewards, and first and last state of every
    /// observation. Event 2c + 1 is a reward up to `edges[c]` that ends the episode, 2c one that does not.
    fn model<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let model = self.at(index)?;
        let (actions, states) = (model.n_actions, model.n_states);
        let size = actions * model.n_events * states;
        let events = model.events[self.task * size..(self.task + 1) * size].to_vec().into_pyarray(py);
        let by_state = |values: Vec<f32>| values.into_pyarray(py).reshape([actions, states]);
        let transitions = model.transitions.clone().into_pyarray(py);
        let arrays = PyDict::new(py);
        arrays.set_item("start", model.start.clone().into_pyarray(py))?;
        arrays.set_item("transitions", transitions.reshape([actions, states, states])?)?;
        arrays.set_item("events", events.reshape([actions, model.n_events, states])?)?;
        arrays.set_item("edges", self.tasks.classes(self.task).edges().to_vec())?;
        arrays.set_item("ends", by_state(model.ends(self.task))?)?;
        arrays.set_item("rewards", by_state(model.rewards(self.task, &self.tasks))?)?;
        arrays.set_item("ranges", model.ranges.clone())?;
        Ok(arrays)
    }

    /// Beliefs at every cut of the data, also after the last step: (n_steps + n_episodes, n_features).
    #[pyo3(signature = (data, *, threads=None))]
    fn beliefs_along<'py>(
        &self,
        py: Python<'py>,
        data: Arrays<'py>,
        threads: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (view, threads, beliefs) = (data.view()?, thread_count(threads)?, self.beliefs.as_ref());
        let rows = job::long(py, None, |ticker| beliefs.along(&view, threads, ticker))?;
        rows.into_pyarray(py).reshape([view.n_steps() + view.n_episodes(), beliefs.n_features()])
    }

    /// What a `BeliefPolicy` steps these models with: states, starts, moves, ranges.
    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        filter_parts(py, &self.beliefs)
    }
}

/// Models one after the other: states (models,), starts, moves, and the range of states of every observation.
fn filter_parts<'py>(py: Python<'py>, beliefs: &Beliefs) -> PyResult<Bound<'py, PyDict>> {
    let filters = beliefs.filters();
    let joined =
        |part: fn(&belief::Filter) -> &Vec<f32>| filters.iter().flat_map(part).copied().collect::<Vec<_>>();
    let states: Vec<i64> = filters.iter().map(|filter| filter.n_states as i64).collect();
    let ranges = filters.iter().flat_map(|filter| &filter.ranges);
    let ranges: Vec<i64> = ranges.flat_map(|&(low, high)| [i64::from(low), i64::from(high)]).collect();
    let shape = [filters.len(), ranges.len() / (2 * filters.len()).max(1), 2];
    parts!(py, {
        "states": states.into_pyarray(py),
        "starts": joined(|filter| &filter.start).into_pyarray(py),
        "moves": joined(|filter| &filter.moves).into_pyarray(py),
        "ranges": ranges.into_pyarray(py).reshape(shape)?,
    })
}

/// Acts on bias + weights · beliefs of several cloned hidden Markov models.
///
/// states : (models,), the states of each; starts : (features,), float32; moves : the (n_actions, states, states) of
/// every model, flat, float32; ranges : (models, n_observations, 2), first and last + 1 of the states that show an
/// observation; weights : (features, n_actions); bias : (n_actions,).
#[pyclass(frozen, extends = CompiledPolicy, module = "uqf._core")]
pub struct BeliefPolicy {
    inner: Arc<belief::BeliefPolicy>,
}

#[pymethods]
impl BeliefPolicy {
    #[new]
    #[pyo3(signature = (*, states, starts, moves, ranges, weights, bias, temperature=0.0))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        states: PyReadonlyArray1<'_, i64>,
        starts: PyReadonlyArray1<'_, f32>,
        moves: PyReadonlyArray1<'_, f32>,
        ranges: PyReadonlyArray3<'_, i64>,
        weights: PyReadonlyArray2<'_, f64>,
        bias: PyReadonlyArray1<'_, f64>,
        temperature: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (n_actions, n_observations) = (bias.len(), ranges.shape()[1]);
        let flat = small("ranges", ranges.as_slice()?)?;
        let beliefs = Beliefs::cut(
            states.as_slice()?,
            starts.as_slice()?,
            moves.as_slice()?,
            &flat,
            n_actions,
            n_observations,
        );
        let made = beliefs.and_then(|beliefs| {
            let weights = weights.as_slice().map(<[f64]>::to_vec).unwrap_or_default();
            let bias = bias.as_slice().map(<[f64]>::to_vec).unwrap_or_default();
            let beliefs = Arc::new(beliefs);
            let policy =
                belief::BeliefPolicy { n_actions, n_observations, beliefs, weights, bias, temperature };
            policy.validate().map(|()| policy)
        });
        let inner = Arc::new(made.map_err(|error| job::to_python(py, error))?);
        Ok(CompiledPolicy::of(inner.clone(), BeliefPolicy { inner }))
    }

    /// (features, n_actions)
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [self.inner.beliefs.n_features(), self.inner.n_actions];
        self.inner.weights.clone().into_pyarray(py).reshape(shape)
    }

    /// The arguments that make this policy again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = filter_parts(py, &self.inner.beliefs)?;
        parts.set_item("weights", self.weights(py)?)?;
        parts.set_item("bias", self.inner.bias.clone().into_pyarray(py))?;
        parts.set_item("temperature", self.inner.temperature)?;
        Ok(parts)
    }
}
