//! Cloned hidden Markov models: how they are laid out, started and pickled.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::clones::CloneModels;
use crate::bindings::convert::{Arrays, Matrix, Vector, count, in_rows, large, numbers};
use crate::bindings::job;
use crate::error::{Error, Result};
use crate::learn::beliefs::CloneModel;
use crate::learn::beliefs::events::{RewardClasses, Tasks};
use crate::learn::beliefs::layout::Layout;
use crate::learn::beliefs::training;
use crate::parts;
use crate::rng::Rng;
use crate::trajectories::View;

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

/// Transitions of one model: a gigabyte, of which training holds several.
const MAX_CELLS: usize = 1 << 28;

#[pymethods]
impl CloneLayout {
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
            let cells = layout.n_states.saturating_mul(layout.n_states).saturating_mul(layout.n_kinds);
            if cells > MAX_CELLS {
                let remedy =
                    format!("its transitions would be {cells} numbers, more than {MAX_CELLS}; give fewer");
                return Err(Error::argument("states", layout.n_states.to_string(), remedy));
            }
            Ok(CloneLayout { layout, tasks })
        })
    }

    #[getter]
    fn noisy(&self) -> bool {
        self.layout.noisy()
    }

    #[getter]
    fn n_states(&self) -> usize {
        self.layout.n_states
    }

    #[getter]
    fn ranges<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py, i64>> {
        let ranges = &self.layout.ranges;
        large(py, ranges.iter().flat_map(|&(low, high)| [low, high])).reshape([ranges.len(), 2])
    }

    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> Vector<'py, i64> {
        large(py, self.layout.kinds.iter().copied())
    }

    #[getter]
    fn shared(&self) -> (usize, usize) {
        self.layout.shared
    }

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

    #[staticmethod]
    fn work(states: usize, n_steps: usize, explore: usize, settle: usize) -> usize {
        training::work(states, n_steps, explore, settle)
    }
}

/// The models as plain arrays.
pub fn to_state<'py>(py: Python<'py>, models: &[CloneModel], tasks: &Tasks) -> PyResult<Bound<'py, PyDict>> {
    let layout = &models[0].layout;
    let table = |table: &Vec<f32>| table.clone().into_pyarray(py);
    let tables = |model: &CloneModel| {
        (table(&model.start), table(&model.transitions), table(&model.events), model.log_likelihood)
    };
    let classes = (0..tasks.count()).map(|task| tasks.classes(task));
    parts!(PyDict::new(py), {
        "sizes": (layout.n_states, layout.n_kinds, layout.n_events, layout.n_shown, layout.n_tasks),
        "codes": layout.codes.clone(),
        "ranges": layout.ranges.clone(),
        "kinds": layout.kinds.clone(),
        "shared": layout.shared,
        "opens": layout.opens,
        "models": models.iter().map(tables).collect::<Vec<_>>(),
        "classes": classes.map(|one| (one.edges().to_vec(), one.means().to_vec())).collect::<Vec<_>>(),
        "counts": tasks.counts().to_vec(),
    })
}

type Table<'py> = Bound<'py, PyAny>;

/// What `to_state` gave.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct State<'py> {
    sizes: (usize, usize, usize, usize, usize),
    codes: Vec<u32>,
    ranges: Vec<(u32, u32)>,
    kinds: Vec<u32>,
    shared: (usize, usize),
    opens: bool,
    models: Vec<(Table<'py>, Table<'py>, Table<'py>, f64)>,
    classes: Vec<(Vec<f64>, Vec<f64>)>,
    counts: Vec<Vec<f32>>,
}

/// The models of such arrays; refused where sizes do not fit.
pub fn from_state(state: &Bound<'_, PyDict>) -> PyResult<(Vec<CloneModel>, Tasks)> {
    let refused = |what: &str| Err(PyValueError::new_err(format!("models: {what}")));
    let State { sizes, codes, ranges, kinds, shared, opens, models, classes, counts } = state.extract()?;
    let (n_states, n_kinds, n_events, n_shown, n_tasks) = sizes;
    if kinds.iter().any(|&kind| kind as usize >= n_kinds)
        || ranges.iter().any(|&(low, high)| low > high || high as usize > n_states)
        || codes.iter().any(|&code| code as usize >= n_shown)
        || codes.len() != ranges.len()
    {
        return refused("kinds, ranges or codes go beyond their tables");
    }
    let fits = |(edges, means): &(Vec<f64>, Vec<f64>)| {
        !edges.is_empty() && edges.len() == means.len() && 2 * edges.len() <= n_events
    };
    if classes.len() != n_tasks || !classes.iter().all(fits) {
        return refused("the classes of rewards do not fit the events");
    }
    let layout =
        Layout { n_states, ranges, codes, n_shown, kinds, n_kinds, n_events, n_tasks, opens, shared };
    let (layout, rows) = (Arc::new(layout), n_events * n_shown);
    let lengths = [n_states, n_kinds * n_states * n_states, n_tasks * n_kinds * rows * n_states];
    let mut read = Vec::with_capacity(models.len());
    for (start, transitions, events, log_likelihood) in models {
        let (start, transitions, events) = (numbers(&start)?, numbers(&transitions)?, numbers(&events)?);
        let model = CloneModel { layout: layout.clone(), start, transitions, events, log_likelihood };
        if [model.start.len(), model.transitions.len(), model.events.len()] != lengths {
            return refused("tables do not have the sizes that are said");
        }
        read.push(model);
    }
    if read.is_empty() {
        return refused("there is none");
    }
    let classes = classes.into_iter().map(|(edges, means)| RewardClasses::new(edges, means)).collect();
    Ok((read, Tasks::from_parts(classes, counts)))
}
