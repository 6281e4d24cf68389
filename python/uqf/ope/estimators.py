"""The estimators: what each makes of logs that are seen with the eyes of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import instance, positive, probability
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.ope.behavior import Behavior
from uqf.ope.estimates import ANYTHING
from uqf.ope.ratios import ROUNDING, Ratios, bootstrap
from uqf.ope.tails import NO_TAILS, Tails
from uqf.ope.weights import Overlap, Weights, importance_weights, overlap

FloatArray = NDArray[np.float64]


class ValueModel(Protocol):
    """A model that gives the values of a policy: `LastSymbolModel`, or a better one."""

    def fit(self, data: Trajectories, probs: FloatArray, *, discount: float) -> object:
        """Learns from logs along which the policy has probabilities `probs` (n_steps, n_actions)."""

    def values(self, data: Trajectories, *, horizon: int) -> FloatArray:
        """Q of every action before every step, (n_steps, n_actions); no reward after step `horizon`."""


def check_model(model: ValueModel) -> None:
    """Refuses what cannot be fitted or has no values."""
    for name in ("fit", "values"):
        if not callable(getattr(model, name, None)):
            raise TypeError(f"model is {kind_of(model)} without {name}(): give one such as LastSymbolModel()")


@dataclass(frozen=True)
class Replayed:
    """Logs seen with the eyes of one policy, which decides in a share of the steps; the others are as logged.

    probs : π(a | h) before every step, (n_steps, n_actions)
    """

    data: Trajectories
    discount: float
    probs: FloatArray
    behavior: Behavior
    model: ValueModel
    seed: int
    share: float = 1.0

    @cached_property
    def weights(self) -> Weights:
        """Under the behaviour that is taken for true."""
        return self.weights_under(self.behavior.probs)

    def weights_under(self, behavior: FloatArray) -> Weights:
        """If the logged actions had these probabilities, (n_steps,)."""
        chosen = self.probs[np.arange(self.data.n_steps), self.data.actions]
        return importance_weights(self.data, 1.0 - self.share + self.share * chosen / behavior)

    @cached_property
    def overlap(self) -> Overlap:
        """How much the logs say about the policy."""
        return overlap(
            self.weights, self.weights.reward_shares(self.data.rewards, self.discount), self.discount
        )

    @cached_property
    def values(self) -> FloatArray:
        """Q of every action before every step, (n_steps, n_actions), from a model fitted to the other half of the
        episodes: its noise and the noise of the weights have nothing to do with each other.
        """
        data = self.data
        if len(data) < 2:
            return np.zeros((data.n_steps, data.n_actions))
        order = np.random.default_rng([self.seed, 1]).permutation(len(data))
        halves = np.sort(order[: len(data) // 2]), np.sort(order[len(data) // 2 :])
        values = np.empty((data.n_steps, data.n_actions))
        for learned, valued in (halves, halves[::-1]):
            self.model.fit(data[learned], self.probs[_steps_of(data, learned)], discount=self.discount)
            values[_steps_of(data, valued)] = self.model.values(data[valued], horizon=self.weights.horizon)
        return values

    @property
    def taken(self) -> FloatArray:
        """Value of every logged action, (n_steps,)."""
        return np.asarray(self.values[np.arange(self.data.n_steps), self.data.actions])

    @property
    def expected(self) -> FloatArray:
        """Value of what the policy does before every step, (n_steps,)."""
        return np.asarray((self.probs * self.values).sum(axis=1))


class Measured(NamedTuple):
    """Value of one policy, or the difference of two."""

    value: float
    stderr: float
    interval: tuple[float, float]
    tails: Tails
    """Of what episodes contribute."""


def measured(logs: list[Replayed], method: str, level: float, replicates: int) -> Measured:
    """The value of one policy, or the difference of two, by one of `uqf.ope.METHODS`."""
    if method == "model":
        value, *others = map(_modelled, logs)
        return Measured(value - sum(others), float("inf"), ANYTHING, NO_TAILS)
    ratios = ratios_of(logs, method)
    error, (low, high) = bootstrap(ratios, level=level, replicates=replicates, seed=logs[0].seed)
    return widened(logs, method, ratios, error, (low, high))


def widened(
    logs: list[Replayed], method: str, ratios: Ratios, error: float, interval: tuple[float, float]
) -> Measured:
    """An interval of weighted episodes, with all that resamples of them do not show.

    Weights that the log happens to lack stretch it, the tails of what episodes contribute are carried on beyond the
    largest, and other behaviours that the log does not speak against shift its ends.
    """
    value, (low, high) = ratios.value(), interval
    stretch, tails = max(one.overlap.stretch for one in logs), tails_of(ratios)
    lowest, highest = _shifts(logs, method, value)
    return Measured(
        value,
        stretch * error,
        (
            value - stretch * (value - low + tails.below.allowance) + lowest,
            value + stretch * (high - value + tails.above.allowance) + highest,
        ),
        tails,
    )


def tails_of(ratios: Ratios) -> Tails:
    """Of what groups of episodes contribute; rounding has none."""
    contributions = ratios.contributions()
    if np.abs(contributions).max() <= ROUNDING * ratios.n_groups * ratios.scale():
        return NO_TAILS
    return Tails.of(contributions)


def ratios_of(logs: list[Replayed], method: str) -> Ratios:
    """The weighted episodes of one policy, or the difference of two."""
    return _difference([_RATIOS[method](one, one.weights) for one in logs])


def _difference(ratios: list[Ratios]) -> Ratios:
    first, *others = ratios
    for other in others:
        first = first - other
    return first


def _shifts(logs: list[Replayed], method: str, value: float) -> tuple[float, float]:
    """How much less and how much more the value is under other behaviours that the log does not speak against."""
    shifts = [0.0]
    for probs in logs[0].behavior.others:
        ratios = [_RATIOS[method](one, one.weights_under(probs)) for one in logs]
        shifts.append(_difference(ratios).value() - value)
    return min(shifts), max(shifts)


def _importance(logs: Replayed, weights: Weights) -> Ratios:
    """Σ_t γ^t Σ_i ρ_it r_it / Σ_i ρ_it."""
    return Ratios((weights.term(weights.upto * logs.data.rewards, weights.upto, logs.discount),))


def _doubly_robust(logs: Replayed, weights: Weights) -> Ratios:
    """Σ_t γ^t [Σ_i ρ_it (r_it - Q_it) / Σ_i ρ_it + Σ_i ρ_i,t-1 V_it / Σ_i ρ_i,t-1]."""
    unexplained = weights.upto * (logs.data.rewards - logs.taken)
    return Ratios(
        (
            weights.term(unexplained, weights.upto, logs.discount),
            weights.term(weights.before * logs.expected, weights.before, logs.discount),
        )
    )


def _steps_of(data: Trajectories, episodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps of the chosen episodes, in the order in which `data[episodes]` has them."""
    lengths = data.lengths[episodes]
    firsts = np.repeat(data.offsets[:-1][episodes] - (np.cumsum(lengths) - lengths), lengths)
    return firsts + np.arange(lengths.sum())


