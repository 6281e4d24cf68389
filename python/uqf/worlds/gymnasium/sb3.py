"""Agents behind the `predict` of Stable-Baselines3, for loops and tools written for it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.agent import Agent, Fitted
from uqf.coding.codebook import Codebook
from uqf.policies.policy import Policy
from uqf.types import AnyArray, Raw


class Predictor:
    """Acts with ``actions, state = predictor.predict(observation, state, episode_start)``.

    Parameters are those of `uqf.Agent`. `state` is an agent of as many episodes as there are observations, so one
    predictor may serve any number of loops. Trap: the agent goes on with its episodes; an old state cannot be used
    twice. Stable-Baselines3 itself is not needed.
    """

    def __init__(
        self,
        policy: Policy | Fitted | str | os.PathLike[str],
        *,
        codebook: Codebook | None = None,
        actions: Sequence[Raw] | None = None,
        seed: int = 0,
    ) -> None:
        agent = Agent(policy, codebook=codebook, actions=actions)
        self.policy, self.codebook = agent.policy, agent.codebook
        self._action_values = actions
        self._rng = np.random.default_rng(seed)

    def predict(
        self,
        observation: Raw,
        state: Agent | None = None,
        episode_start: ArrayLike | None = None,
        deterministic: bool = False,
    ) -> tuple[AnyArray, Agent]:
        """(actions, state) for one observation, or for those of parallel episodes.

        An observation that comes with `episode_start` (or with no state) is the one of `reset`: what the episode shows
        before its first action. With `deterministic` the most probable action is taken, the first of several.
        """
        starts = None if episode_start is None else np.asarray(episode_start, np.bool_)
        n = self._episodes(observation, starts)
        if state is None:
            # Another stream each time: loops that begin every episode without a state must not repeat themselves.
            seed = int(self._rng.integers(2**63))
            state = Agent(self.policy, codebook=self.codebook, actions=self._action_values, n=n, seed=seed)
            state.reset(observation)
        elif not isinstance(state, Agent):
            raise TypeError(f"state is a {type(state).__name__}: give the one that predict returned, or None")
        elif len(state) != (n or 1):
            raise ValueError(f"{n or 1} observations, but state has {len(state)} episodes")
        else:
            state.observe(observation, starts=None if starts is None else np.broadcast_to(starts, len(state)))
        return np.array(state.act(deterministic=deterministic)), state

    def _episodes(self, observation: Raw, starts: NDArray[np.bool_] | None) -> int | None:
        """How many observations were given, None for a single one.

        An observation of several columns is a tuple, a mapping or an array; parallel ones have one dimension more.
        """
        if starts is not None and starts.ndim > 0:
            return len(starts)
        columns = max(1, len(self.codebook.columns_))
        if isinstance(observation, (Mapping, tuple)):
            each = _size(observation) // columns
            return None if each <= 1 else each
        shape = np.shape(observation)
        return None if len(shape) == (columns > 1) else shape[0]


def _size(observation: Raw) -> int:
    """Numbers and names in an observation."""
    if isinstance(observation, Mapping):
        return sum(map(_size, observation.values()))
    return sum(map(_size, observation)) if isinstance(observation, tuple) else np.size(observation)
