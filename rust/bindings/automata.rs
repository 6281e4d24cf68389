//! Automata, and policies that act on their states or on other features of histories.

use std::sync::Arc;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, Matrix, Vector, Whole, in_rows, same_alphabets, shaped, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::parts::Part;
use crate::bindings::policy::{CompiledPolicy, PolicyState};
use crate::policies::any::own;
use crate::policies::array::Array;
use crate::policies::{Parted, automaton_policy, forest};
use crate::policy;
use crate::simulate::policy::{Described, Rule};

/// A policy among the parts of another.
impl Part for Arc<automaton_policy::AutomatonPolicy> {
    type Given<'py> = Bound<'py, AutomatonPolicy>;

    fn take(given: Self::Given<'_>) -> PyResult<Self> {
        Ok(given.get().inner.clone())
    }

    fn give(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(Bound::new(py, AutomatonPolicy::wrapped(self))?.into_any())
    }
}

policy! {
    /// Acts on the state αᵀA_h of an automaton, which is rescaled at every step by a positive number.
    ///
    /// The symbol n_actions · n_observations + o is that of o shown before the first action. A symbol without an operator
    /// brings the state of an unknown history.
    ///
    /// Parameters
    /// ----------
    /// symbols, operators : (seen,), (seen, rank, rank)
    ///     The symbols that have an operator, and these.
    /// n_actions, n_observations : int
    ///     Sizes of the alphabets.
    /// start, anchor : (rank,)
    ///     States of the empty history and of an unknown one, where windows begin.
    /// weights : (n_actions, rank)
    ///     What an action is worth, linear in the state.
    /// propensities : (seen + 2, n_actions), optional
    ///     Π(a | last symbol), then for an unseen symbol and for the start; values are divided by them.
    /// normaliser : (rank,), optional
    ///     The state is scaled to normaliser · state = 1; without, to largest entry 1.
    /// window : int, optional
    ///     Only the last so many symbols count.
    /// behavior : (AutomatonPolicy, epsilon), optional
    ///     By whose probabilities values are divided.
    ///
    /// Examples
    /// --------
    /// >>> import uqf
    /// >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    /// >>> policy = uqf.UQF(rank=2, discount=0.95).fit(data).policy_
    /// >>> type(policy).__name__, policy.rank
    /// ('AutomatonPolicy', 2)
    AutomatonPolicy in automaton_policy, temperature = 0.0,
    (),
    {
        symbols: Vec<i64>, operators: Array<f64, 3>, n_actions: usize, n_observations: usize, start: Vec<f64>,
        anchor: Vec<f64>, weights: Array<f64, 2>, propensities: Option<Array<f64, 2>> = None,
        normaliser: Option<Vec<f64>> = None, window: Option<usize> = None,
        behavior: Option<automaton_policy::Behavior> = None,
    },
    get { weights, operators },
    {
        #[getter]
        fn rank(&self) -> usize {
            self.inner.rank()
        }

        /// The state vector of a memory, rescaled: (rank,).
        fn vector<'py>(slf: PyRef<'py, Self>, state: &PolicyState) -> PyResult<Vector<'py>> {
            let memory = own::<automaton_policy::AutomatonPolicy>(slf.as_super().own(state)?);
            Ok(memory.state.clone().into_pyarray(slf.py()))
        }

        /// State vectors at every cut of a data set, also after the last step: (n_steps + n_episodes, rank).
        #[pyo3(signature = (data, *, threads=None))]
        fn states_along<'py>(
            &self,
            py: Python<'py>,
            data: Arrays<'py>,
            threads: Option<Whole<i64>>,
        ) -> PyResult<Matrix<'py>> {
            let (view, threads, policy) = (data.view()?, thread_count(threads)?, self.inner.as_ref());
            same_alphabets("policy", &view, policy.n_actions(), policy.n_observations())?;
            let states = job::long(py, None, |ticker| policy.states_along(&view, threads, ticker))?;
            shaped(py, states, [view.n_steps() + view.n_episodes(), self.rank()])
        }
    }
}

policy! {
    /// Acts on one forest per action, over features of the history: base + the leaves that x falls into.
    ///
    /// Features are the state of `automaton`, or else the last `length` steps, the latest first: an indicator per action
    /// and per observation. base : (n_actions,); trees, nodes : (n_actions,), how many trees and nodes each forest has;
    /// roots, feature, threshold, left, right, value : those of all forests, one after the other; roots and children count
    /// from the first node of their forest. A node goes left if x[feature] ≤ threshold; a negative feature marks a leaf.
    ForestPolicy in forest, temperature = 0.0,
    (),
    {
        + window: Window { length: usize, n_actions: usize, n_observations: usize },
        + forests: Forests {
            base: Vec<f64>, trees: Vec<i64>, nodes: Vec<i64>, roots: Vec<i64>,
            feature: Vec<i64>, threshold: Vec<f64>, left: Vec<i64>, right: Vec<i64>, value: Vec<f64>,
        },
        automaton: Option<Arc<automaton_policy::AutomatonPolicy>> = None,
    },
    get {},
    {
        /// Features at every cut of every episode: (n_steps + n_episodes, n_features).
        #[pyo3(signature = (data, *, threads=None))]
        fn features_along<'py>(
            &self,
            py: Python<'py>,
            data: Arrays<'py>,
            threads: Option<Whole<i64>>,
        ) -> PyResult<Matrix<'py, f32>> {
            let (view, threads, features) = (data.view()?, thread_count(threads)?, &self.inner.features);
            same_alphabets("features", &view, features.n_actions(), features.n_observations())?;
            let rows = job::long(py, None, |ticker| features.at_cuts(&view, threads, ticker))?;
            shaped(py, rows, [view.n_steps() + view.n_episodes(), features.dim()])
        }

        /// Values (rows, n_actions) of feature vectors (rows, n_features).
        #[pyo3(signature = (x, *, threads=None))]
        fn values<'py>(
            &self,
            py: Python<'py>,
            x: PyReadonlyArray2<'py, f32>,
            threads: Option<Whole<i64>>,
        ) -> PyResult<Matrix<'py>> {
            let (rows, n_features) = (x.shape()[0], x.shape()[1]);
            if n_features != self.inner.features.dim() {
                let wanted = self.inner.features.dim();
                return Err(PyValueError::new_err(format!("x has {n_features} columns: expected {wanted}")));
            }
            let (x, threads) = (in_rows(&x)?, thread_count(threads)?);
            let values = job::long(py, None, |ticker| self.inner.evaluate_all(&x, threads, ticker))?;
            shaped(py, values, [rows, self.inner.features.n_actions()])
        }
    }
}
