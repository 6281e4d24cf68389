"""Hidden Markov models in which a state may show any observation, grown from few states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.types import Record

Single = NDArray[np.float32]


@dataclass(frozen=True)
class Growth:
    """How models are trained; docs/notebook.md has the evidence for the numbers."""

    states: int = 96
    """States that a model has at most."""
    first: int = 8
    """States that it begins with; those that are visited most are split, until no size brings anything."""
    trust: float = 0.85
    """With one state for every observation, which is tried as well: an observation is what it seems with this
    probability before anything is learned."""
    explore: int = 60
    """Iterations at every size, each on a minibatch of its own; twice as many at the first."""
    settle: int = 40
    """Iterations at the end, on averages of minibatches."""
    batch: int = 20_000
    """Steps of a minibatch."""
    overshoot: float = 0.9
    """How far an iteration goes beyond the plain update while it explores."""
    held_out: float = 0.1
    """Share of the episodes that judge the sizes; the last iterations see them as well."""
    patience: int = 2
    """Growth ends when so many sizes in a row made held-out episodes no likelier."""
    evidence: float = 2.0
    """Standard errors by which held-out episodes must be likelier with one state for every observation."""
    transitions: float = 0.5
    """Pseudo-counts of a row of transitions, spread evenly."""
    pooled: float = 10.0
    """Pseudo-counts of a row of transitions, spread as in all actions together: where one leads, others may too."""
    emissions: float = 0.5
    """Pseudo-counts of what a state shows, spread evenly."""
    rewards: float = 2.0
    """Pseudo-counts of the rewards of an action and observation, spread as in all states together."""
    start: float = 0.02
    """Pseudo-counts of every start state."""


@dataclass(frozen=True)
class HiddenModel:
    """A trained model.

    start : (S,); transitions : (A, S, S), the probability of the next state and of going on
    emissions : (O, S), what a state shows; ones for observations that never occurred
    rewards : (A, S), the mean reward of an action in a state
    likelihoods : (n_episodes,), logarithms, of the episodes that judge it
    seen, tried : (O,) and (A,), whether an observation or an action occurred; of others nothing was learned
    """

    start: Single
    transitions: Single
    emissions: Single
    rewards: Single
    likelihoods: FloatArray
    seen: NDArray[np.bool_]
    tried: NDArray[np.bool_]

    @property
    def n_states(self) -> int:
        """How many of them growth ended with."""
        return len(self.start)

    @property
    def shown(self) -> Single:
        """What a state shows, (O, S), and zeros for observations that never occurred."""
        return np.where(self.seen[:, np.newaxis], self.emissions, np.float32(0.0))

    def filters(self, opens: bool) -> Record:
        """The parts of a `BeliefPolicy` that keeps the belief of this model."""
        n_observations, states = self.emissions.shape
        return {
            "states": np.array([states]),
            "starts": self.start,
            "transitions": self.transitions.ravel(),
            "shown": self.emissions.ravel(),
            "ranges": np.tile([0, states], (1, n_observations, 1)),
            "kinds": np.arange(len(self.transitions)),
            "opens": opens,
        }

    def openings(self, opens: bool) -> Single:
        """Beliefs before the first action, each times its probability: (what may be shown first, S)."""
        if not opens:
            return self.start[np.newaxis]
        shown = self.start * self.shown
        return np.ascontiguousarray(shown[shown.sum(axis=1) > 1e-9])


def hidden_models(
    data: Trajectories,
    judges: Trajectories,
    numbers: range,
    *,
    growth: Growth,
    noisy: bool = False,
    seed: int = 0,
    threads: int | None = None,
) -> list[HiddenModel]:
    """Models of some episodes, numbered for their random streams, and how likely each makes those that judge.

    If `noisy`, none is grown: they have one state for every observation, which the sensor may take for another.
    """
    trained = _core.hidden_models(
        data,
        judges,
        growth,
        numbers=(numbers.start, numbers.stop),
        noisy=noisy,
        seed=seed,
        threads=threads,
    )
    shown = [data.observations]
    if data.first_observations is not None:
        shown.append(data.first_observations)
    seen = np.isin(np.arange(data.n_observations), np.concatenate(shown))
    tried = np.isin(np.arange(data.n_actions), data.actions)
    names = ("start", "transitions", "emissions", "rewards", "likelihoods")
    return [HiddenModel(**{name: model[name] for name in names}, seen=seen, tried=tried) for model in trained]
