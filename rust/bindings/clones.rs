//! Training of cloned hidden Markov models, and their beliefs.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{Arrays, count, threads as thread_count};
use crate::bindings::job;
use crate::learn::clones::{self, CloneModel, Training};
use crate::learn::events::Tasks;
use crate::plan::beliefs::Beliefs;
use crate::plan::sum_policy;

/// Cloned hidden Markov models trained on a data set, as they move and pay in one of its tasks.
#[pyclass(frozen, module = "uqf._core")]
pub struct CloneModels {
    models: Arc<Vec<CloneModel>>,
    tasks: Arc<Tasks>,
    task: usize,
    beliefs: Arc<Beliefs>,
}

impl CloneModels {
    pub fn beliefs(&self) -> Arc<Beliefs> {
        self.beliefs.clone()
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
    #[pyo3(signature = (data, terminated, *, states, models, iterations, episodes, seed, tasks=None, threads=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn train(
        py: Python<'_>,
        data: Arrays<'_>,
        terminated: PyReadonlyArray1<'_, bool>,
        states: i64,
        models: i64,
        iterations: i64,
        episodes: i64,
        seed: u64,
        tasks: Option<PyReadonlyArray1<'_, u32>>,
        threads: Option<i64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (view, terminated) = (data.view()?, terminated.as_slice()?);
        let of_episode = match &tasks {
            Some(tasks) => tasks.as_slice()?.to_vec(),
            None => vec![0; view.n_episodes()],
        };
        check_length("terminated", terminated.len(), view.n_episodes())?;
        check_length("tasks", of_episode.len(), view.n_episodes())?;
        let training = training_of(states, models, iterations, episodes, seed, threads)?;
        let (models, tasks) = job::long(py, progress.as_ref(), |ticker| {
            let tasks = Tasks::of(&view, terminated, of_episode)?;
            let models = clones::train(&view, terminated, &tasks, &training, ticker)?;
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
    fn score(
        &self,
        py: Python<'_>,
        data: Arrays<'_>,
        terminated: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Vec<f64>> {
        let (view, terminated) = (data.view()?, terminated.as_slice()?);
        check_length("terminated", terminated.len(), view.n_episodes())?;
        job::long(py, None, |ticker| {
            let tasks = self.tasks.applied(view.n_episodes(), self.task as u32);
            self.models.iter().map(|model| model.score(&view, terminated, &tasks, ticker)).collect()
        })
    }

    /// The arrays of one model: start, transitions, ends, rewards, first and last state of every observation.
    fn model<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let model =
            self.models.get(index).ok_or_else(|| PyValueError::new_err(format!("no model {index}")))?;
        let (actions, states) = (model.n_actions, model.n_states);
        let by_state = |values: Vec<f32>| values.into_pyarray(py).reshape([actions, states]);
        let transitions = model.transitions.clone().into_pyarray(py);
        let arrays = PyDict::new(py);
        arrays.set_item("start", model.start.clone().into_pyarray(py))?;
        arrays.set_item("transitions", transitions.reshape([actions, states, states])?)?;
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
        let rows = job::long(py, None, |ticker| sum_policy::beliefs_along(beliefs, &view, threads, ticker))?;
        rows.into_pyarray(py).reshape([view.n_steps() + view.n_episodes(), beliefs.n_features()])
    }
}

fn check_length(name: &str, given: usize, episodes: usize) -> PyResult<()> {
    if given == episodes {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} has {given} entries: give one for each of {episodes} episodes"
    )))
}
