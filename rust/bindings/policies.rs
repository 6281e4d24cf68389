//! The compiled policies, one entry each; what they share is in `policy`, those on automata in `automata`.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bindings::convert::{
    Arrays, Matrix, Whole, count, same_alphabets, shaped, threads as thread_count,
};
use crate::bindings::job;
use crate::bindings::parts::Part;
use crate::bindings::policy::CompiledPolicy;
use crate::bindings::worlds::World;
use crate::policies::array::Array;
use crate::policies::pomcp::{Rollouts, Settings};
use crate::policies::{Parted, belief, context, filter, observation, pomcp, table};
use crate::simulate::policy::{Described, Rule};
use crate::{policy, with_world};

policy! {
    /// Action probabilities by last symbol.
    ///
    /// The value of an action is the logarithm of its probability; temperature 1 acts by the table itself.
    ///
    /// Parameters
    /// ----------
    /// probs : (n_symbols + 1, n_actions)
    ///     One row per symbol and a last one for the start.
    /// n_observations : int
    ///     Size of the alphabet.
    /// temperature : float
    ///     0 takes the most probable action, 1 acts by the table.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, uqf
    /// >>> policy = uqf.TablePolicy(np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), 1)
    /// >>> policy.action_probs(policy.update(policy.initial_state(), action=1, observation=0)).tolist()
    /// [0.2, 0.8]
    TablePolicy in table, temperature = 1.0,
    (probs: Array<f64, 2>, n_observations: usize),
    {},
    get { probs }
}

policy! {
    /// Values by last observation.
    ///
    /// Parameters
    /// ----------
    /// values : (n_observations + 1, n_actions)
    ///     The last row is for a start that showed nothing.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, uqf
    /// >>> policy = uqf.ObservationPolicy(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.4]]))
    /// >>> policy.action(policy.update(policy.initial_state(), action=0, observation=0))
    /// 1
    ObservationPolicy in observation, temperature = 0.0,
    (values: Array<f64, 2>),
    {},
    get { values }
}

policy! {
    /// Values by the longest known context that a history ends with.
    ///
    /// Contexts form a tree: node 0 is empty, and node i + 1 reaches one symbol farther back, `symbols[i]`, than node
    /// `parents[i]`. The symbols after those of steps are what episodes showed before their first action, and the last one
    /// that nothing was shown.
    ///
    /// Parameters
    /// ----------
    /// parents, symbols : (nodes − 1,)
    ///     The tree.
    /// values : (nodes, n_actions)
    ///     What an action is worth after a context.
    /// n_observations : int
    ///     Size of the alphabet.
    ///
    /// Examples
    /// --------
    /// >>> import uqf
    /// >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    /// >>> policy = uqf.ContextQ(0.95, depth=1).fit(data).policy_
    /// >>> state = policy.update(policy.initial_state(), action=0, observation=1)
    /// >>> policy.q_values(state).shape
    /// (3,)
    ContextPolicy in context, temperature = 0.0,
    (),
    { parents: Vec<i64>, symbols: Vec<i64>, values: Array<f64, 2>, n_observations: usize },
    get { values },
    {
        /// Acts at temperature 1 on the sum of both values, each in units of its own temperature.
        ///
        /// The contexts of both become one tree, so acting takes no longer however many policies were added.
        fn plus(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<Py<ContextPolicy>> {
            Py::new(slf.py(), Self::wrapped(Arc::new(slf.get().inner.plus(&other.get().inner)?)))
        }
    }
}

policy! {
    /// Acts on the state of a filter: q(h, a) = [1, state(h)] · weights[:, a].
    ///
    /// A symbol that is not among `symbols` changes nothing.
    ///
    /// Parameters
    /// ----------
    /// symbols, operators : (seen,), (seen, 1 + rank, rank)
    ///     State after a symbol: [1, state] · operator.
    /// n_observations : int
    ///     Size of the alphabet.
    /// start : (rank,)
    ///     State before the first step.
    /// reach : float
    ///     A state is shortened to this root mean square where it is longer.
    /// weights : (1 + rank, n_actions)
    ///     What an action is worth, linear in the state.
    ///
    /// Examples
    /// --------
    /// >>> import uqf
    /// >>> data = uqf.rollout(uqf.make("gridworld-near"), episodes=100, seed=0)
    /// >>> policy = uqf.SpectralQ(0.99).fit(data).policy_
    /// >>> type(policy).__name__, policy.n_actions
    /// ('FilterPolicy', 4)
    FilterPolicy in filter, temperature = 0.0,
    (),
    {
        symbols: Vec<i64>, operators: Array<f32, 3>, n_observations: usize, start: Vec<f32>, reach: f32,
        weights: Array<f64, 2>,
    },
    get {},
    {
        #[getter]
        fn rank(&self) -> usize {
            self.inner.filter.rank()
        }

        /// (seen symbols, 1 + rank, rank)
        #[getter]
        fn operators<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            self.inner.operators().give(py)
        }
    }
}

