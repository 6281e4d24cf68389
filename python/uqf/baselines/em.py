"""Expectation–maximisation: Baum–Welch for an input–output hidden Markov model (Bengio & Frasconi 1995)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from uqf.baselines.baum_welch import Floats, Tables, expected_counts
from uqf.baselines.psr import PSR
from uqf.episodes.checks import not_negative, positive, probability, seed_number
from uqf.episodes.trajectories import Trajectories
from uqf.estimator import Estimator
from uqf.learn.not_fitted import NotFittedError
from uqf.learn.spectral.wfa import WFA
from uqf.reading.shards import checked_data
from uqf.worlds.environments import TabularPOMDP

Progress = Callable[[int, float], object]


@dataclass(eq=False, repr=False)
class EM(Estimator):
    """Maximum likelihood of what was seen given the actions, from a random start, uphill to a local optimum.

    Parameters
    ----------
    n_states : int
        Hidden states.
    iterations : int
        Most rounds of a run.
    tolerance : float
        A run stops when the log-likelihood per step rises by less.
    restarts : int
        Runs from different random models; the likeliest is kept.
    pseudo_count : float
        Added to every count, so that nothing is impossible. With 0 the likelihood never falls from round to
        round; with more, the sum of likelihood and prior does not.
    discount : float in [0, 1]
        Of `model_`.

    Attributes
    ----------
    model_ : `uqf.TabularPOMDP` with the mean reward of every transition; planners take it, for example
        ``PBVI().solve(em.model_).policy_``. Trap: episodes never end in it.
    psr_ : `PSR` of the model, for the same predictions as `TPSR` makes; actions are uniform in its joint form
    log_likelihoods_ : log-likelihood per step of the data before each round of the kept run, and at its end

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    >>> learner = uqf.baselines.EM(2, iterations=5, seed=0).fit(data)
    >>> learner.model_.n_actions, learner.model_.n_observations
    (3, 2)
    """

    n_states: int = 5
    _: KW_ONLY
    iterations: int = 200
    tolerance: float = 1e-6
    restarts: int = 1
    pseudo_count: float = 1e-3
    discount: float = 0.99
    seed: int = 0

    def fit(self, data: Trajectories, y: None = None, *, progress: Progress | None = None) -> EM:
        """Learns from episodes; calls ``progress(round, log-likelihood per step)``. `y` is ignored."""
        checked_data(data)
        discount = probability("discount", self.discount)
        for name in ("n_states", "iterations", "restarts"):
            positive(name, getattr(self, name))
        for name in ("tolerance", "pseudo_count"):
            not_negative(name, getattr(self, name))
        rng = np.random.default_rng(seed_number(self.seed))
        runs = [self._climb(data, self._random(data, rng), progress) for _ in range(self.restarts)]
        tables, rewards, likelihoods = max(runs, key=lambda run: run[2][-1])
        self.log_likelihoods_ = np.array(likelihoods)
        self.model_ = TabularPOMDP(
            tables.transitions, tables.observations, rewards, tables.start, discount, name="learned by EM"
        )
        automaton = WFA.from_pomdp(self.model_, target="probability")
        self.psr_ = PSR(automaton, data.n_actions, data.n_observations)
        self.n_features_in_ = data.n_symbols
        return self

    def score(self, data: Trajectories, y: None = None) -> float:
        """Mean log-likelihood of an observation given history and action, for scikit-learn's searches."""
        if not hasattr(self, "psr_"):
            raise NotFittedError.of(self)
        return self.psr_.log_likelihood(data)

    def _random(self, data: Trajectories, rng: np.random.Generator) -> Tables:
        actions, states = data.n_actions, self.n_states
        shown = rng.dirichlet(np.ones(data.n_observations), (actions, states))
        return Tables(
            rng.dirichlet(np.ones(states)), rng.dirichlet(np.ones(states), (actions, states)), shown
        )

    def _climb(
        self, data: Trajectories, tables: Tables, progress: Progress | None
    ) -> tuple[Tables, Floats, list[float]]:
        likelihoods: list[float] = []
        for iteration in range(self.iterations + 1):
            total, counts, rewards = expected_counts(data, tables)
            likelihoods.append(total / data.n_steps)
            if progress is not None:
                progress(iteration, likelihoods[-1])
            rising = iteration == 0 or likelihoods[-1] - likelihoods[-2] >= self.tolerance
            if not rising or iteration == self.iterations:
                break
            tables = self._maximise(counts, tables)
        transitions = counts.transitions
        average = float(data.rewards.mean())
        # A transition that hardly ever happens says nothing of its reward: it gets the average.
        seen = transitions > 1e-9
        means = np.divide(rewards, transitions, out=np.full_like(rewards, average), where=seen)
        return tables, means, likelihoods

    def _maximise(self, counts: Tables, tables: Tables) -> Tables:
        """The likeliest tables given the counts; rows that were never visited stay as they are."""

        def normalised(count: Floats, old: Floats) -> Floats:
            raised = count + self.pseudo_count
            total = raised.sum(axis=-1, keepdims=True)
            kept = np.divide(raised, total, out=old.copy(), where=total > np.finfo(float).tiny)
            return np.ascontiguousarray(kept)

        return Tables(*(normalised(count, old) for count, old in zip(counts, tables, strict=True)))
