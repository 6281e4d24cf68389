"""Policies behind the `predict` of Stable-Baselines3, for loops and tools written for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.data.codebook import Codebook
from uqf.policies import chooser, started

#: Memory of every episode, and the code of the action last chosen in it.
State = tuple[tuple[Any, ...], tuple[int, ...]]


class Predictor:
    """Acts with ``actions, state = predictor.predict(observation, state, episode_start)``.

    Parameters
    ----------
    policy : a policy that knows `n_actions`, or whose `codebook` names them
    codebook : Codebook, optional
        With it, observations may come and actions go as names.
    seed : int
        Of the draws of stochastic policies.

    All memory is in `state`, so that one predictor may serve any number of loops. Stable-Baselines3 itself is
    not needed.
    """

    def __init__(self, policy: Any, *, codebook: Codebook | None = None, seed: int = 0) -> None:
        names = codebook or Codebook.named()
        n_actions = names.n_actions or getattr(policy, "n_actions", None)
        if n_actions is None:
            raise TypeError(f"policy is a {type(policy).__name__} without n_actions: give a codebook")
        self.policy = policy
        self.codebook = names
        self._choose = chooser(policy, n_actions)
        self._rng = np.random.default_rng(seed)

    def predict(
        self,
        observation: ArrayLike,
        state: State | None = None,
        episode_start: ArrayLike | None = None,
        deterministic: bool = False,
    ) -> tuple[NDArray[Any], State]:
        """(actions, state) for one observation, or for an array of them from parallel episodes.

        An observation that comes with `episode_start` (or with no state) is the one of `reset`: what the episode
        shows before its first action. A code that the policy does not know, such as the "nothing seen yet" of
        `uqf.gymnasium_env`, is not looked at.
        With `deterministic` the most probable action is taken, the first of several.
        """
        observations = np.atleast_1d(np.asarray(observation))
        starts = np.broadcast_to(
            np.asarray(False if episode_start is None else episode_start), observations.shape
        )
        if state is not None and len(state[0]) != len(observations):
            raise ValueError(f"{len(observations)} observations, but state has {len(state[0])} episodes")
        memories, codes = [], []
        for index, seen in enumerate(observations.tolist()):
            if state is None or starts[index]:
                memory = started(self.policy, self._first(seen))
            else:
                code = self.codebook.encode_one(seen)
                memory = self.policy.update(state[0][index], state[1][index], code)
            probs = self._choose(memory, self._rng)
            memories.append(memory)
            codes.append(int(probs.argmax() if deterministic else self._rng.choice(len(probs), p=probs)))
        actions = np.array([self.codebook.decode_action(code) for code in codes])
        shaped = actions.reshape(np.shape(observation))
        return shaped, (tuple(memories), tuple(codes))

    def _first(self, seen: Any) -> int | None:
        code = self.codebook.encode_one(seen)
        known = self.codebook.n_codes or getattr(self.policy, "n_observations", None)
        return code if known is None or 0 <= code < known else None
