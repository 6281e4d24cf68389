//! Summaries of raw columns, forests on them, and the policy that acts on both.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, Cube, Matrix, Vector, Whole, in_rows, shaped, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::parts::Part;
use crate::bindings::policy::{CompiledPolicy, PolicyState};
use crate::learn::forests::bins::Bins;
use crate::learn::forests::errors::held_out_errors;
use crate::learn::forests::fitted::{Settings, Steps, fit};
use crate::learn::forests::tree::Growth;
use crate::learn::summaries::{Expected, Summaries};
use crate::policies::any::own;
use crate::policies::array::Array;
use crate::policies::{Parted, summary};
use crate::simulate::policy::Rule;
use crate::trajectories::{Columns, View};
use crate::{fields, parts, policy, settings};

policy! {
    /// Acts on one forest per action, or on one for all, over summaries of the raw columns and of what the action brought
    /// before.
    ///
    /// Parameters
    /// ----------
    /// sizes : (columns,)
    ///     How many values every raw column has; 0 is a number.
    /// touched : (n_actions,)
    ///     Of every action, the column in which its effect is looked for.
    /// expected : (n_actions, 1 + n_actions · values), float32, or (0, 0)
    ///     What is expected of every action: a constant, and a weight for every value that an action brought last.
    /// steps : int
    ///     How many of the last observations and actions are remembered.
    /// long : bool
    ///     Whether the rest of the history is summarised as well.
    /// codes : (n_observations, columns), float32
    ///     Which columns a code stands for, where they are not given.
    /// base : (n_actions,), or (1,) if one forest values all actions
    ///     What an action is worth without its trees.
    /// trees, nodes, roots, feature, threshold, left, right, value
    ///     The forests of all actions, one after the other: how many trees and nodes each has, and these. A node goes left
    ///     if x[feature] ≤ threshold; a negative feature marks a leaf.
    /// temperature : float
    ///     0 acts greedily; more draws actions from softmax(q_values / temperature).
    /// supported : (n_actions,), optional
    ///     Which actions the log says anything about; the others have probability 0 at any temperature. By default all.
    ///
    /// Examples
    /// --------
    /// >>> import uqf
    /// >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    /// >>> policy = uqf.SummaryQ(0.95, view="now").fit(data).policy_
    /// >>> type(policy).__name__, policy.column_sizes.tolist()
    /// ('SummaryPolicy', [2])
    SummaryPolicy in summary, temperature = 0.0,
    (),
    {
        + forests: Forests {
            base: Vec<f64>, trees: Vec<i64>, nodes: Vec<i64>, roots: Vec<i64>, feature: Vec<i64>,
            threshold: Vec<f64>, left: Vec<i64>, right: Vec<i64>, value: Vec<f64>,
        },
        sizes: Vec<i64>, touched: Vec<i64>, expected: Array<f32, 2>, steps: usize, long: bool, codes: Array<f32, 2>,
    },
    get {},
    {
        /// The summaries in a memory, as they are kept: (numbers,), float32.
        fn vector<'py>(slf: PyRef<'py, Self>, state: &PolicyState) -> PyResult<Vector<'py, f32>> {
            Ok(own::<summary::SummaryPolicy>(slf.as_super().own(state)?).clone().into_pyarray(slf.py()))
        }
    }
}

type Rows<'py> = PyReadonlyArray2<'py, f32>;

/// Episodes and their raw columns: a `uqf.learn.memory.summaries.Seen`.
#[derive(FromPyObject)]
pub struct Seen<'py> {
    data: Arrays<'py>,
    columns: Rows<'py>,
    first: Option<Rows<'py>>,
    sizes: Vec<usize>,
    touched: Vec<usize>,
    expected: Rows<'py>,
}

/// How much is summarised: a `uqf.learn.memory.summaries.View`.
#[derive(FromPyObject)]
pub struct Kept {
    steps: usize,
    long: bool,
}

impl Seen<'_> {
    fn read<T>(
        &self,
        kept: &Kept,
        work: impl FnOnce(Summaries, &View, &Columns) -> PyResult<T>,
    ) -> PyResult<T> {
        let expected =
            Expected { weights: in_rows(&self.expected)?.to_vec(), width: self.expected.shape()[1] };
        let (sizes, touched) = (self.sizes.clone(), self.touched.clone());
        let summaries = Summaries::new(sizes, touched, expected, kept.steps, kept.long)?;
        let (values, first) = (in_rows(&self.columns)?, self.first.as_ref().map(in_rows).transpose()?);
        let columns = Columns { values: &values, first: first.as_deref(), width: self.columns.shape()[1] };
        work(summaries, &self.data.view()?, &columns)
    }
}

