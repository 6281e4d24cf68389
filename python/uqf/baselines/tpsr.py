"""Spectral learning of predictive states: transformed (Boots et al. 2011), compressed (Hamilton et al. 2014)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from uqf.baselines.psr import PSR, Floats
from uqf.episodes.checks import not_negative, probability
from uqf.episodes.sums import returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.learn.learner import Learner
from uqf.learn.spectral.basis import Basis, Target
from uqf.learn.uqf import learn_state
from uqf.policies.policy import AutomatonPolicy
from uqf.reading.progress import Callback
from uqf.reading.reader import Reader
from uqf.types import Record


@dataclass(eq=False, repr=False)
class SpectralPSR(Learner):
    """What `TPSR` and `CPSR` share: everything but the words that they count."""

    rank: int | None = None
    discount: float = 0.99
    _: KW_ONLY
    occurrences: str = "anywhere"
    max_prefix: int = 3
    max_suffix: int = 3
    ridge: float = 1e-3
    temperature: float = 0.0
    seed: int = 0
    threads: int | None = None

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        discount = probability("discount", self.discount)
        not_negative("ridge", self.ridge)
        reader = Reader(data, threads=self.threads, progress=progress)
        state, _ = learn_state(reader, Basis.of(self), Target("probability"), self.rank)
        self.wfa_ = state.wfa()
        self.singular_values_ = state.decomposition.spectrum
        self.psr_ = PSR(self.wfa_, data.n_actions, data.n_observations, anchor=state.anchor)
        states = self.psr_.states(data, threads=self.threads)
        weights = linear_values(self.psr_, states, data, returns_to_go(data, discount), self.ridge)
        self.policy_: AutomatonPolicy = self.psr_.policy(weights, temperature=self.temperature)
        self.diagnostics_ = {"learner": type(self).__name__, "rank": state.rank, "notes": []}

    @property
    def features_(self) -> Record:
        """The state as features of histories, for `FittedQ`."""
        return self._model().features

    def score(self, data: Trajectories, y: None = None) -> float:
        """Mean log-likelihood of an observation given history and action, for scikit-learn's searches."""
        return self._model().log_likelihood(data)

    def _model(self) -> PSR:
        self._fitted()
        return self.psr_


@dataclass(eq=False, repr=False)
class TPSR(SpectralPSR):
    """Learns what will be seen, not what it is worth; on the same statistics as UQF.

    Parameters
    ----------
    rank : int, optional
        Size of the state; chosen from the spectrum by default, at most 50.
    discount : float in [0, 1]
        Of the returns that `policy_` predicts.
    occurrences, max_prefix, max_suffix, n_prefixes, n_suffixes : see `uqf.UQF`
    ridge : float
        Weight of the penalty on `policy_`'s weights, per step of the data.
    temperature : float
        0 acts greedily.

    Notes
    -----
    Trap: with occurrences "anywhere" the end of a recording looks like the end of the world. The probability
    that something happens next is too low by about one part in the length of an episode (a sum of 0.83, 0.91,
    0.95 at lengths 5, 10, 20 on a ring of three states); predictions given the action hardly suffer.

    Attributes
    ----------
    psr_ : `PSR`, the model: states, predictions, log-likelihood
    wfa_ : the automaton of P(h); singular_values_
    policy_ : greedy on a linear function of the state per action, fitted by ridge regression to the returns
        seen: one step of policy improvement, no more. The planners of the literature make better use of the
        state: ``FittedQ(TPSR(…))``.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    >>> learner = uqf.baselines.TPSR(rank=2).fit(data)
    >>> learner.psr_.observation_probs(learner.psr_.state()[None]).shape  # of every action and observation
    (1, 3, 2)
    """

    n_prefixes: int | None = None
    n_suffixes: int | None = None


@dataclass(eq=False, repr=False)
class CPSR(SpectralPSR):
    """A `TPSR` learned from randomly projected statistics, which are never formed in full.

    Parameters are those of `TPSR` (without limits on the number of words: all are projected), and

    projection : "gaussian", "rademacher", "sparse" or "hashed"
    prefix_dim, suffix_dim : int
        Dimensions after projection; the wider, the nearer to `TPSR`.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    >>> uqf.baselines.CPSR(rank=2, seed=0).fit(data).psr_.rank
    2
    """

    projection: str = "hashed"
    prefix_dim: int = 200
    suffix_dim: int = 200


def linear_values(psr: PSR, states: Floats, data: Trajectories, targets: Floats, ridge: float) -> Floats:
    """Ridge regression of a target of each step on the state before it, one for each action: (A, k).

    An action never taken is expected to bring the mean of the target over all steps.
    """
    average = float(targets.mean())
    # ω · state = 1, so this is a constant: regressions shrink towards it.
    weights = np.tile(average * psr.wfa.omega, (data.n_actions, 1))
    order = np.argsort(data.actions, kind="stable")
    ends = np.cumsum(np.bincount(data.actions, minlength=data.n_actions))[:-1]
    parts = zip(np.split(states[order], ends), np.split(targets[order] - average, ends), strict=True)
    for action, (x, y) in enumerate(parts):
        if len(x):
            moment = x.T @ x
            penalty = ridge * max(float(np.trace(moment)) / psr.rank, np.finfo(float).tiny)
            weights[action] += np.linalg.lstsq(moment + penalty * np.eye(psr.rank), x.T @ y, rcond=None)[0]
    return weights
