"""Point-based planning on a learned predictive state (Izadi & Precup 2008; Boots, Siddiqi & Gordon 2011)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from uqf.baselines.fitted_q import value_range
from uqf.baselines.psr import PSR, Floats
from uqf.baselines.tpsr import TPSR, linear_values
from uqf.episodes.checks import not_negative, positive, probability, whole
from uqf.episodes.trajectories import Trajectories
from uqf.learn.learner import Learner
from uqf.reading.progress import Callback


@dataclass(eq=False, repr=False)
class PSRPBVI(Learner):
    """Two stages: learn what will be seen and what it pays, then plan on the states that the data reached.

    The model is a `PSR`; the reward of an action is a linear function of its state, by ridge regression.
    Plans are linear functions of the state too, backed up at sampled states as `PBVI` does at beliefs.

    Parameters
    ----------
    model : `TPSR`, `CPSR` (a clone is fitted), a `PSR`, or None for ``TPSR()``
    discount : float in [0, 1)
    points : int
        Most states to plan for, drawn from those of the data.
    iterations : int
        Backups of all points.
    ridge : float
        Penalty of the reward's weights, relative to the mean square of a state's entries.

    Notes
    -----
    Trap: operators hold P(a, o | h). They are divided by the share of each action in the data, which is right
    only if the policy that collected them did not look at the history. A learned model is not a
    probability model: plans worth more (or less) than the rewards of the log allow are not believed,
    and errors grow with every step planned ahead, so a lower discount than the world's often acts better.
    The end of a recording looks like the end of the world (see `TPSR`), which shortens plans a little more.

    Attributes
    ----------
    policy_, diagnostics_ : acts by the best plan at the state
    psr_, rewards_ (A, k), vectors_ (V, k), actions_ (V,), points_ (N, k)
    values_ : (N,) value of each point; disbelieved_ : how many backups were worth more or less than rewards allow

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    >>> learner = uqf.baselines.PSRPBVI(uqf.baselines.TPSR(rank=2), discount=0.5).fit(data)
    >>> learner.policy_.n_actions
    3
    """

    model: Learner | PSR | None = None
    _: KW_ONLY
    discount: float = 0.99
    points: int = 300
    iterations: int = 100
    ridge: float = 1e-3
    seed: int = 0

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        if probability("discount", self.discount) == 1.0:
            raise ValueError(
                f"discount = {self.discount}: planning for an endless future needs one in [0, 1)"
            )
        for name in ("points", "iterations"):
            positive(name, getattr(self, name))
        not_negative("ridge", self.ridge)
        self.psr_ = self.model if isinstance(self.model, PSR) else _fitted_psr(self.model, data)
        states = self.psr_.states(data)
        self.rewards_ = linear_values(self.psr_, states, data, data.rewards, self.ridge)
        rng = np.random.default_rng(whole("seed", self.seed))
        chosen = rng.choice(len(states), min(self.points, len(states)), replace=False)
        self.points_ = np.unique(states[np.sort(chosen)], axis=0)
        backups = Backups.of(self.psr_, self.rewards_, data, self.discount)
        self._plan(backups, *value_range(data, self.discount))
        self.policy_ = self.psr_.policy(self.vectors_, actions=self.actions_)
        self.diagnostics_ = {
            "learner": "PSRPBVI",
            "rank": self.psr_.rank,
            "points": len(self.points_),
            "disbelieved": self.disbelieved_,
            "notes": [],
        }

    def _plan(self, backups: Backups, lowest: float, highest: float) -> None:
        """Begins with plans that earn the least possible for ever (ω is worth 1 at every state)."""
        count = len(self.points_)
        vectors = np.tile(lowest * self.psr_.wfa.omega, (count, 1))
        actions = np.zeros(count, np.int64)
        values = (vectors * self.points_).sum(axis=1)
        self.disbelieved_ = 0
        for _ in range(self.iterations):
            plans, firsts = backups(self.points_, np.unique(vectors, axis=0))
            worth = (plans * self.points_).sum(axis=1)
            believed = (worth >= lowest - 1e-9) & (worth <= highest + 1e-9)
            self.disbelieved_ += int((~believed).sum())
            # A point keeps its plan unless a believable one is better there.
            better = believed & (worth > values)
            vectors[better], actions[better], values[better] = plans[better], firsts[better], worth[better]
            if not better.any():
                break
        self.vectors_, self.actions_, self.values_ = vectors, actions, values


def _fitted_psr(model: Learner | None, data: Trajectories) -> PSR:
    learner = TPSR() if model is None else model
    if not callable(getattr(learner, "fit", None)):
        raise TypeError(f"model is a {type(learner).__name__}: give TPSR(…), CPSR(…) or a PSR")
    psr = getattr(clone(learner).fit(data), "psr_", None)
    if not isinstance(psr, PSR):
        raise TypeError(f"model is a {type(learner).__name__}, which learns no psr_; give TPSR(…) or CPSR(…)")
    return psr


@dataclass(frozen=True)
class Backups:
    """Action-conditioned operators (seen, k, k) with the action of each (seen,), and rewards (A, k)."""

    operators: Floats
    action_of: NDArray[np.int64]
    rewards: Floats
    discount: float

    @classmethod
    def of(cls, psr: PSR, rewards: Floats, data: Trajectories, discount: float) -> Backups:
        """From the joint operators of a PSR whose data came from a policy blind to the history."""
        share = np.bincount(data.actions, minlength=data.n_actions) / data.n_steps
        action_of = psr.wfa.symbols // psr.n_observations
        known = share[action_of] > 0.0
        conditioned = psr.wfa.seen_operators[known] / share[action_of[known], np.newaxis, np.newaxis]
        return cls(conditioned, action_of[known], rewards, discount)

    def __call__(self, points: Floats, vectors: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """The best plan (N, k) and its first action (N,) at each point, given plans to follow (V, k)."""
        following = self.operators @ vectors.T  # (seen, k, V): what a plan is worth before the symbol
        best = (points @ following).argmax(axis=-1)  # (seen, N)
        chosen = np.take_along_axis(following, best[:, np.newaxis], axis=2)  # (seen, k, N)
        plans = np.repeat(self.rewards[:, :, np.newaxis], len(points), axis=2)
        np.add.at(plans, self.action_of, self.discount * chosen)
        firsts = np.einsum("akn,nk->na", plans, points).argmax(axis=1)
        return np.ascontiguousarray(plans[firsts, :, np.arange(len(points))]), firsts
