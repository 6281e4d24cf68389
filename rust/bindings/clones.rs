//! Cloned hidden Markov models: how they are trained, and what they believe.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::beliefs::{self, readable};
use crate::bindings::convert::{Arrays, Cube, Whole, below, count, shaped, threads as thread_count};
use crate::bindings::job;
use crate::bindings::parts::Part;
use crate::learn::beliefs::CloneModel;
use crate::learn::beliefs::events::Tasks;
use crate::learn::beliefs::layout::Layout;
use crate::learn::beliefs::training::{self, Schedule};
use crate::policies::belief::Joined;
use crate::trajectories::View;
use crate::{fields, parts};

/// Cloned hidden Markov models of one layout, as they go on and pay in one of their tasks.
#[pyclass(frozen, module = "uqf._core")]
pub struct CloneModels {
    models: Arc<Vec<CloneModel>>,
    tasks: Arc<Tasks>,
    task: usize,
}

impl CloneModels {
    fn at(&self, index: usize) -> PyResult<&CloneModel> {
        self.models.get(index).ok_or_else(|| PyValueError::new_err(format!("no model {index}")))
    }

    pub fn in_task(models: Arc<Vec<CloneModel>>, tasks: Arc<Tasks>, task: usize) -> Self {
        CloneModels { models, tasks, task }
    }

    /// Other models of the same tasks.
    fn with(&self, models: Vec<CloneModel>) -> Self {
        Self::in_task(Arc::new(models), self.tasks.clone(), self.task)
    }

    /// All episodes of a data set as episodes of this task.
    fn as_task(&self, view: &View<'_>) -> PyResult<Tasks> {
        readable(view, self.layout(), None, &self.tasks)?;
        Ok(self.tasks.applied(vec![self.task as u32; view.n_episodes()]))
    }

    fn layout(&self) -> &Layout {
        &self.models[0].layout
    }

    /// The part of a table (tasks, kinds, events, states) that belongs to this task.
    fn own_events<'py>(&self, py: Python<'py>, table: &[f32]) -> PyResult<Cube<'py, f32>> {
        let (Layout { n_kinds, n_states, .. }, rows) = (self.layout(), self.layout().n_rows());
        let size = n_kinds * rows * n_states;
        shaped(py, table[self.task * size..][..size].iter().copied(), [*n_kinds, rows, *n_states])
    }
}

#[pymethods]
impl CloneModels {
    #[pyo3(signature = (data, *, explore, settle, first, seed, tasks=None, threads=None, progress=None))]
    fn trained(
        &self,
        py: Python<'_>,
        data: Arrays<'_>,
        explore: i64,
        settle: i64,
        first: usize,
        seed: u64,
        tasks: Option<PyReadonlyArray1<'_, u32>>,
        threads: Option<Whole<i64>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let view = data.view()?;
        let schedule = Schedule {
            explore: count("explore", explore)?,
            settle: count("settle", settle)?,
            first,
            seed,
            threads: thread_count(threads)?,
        };
        let tasks = readable(&view, self.layout(), tasks, &self.tasks)?;
        let models = job::long(py, progress.as_ref(), |ticker| {
            training::train(&self.models, &view, &tasks, &schedule, ticker)
        })?;
        Ok(self.with(models))
    }

    fn for_task(&self, task: usize) -> PyResult<Self> {
        if task >= self.tasks.count() {
            let count = self.tasks.count();
            return Err(PyValueError::new_err(format!("task = {task}: trained on {count}, counted from 0")));
        }
        Ok(Self::in_task(self.models.clone(), self.tasks.clone(), task))
    }

    fn cut(&self, first: usize, last: usize) -> PyResult<Self> {
        let models = self.models.get(first..last.min(self.models.len())).unwrap_or_default().to_vec();
        if models.is_empty() {
            return Err(PyValueError::new_err(format!("no model from {first} to {last}")));
        }
        Ok(self.with(models))
    }

    fn plus(&self, other: &CloneModels) -> PyResult<Self> {
        if self.layout() != other.layout() {
            return Err(PyValueError::new_err("the models have different layouts"));
        }
        let models = self.models.iter().chain(other.models.iter()).cloned().collect();
        Ok(self.with(models))
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.models.len() * self.layout().n_states
    }

    #[getter]
    fn noisy(&self) -> bool {
        self.layout().noisy()
    }

    fn __len__(&self) -> usize {
        self.models.len()
    }

    #[pyo3(signature = (data, *, tasks=None))]
    fn score(
        &self,
        py: Python<'_>,
        data: Arrays<'_>,
        tasks: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Vec<f64>> {
        let view = data.view()?;
        let tasks = match tasks {
            Some(_) => readable(&view, self.layout(), tasks, &self.tasks)?,
            None => self.as_task(&view)?,
        };
        job::long(py, None, |ticker| {
            let episodes = self.models[0].lockstep(&view, &tasks);
            self.models.iter().map(|model| model.log_likelihood_of(&episodes, ticker)).collect()
        })
    }

    fn iterated(&self, py: Python<'_>, data: Arrays<'_>) -> PyResult<Self> {
        let view = data.view()?;
        let tasks = self.as_task(&view)?;
        let models = job::long(py, None, |ticker| {
            let episodes = self.models[0].lockstep(&view, &tasks);
            self.models.iter().map(|model| model.iterated(&episodes, &tasks, ticker)).collect()
        })?;
        Ok(self.with(models))
    }

    fn model<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let model = self.at(index)?;
        let Layout { n_kinds, n_states, .. } = *model.layout;
        let by_state = |values: Vec<f32>| values.into_pyarray(py).reshape([n_kinds, n_states]);
        let transitions = model.transitions.clone().into_pyarray(py);
        parts!(PyDict::new(py), {
            "start": model.start.clone().into_pyarray(py),
            "transitions": transitions.reshape([n_kinds, n_states, n_states])?,
            "events": self.own_events(py, &model.events)?,
            "edges": self.tasks.classes(self.task).edges().to_vec(),
            "ends": by_state(model.ends(self.task))?,
            "rewards": by_state(model.rewards(self.task, &self.tasks))?,
            "ranges": model.layout.ranges.clone(),
        })
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = beliefs::to_state(py, &self.models, &self.tasks)?;
        state.set_item("task", self.task)?;
        Ok(state)
    }

    #[staticmethod]
    fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (models, tasks) = beliefs::from_state(state)?;
        let task = state.get_item("task")?.map_or(Ok(0), |task| task.extract())?;
        let task = below("task", task, tasks.count())?;
        Ok(Self::in_task(Arc::new(models), Arc::new(tasks), task))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        Ok((slf.get_type().getattr("from_state")?, (slf.get().__getstate__(slf.py())?,)))
    }

    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        fields!(
            py,
            Joined::of(&self.models, self.task),
            states,
            starts,
            transitions,
            shown,
            ranges,
            opens,
            kinds
        )
    }
}
