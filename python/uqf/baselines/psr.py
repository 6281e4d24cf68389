"""A predictive state representation: an automaton of probabilities, its state and what it predicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.episodes.sums import cut_before
from uqf.episodes.trajectories import Trajectories
from uqf.learn.spectral.wfa import WFA
from uqf.policies.policy import AutomatonPolicy, remembered
from uqf.types import Record

Floats = NDArray[np.float64]

#: Weight of the uniform distribution where predictions are scored.
FLOOR = 1e-6


def automaton_features(policy: AutomatonPolicy) -> Record:
    """The state that an automaton policy acts on, as the features of a `ForestPolicy`."""
    sizes = {"n_actions": policy.n_actions, "n_observations": policy.n_observations}
    return {"automaton": policy, "length": 0, **sizes}


class PSR:
    """Predictions from the state of an automaton that computes P(h), the probability of a history.

    The state b(h) = αᵀA_h / f(h) is normalised, ω · b = 1, so that b · A_ao ω = P(a, o | h) (the *joint*
    form: actions as the policy that collected the data took them) and P(o | h, a) follows by dividing by the
    sum over o (the *action-conditioned* form, whatever that policy was).

    A symbol never seen in the data keeps the state. If the denominator vanishes (below 1e-9 of the state's
    size), turns negative or is no number, the state restarts from the average state `anchor` and takes in the
    symbol, or is the average state itself. Learned operators give slightly negative probabilities:
    predictions are clipped at zero and renormalised; if nothing is left above zero they are uniform.

    Parameters
    ----------
    wfa : WFA of P(h), for example ``uqf.WFA.from_pomdp(pomdp, target="probability")``
    anchor : (k,), optional
        Average state over the data; α by default.
    """

    def __init__(
        self, wfa: WFA, n_actions: int, n_observations: int, *, anchor: ArrayLike | None = None
    ) -> None:
        self.wfa = wfa
        self.n_actions = n_actions
        self.n_observations = n_observations
        self.anchor = np.asarray(wfa.alpha if anchor is None else anchor, np.float64)
        self.tracker = self.policy(np.zeros((n_actions, wfa.rank)))
        #: (n_symbols, k): row σ gives P(σ | h) from the state.
        self.outputs: Floats = np.zeros((wfa.n_symbols, wfa.rank))
        self.outputs[wfa.symbols] = wfa.seen_operators @ wfa.omega

    @property
    def rank(self) -> int:
        return self.wfa.rank

    def policy(self, weights: Floats, *, temperature: float = 0.0) -> AutomatonPolicy:
        """A compiled policy with values weights (A, k) · state, in units of whatever the weights predict."""
        parts = {
            "anchor": self.anchor,
            "weights": np.ascontiguousarray(weights),
            "normaliser": self.wfa.omega,
        }
        return self.wfa.policy(self.n_actions, self.n_observations, temperature=temperature, **parts)

    @property
    def features(self) -> Record:
        """The state as features of histories: arguments of a `ForestPolicy`, for `FittedQ`."""
        return automaton_features(self.tracker)

    def state(self, history: Sequence[tuple[int, int]] = ()) -> Floats:
        """Normalised state (k,) after a list of (action, observation)."""
        return self.tracker.vector(remembered(self.tracker, history))

    def states(self, data: Trajectories, *, threads: int | None = None) -> Floats:
        """Normalised states before every step of a data set: (n_steps, k)."""
        return self.tracker.states_along(data, threads=threads)[cut_before(data)]

    def joint_probs(self, states: ArrayLike, *, raw: bool = False) -> Floats:
        """P(a, o | h), (..., A, O), from states (..., k); clipped, they sum to 1: the episode goes on."""
        table = np.asarray(states) @ self.outputs.T
        shaped = table.reshape(*table.shape[:-1], self.n_actions, self.n_observations)
        return shaped if raw else _distribution(shaped, (-2, -1))

    def observation_probs(self, states: ArrayLike) -> Floats:
        """P(o | h, a), (..., A, O): every row sums to 1."""
        return _distribution(self.joint_probs(states, raw=True), (-1,))

    def log_likelihood(self, data: Trajectories) -> float:
        """Mean over steps of ln P(o | h, a).

        Every prediction is mixed with the uniform one, weight `FLOOR`: an unforeseen symbol costs a finite amount, and
        the predictions still sum to 1. That episodes end is not scored.
        """
        seen = self.observation_probs(self.states(data))[
            np.arange(data.n_steps), data.actions, data.observations
        ]
        return float(np.log((1.0 - FLOOR) * seen + FLOOR / self.n_observations).mean())


def _distribution(table: Floats, axes: tuple[int, ...]) -> Floats:
    """Clipped at zero and normalised over `axes`; uniform where nothing positive (or no number) is left."""
    clipped: Floats = np.where(table > 0.0, table, 0.0)
    total = clipped.sum(axis=axes, keepdims=True)
    cells = np.prod([table.shape[axis] for axis in axes])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where((total > 0.0) & np.isfinite(total), clipped / total, 1.0 / cells))