/// Features at every cut of episodes: (shared (cuts, features), own (cuts, n_actions, features)).
#[pyfunction]
#[pyo3(signature = (seen, view, *, threads=None))]
pub fn summaries_along<'py>(
    py: Python<'py>,
    seen: Seen<'py>,
    view: Kept,
    threads: Option<Whole<i64>>,
) -> PyResult<(Matrix<'py, f32>, Cube<'py, f32>)> {
    let threads = thread_count(threads)?;
    seen.read(&view, |summaries, view, columns| {
        let (shared, each) =
            job::long(py, None, |ticker| summaries.features(view, columns, threads, ticker))?;
        let cuts = view.n_steps() + view.n_episodes();
        let each = each.into_pyarray(py).reshape([cuts, summaries.n_actions, summaries.n_own()])?;
        Ok((shaped(py, shared, [cuts, summaries.n_shared()])?, each))
    })
}

/// Summaries of all cuts of episodes as the bins that trees are grown on.
#[pyclass(frozen, module = "uqf._core")]
pub struct SummaryBins {
    inner: Bins,
    threads: usize,
    actions: Vec<i32>,
    /// The cut before every step.
    before: Vec<u32>,
}

#[pymethods]
impl SummaryBins {
    #[new]
    #[pyo3(signature = (seen, view, *, threads=None))]
    fn new(py: Python<'_>, seen: Seen<'_>, view: Kept, threads: Option<Whole<i64>>) -> PyResult<Self> {
        let threads = thread_count(threads)?;
        seen.read(&view, |summaries, view, columns| {
            let inner = job::long(py, None, |ticker| Bins::of(summaries, view, columns, threads, ticker))?;
            let before = (0..view.n_episodes())
                .flat_map(|episode| view.episode(episode).map(move |step| (step + episode) as u32))
                .collect();
            Ok(SummaryBins { inner, threads, actions: view.actions.to_vec(), before })
        })
    }

    /// (about the history, about each action)
    #[getter]
    fn n_features(&self) -> (usize, usize) {
        (self.inner.summaries.n_shared(), self.inner.summaries.n_own())
    }

    /// Squared errors (targets, steps) of the targets (targets, steps), predicted by forests of the other fold.
    #[pyo3(signature = (targets, fold, settings, *, pooled, seed))]
    fn held_out_errors<'py>(
        &self,
        py: Python<'py>,
        targets: Rows<'py>,
        fold: PyReadonlyArray1<'py, u8>,
        settings: &Bound<'py, PyAny>,
        pooled: bool,
        seed: u64,
    ) -> PyResult<Matrix<'py, f32>> {
        let shape = [targets.shape()[0], targets.shape()[1]];
        let growth = settings!(settings, Growth { leaves, features, rows });
        let (trees, smallest) =
            (settings.getattr("trees")?.extract()?, settings.getattr("smallest")?.extract()?);
        let (targets, fold) = (in_rows(&targets)?, fold.as_slice()?);
        self.same_steps(&[shape[1], fold.len()])?;
        let errors = job::long(py, None, |ticker| {
            held_out_errors(
                &self.inner,
                &self.actions,
                &self.before,
                fold,
                &targets,
                pooled,
                trees,
                smallest,
                &growth,
                seed,
                self.threads,
                ticker,
            )
        })?;
        shaped(py, errors, shape)
    }

    /// The forests of all actions as the arguments of a `SummaryPolicy`, with `changes` and `value`.
    #[pyo3(signature = (rewards, going, fold, returns, span, settings, *, discount, seed, progress=None))]
    fn fitted<'py>(
        &self,
        py: Python<'py>,
        rewards: PyReadonlyArray1<'py, f32>,
        going: PyReadonlyArray1<'py, bool>,
        fold: PyReadonlyArray1<'py, u8>,
        returns: PyReadonlyArray1<'py, f32>,
        span: (f32, f32),
        settings: &Bound<'py, PyAny>,
        discount: f64,
        seed: u64,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let growth = settings!(settings, Growth { leaves, features, rows });
        let settings = settings!(
            settings,
            Settings { stages, sweeps, value_trees, trees, smallest, shrinkage, caution, pooled }
                + { discount: discount, growth: growth, seed: seed }
        );
        let steps = Steps {
            bins: &self.inner,
            actions: &self.actions,
            rewards: rewards.as_slice()?,
            before: &self.before,
            going: going.as_slice()?,
            fold: fold.as_slice()?,
            returns: returns.as_slice()?,
            range: span,
        };
        self.same_steps(&[steps.rewards.len(), steps.going.len(), steps.fold.len(), steps.returns.len()])?;
        let fitted = job::long(py, progress.as_ref(), |ticker| fit(&steps, &settings, self.threads, ticker))?;
        let forests = fitted.forests(&self.inner);
        let arrays: PyResult<_> =
            fields!(py, forests, base, trees, nodes, roots, feature, left, right, threshold, value);
        parts!(arrays?, { "changes": fitted.changes.clone().give(py)?, "mean_value": fitted.value })
    }
}

impl SummaryBins {
    fn same_steps(&self, lengths: &[usize]) -> PyResult<()> {
        let steps = self.actions.len();
        match lengths.iter().find(|&&length| length != steps) {
            None => Ok(()),
            Some(length) => Err(PyValueError::new_err(format!("{length} numbers for {steps} steps"))),
        }
    }
}