policy! {
    /// Acts on bias + the largest of some weights · beliefs of several hidden Markov models.
    ///
    /// Parameters
    /// ----------
    /// states : (models,)
    ///     The states of each.
    /// starts : (features,), float32
    ///     Beliefs at the start.
    /// transitions : float32
    ///     The (kinds, states, states) of every model, flat: probability of going on and of the next state.
    /// ranges : (models, n_observations, 2)
    ///     First and last + 1 of the states that show an observation.
    /// kinds : (n_actions,)
    ///     Which transition matrix an action has.
    /// weights, bias : (features, vectors, n_actions), (n_actions,)
    ///     What an action is worth: the largest product over vectors, and the bias. One vector where values are linear.
    /// shown : float32, optional
    ///     The (n_observations, states) of every model, flat: probability that a state shows an observation. By default a
    ///     state shows those in whose range it lies.
    /// opens : bool
    ///     Whether the models know what an episode shows before its first action.
    ///
    /// Examples
    /// --------
    /// >>> import uqf
    /// >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    /// >>> policy = uqf.BeliefQ(0.95, states=4, models=1).fit(data).policy_
    /// >>> type(policy).__name__, policy.n_actions
    /// ('BeliefPolicy', 3)
    BeliefPolicy in belief, temperature = 0.0,
    (),
    {
        + joined: Joined {
            states: Vec<i64>, starts: Vec<f32>, transitions: Vec<f32>, ranges: Array<i64, 3>, kinds: Vec<i64>,
            shown: Option<Vec<f32>> = None, opens: bool = false,
        },
        weights: Array<f64, 3>, bias: Vec<f64>,
    },
    get { weights },
    {
        /// [1, beliefs] at every cut of the data, also after the last step: (n_steps + n_episodes, 1 + features).
        #[pyo3(signature = (data, *, threads=None))]
        fn beliefs_along<'py>(
            &self,
            py: Python<'py>,
            data: Arrays<'py>,
            threads: Option<Whole<i64>>,
        ) -> PyResult<Matrix<'py, f32>> {
            let (view, threads, policy) = (data.view()?, thread_count(threads)?, self.inner.as_ref());
            same_alphabets("policy", &view, policy.n_actions(), policy.n_observations())?;
            let rows = job::long(py, None, |ticker| policy.at_cuts(&view, threads, ticker))?;
            shaped(py, rows, [view.n_steps() + view.n_episodes(), 1 + policy.n_features])
        }
    }
}

/// Plans at every step; `uqf.baselines.POMCP` says how.
#[pyclass(frozen, subclass, extends = CompiledPolicy, module = "uqf._core")]
pub struct Pomcp {
    /// The constant of UCB1 in use.
    #[pyo3(get)]
    exploration: f64,
}

#[pymethods]
impl Pomcp {
    #[new]
    #[pyo3(signature = (world, *, simulations, particles, rollouts, exploration, discount, horizon, seed))]
    fn new(
        world: &World,
        simulations: i64,
        particles: i64,
        rollouts: &str,
        exploration: Option<f64>,
        discount: f64,
        horizon: i64,
        seed: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let settings = Settings {
            simulations: count("simulations", simulations)?,
            particles: count("particles", particles)?,
            rollouts: Rollouts::named(rollouts)?,
            discount,
            horizon: count("horizon", horizon)?,
        };
        with_world!(&*world.inner, world => {
            let inner = pomcp::Pomcp::new(world.clone(), settings, exploration, seed)?;
            let exploration = inner.exploration;
            Ok(CompiledPolicy::of(Arc::new(inner), Pomcp { exploration }))
        })
    }
}
