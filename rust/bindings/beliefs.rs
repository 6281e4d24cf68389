//! Hidden Markov models: how cloned ones are laid out and started, and the expectation step of Baum–Welch.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bindings::clones::CloneModels;
use crate::bindings::convert::{Arrays, count, in_rows, large, threads as thread_count};
use crate::bindings::job;
use crate::error::Result;
use crate::learn::beliefs::CloneModel;
use crate::learn::beliefs::baum_welch::{self, Model};
use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::layout::Layout;
use crate::learn::beliefs::training;
use crate::rng::Rng;
use crate::trajectories::View;

type Cube<'py> = Bound<'py, PyArray3<f64>>;
type Counts<'py> = (f64, Bound<'py, PyArray1<f64>>, Cube<'py>, Cube<'py>, Cube<'py>);

/// (log-likelihood, counts of starts (S,), of transitions (A, S, S), of observations (A, S, O), rewards (A, S, S)).
#[pyfunction]
#[pyo3(signature = (data, start, transitions, observations, *, threads=None))]
pub fn expected_counts<'py>(
    py: Python<'py>,
    data: Arrays<'py>,
    start: PyReadonlyArray1<'py, f64>,
    transitions: PyReadonlyArray3<'py, f64>,
    observations: PyReadonlyArray3<'py, f64>,
    threads: Option<i64>,
) -> PyResult<Counts<'py>> {
    let (view, threads) = (data.view()?, thread_count(threads)?);
    let (transitions, observations) = (in_rows(&transitions)?, in_rows(&observations)?);
    let model = Model {
        n_states: start.len(),
        start: start.as_slice()?,
        transitions: &transitions,
        observations: &observations,
    };
    let found = job::long(py, None, |ticker| baum_welch::expected_counts(&view, &model, threads, ticker))?;
    let (actions, states) = (view.n_actions, model.n_states);
    Ok((
        found.log_likelihood,
        found.start.into_pyarray(py),
        found.transitions.into_pyarray(py).reshape([actions, states, states])?,
        found.observations.into_pyarray(py).reshape([actions, states, view.n_observations])?,
        found.rewards.into_pyarray(py).reshape([actions, states, states])?,
    ))
}

/// How many states the models of a data set have and how they are shared out, and what its rewards look like.
#[pyclass(frozen, module = "uqf._core")]
pub struct CloneLayout {
    layout: Arc<Layout>,
    tasks: Arc<Tasks>,
}

/// The task of every episode; all of one task by default.
pub fn of_episode(tasks: Option<PyReadonlyArray1<'_, u32>>, episodes: usize) -> PyResult<Vec<u32>> {
    let listed = tasks.map_or(Ok(vec![0; episodes]), |tasks| tasks.as_slice().map(<[u32]>::to_vec))?;
    if listed.len() == episodes {
        return Ok(listed);
    }
    let message = format!("tasks has {} entries: there are {episodes} episodes", listed.len());
    Err(PyValueError::new_err(message))
}

/// The tasks of episodes that models of this layout can read.
pub fn readable(
    view: &View<'_>,
    layout: &Layout,
    tasks: Option<PyReadonlyArray1<'_, u32>>,
    known: &Tasks,
) -> PyResult<Tasks> {
    let (given, laid_out) =
        ((view.n_actions, view.n_observations), (layout.kinds.len(), layout.ranges.len()));
    if given != laid_out {
        let message = format!("data has (actions, observations) {given:?}: the models have {laid_out:?}");
        return Err(PyValueError::new_err(message));
    }
    let tasks = of_episode(tasks, view.n_episodes())?;
    let count = known.count();
    match tasks.iter().find(|&&task| task as usize >= count) {
        Some(task) => Err(PyValueError::new_err(format!("tasks holds {task}: choose 0 to {}", count - 1))),
        None => Ok(known.applied(tasks)),
    }
}

#[pymethods]
impl CloneLayout {
    /// About `states` states, shared out among the observations by their frequency. `tasks` numbers the task of every
    /// episode from 0: each has rewards and ends of its own.
    /// In noisy models a state may show anything.
    #[new]
    #[pyo3(signature = (data, *, states, tasks=None, noisy=false))]
    fn new(
        py: Python<'_>,
        data: Arrays<'_>,
        states: i64,
        tasks: Option<PyReadonlyArray1<'_, u32>>,
        noisy: bool,
    ) -> PyResult<Self> {
        let view = data.view()?;
        let (states, tasks) = (count("states", states)?, of_episode(tasks, view.n_episodes())?);
        job::quick(py, || {
            let tasks = Arc::new(Tasks::of(&view, tasks)?);
            let layout = Arc::new(Layout::of(&view, states, tasks.n_events(), tasks.count(), noisy));
            Ok(CloneLayout { layout, tasks })
        })
    }

    /// Whether a state may show anything.
    #[getter]
    fn noisy(&self) -> bool {
        self.layout.noisy()
    }

    #[getter]
    fn n_states(&self) -> usize {
        self.layout.n_states
    }

    /// First and last + 1 of the clones of every observation: (n_observations, 2).
    #[getter]
    fn ranges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let ranges = &self.layout.ranges;
        large(py, ranges.iter().flat_map(|&(low, high)| [low, high])).reshape([ranges.len(), 2])
    }

    /// Which transition matrix every action has, (n_actions,).
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        large(py, self.layout.kinds.iter().copied())
    }

    /// (observations, actions) that are too rare to be learned about alone and share clones or transitions.
    #[getter]
    fn shared(&self) -> (usize, usize) {
        self.layout.shared
    }

    /// One model from every row of `labels` (models, n_steps), the clone guessed for every step of the data. Models are
    /// numbered from `first` on.
    #[pyo3(signature = (data, labels, *, first, seed, tasks=None))]
    fn started(
        &self,
        py: Python<'_>,
        data: Arrays<'_>,
        labels: PyReadonlyArray2<'_, u32>,
        first: u64,
        seed: u64,
        tasks: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<CloneModels> {
        let (view, shape) = (data.view()?, labels.shape());
        let (rows, columns) = (shape[0], shape[1]);
        if rows == 0 {
            return Err(PyValueError::new_err("labels has no row: give one for every model"));
        }
        if columns != view.n_steps() {
            let message = format!("labels has {columns} columns: there are {} steps", view.n_steps());
            return Err(PyValueError::new_err(message));
        }
        let (labels, tasks) = (in_rows(&labels)?, readable(&view, &self.layout, tasks, &self.tasks)?);
        let models = job::quick(py, || {
            let row = |number: usize| &labels[number * view.n_steps()..(number + 1) * view.n_steps()];
            let stream = |number: usize| Rng::stream(seed, first + number as u64);
            let numbers = 0..rows;
            numbers
                .map(|i| CloneModel::started(&view, &tasks, &self.layout, row(i), &mut stream(i)))
                .collect::<Result<Vec<_>>>()
        })?;
        Ok(CloneModels::in_task(Arc::new(models), self.tasks.clone(), 0))
    }

    /// About how many steps `CloneModels.trained` reads for one model of so many states, of data with so many steps.
    #[staticmethod]
    fn work(states: usize, n_steps: usize, explore: usize, settle: usize) -> usize {
        training::work(states, n_steps, explore, settle)
    }
}