def model_value(
    model: ValueModel, data: Trajectories, probs: FloatArray, *, discount: float, horizon: int | None = None
) -> float:
    """What a policy earns under a model that learns from the data: its value at the starts, averaged over episodes.

    Parameters
    ----------
    model : ValueModel
        It is fitted.
    data : Trajectories
    probs : floats, shape (n_steps, n_actions)
        π(a | h) of the policy before every step of the data, as `uqf.ope.evaluate` works them out.
    discount : float in [0, 1]
        Worth of a reward one step later.
    horizon : int, optional
        No reward is counted after so many steps; those of the longest episode by default.

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=200, horizon=3, seed=0)
    >>> uniform = np.full((log.n_steps, 3), 1 / 3)
    >>> uqf.ope.model_value(uqf.ope.LastSymbolModel(), log, uniform, discount=0.95) < -50
    True
    """
    check_model(model)
    instance("data", data, Trajectories, "uqf.Trajectories (see uqf.read_log)")
    probability("discount", discount)
    if np.shape(probs) != (data.n_steps, data.n_actions):
        raise ValueError(f"probs has shape {np.shape(probs)}: give ({data.n_steps}, {data.n_actions})")
    model.fit(data, probs, discount=discount)
    first = data.offsets[:-1]
    starts = Trajectories(
        data.actions[first],
        data.observations[first],
        data.rewards[first],
        np.arange(len(data) + 1),
        n_actions=data.n_actions,
        n_observations=data.n_observations,
        first_observations=data.first_observations,
    )
    steps = int(data.lengths.max()) if horizon is None else positive("horizon", horizon)
    values = model.values(starts, horizon=steps)
    return float((probs[first] * values).sum(axis=1).mean())


def _modelled(logs: Replayed) -> float:
    """The value under the model, up to the longest episode."""
    return model_value(logs.model, logs.data, logs.probs, discount=logs.discount)


_RATIOS = {"importance": _importance, "doubly-robust": _doubly_robust}
METHODS = (*_RATIOS, "model")
