"""Many parallel episodes of any policy."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.episodes.checks import seed_number, whole
from uqf.errors import kind_of
from uqf.policies.masks import given_allowed
from uqf.policies.policy import Policy, checked_action, chooser, started
from uqf.types import Raw


class Batch(Protocol):
    """A policy acting in `n` episodes at once; compiled policies have their own, `policy.batch(n)`."""

    def __len__(self) -> int:
        """Number of episodes."""

    def action_probs(self) -> NDArray[np.float64]:
        """Probability of every action in every episode: (n, n_actions)."""

    def q_values(self) -> NDArray[np.float64]:
        """What every action is worth in every episode: (n, n_actions); only of policies that have `q_values`."""

    def act(self) -> NDArray[np.int64]:
        """An action for every episode, (n,)."""

    def update(self, actions: ArrayLike, observations: ArrayLike) -> None:
        """Takes in the action and the observation of every episode, (n,) each; columns are (n, d)."""

    def reset(self, starts: ArrayLike, first: ArrayLike | None = None) -> None:
        """Begins the episodes marked in `starts` (n,) anew; `first` (n,) is what they show before an action."""


class PythonBatch:
    """A batch of a policy written in Python: one call per episode and step."""

    def __init__(self, policy: Policy, n: int, n_actions: int, seed: int = 0) -> None:
        whole("n", n, 1, 20)  # of a million episodes each would be asked for one after the other
        seed_number(seed)
        self._policy, self._n_actions = policy, n_actions
        self._choose = chooser(policy, n_actions)
        self._rngs = [np.random.default_rng([seed, episode]) for episode in range(n)]
        self._memories = [policy.initial_state() for _ in range(n)]

    def __len__(self) -> int:
        return len(self._memories)

    def action_probs(self) -> NDArray[np.float64]:
        return np.stack(
            [self._choose(memory, rng) for memory, rng in zip(self._memories, self._rngs, strict=True)]
        )

    def q_values(self) -> NDArray[np.float64]:
        values_of = getattr(self._policy, "q_values", None)
        if not callable(values_of):
            raise TypeError(f"policy is {kind_of(self._policy)} without q_values()")
        return np.stack([values_of(memory) for memory in self._memories])

    def act(self) -> NDArray[np.int64]:
        rows = zip(self.action_probs(), self._rngs, strict=True)
        return np.array([rng.choice(self._n_actions, p=probs) for probs, rng in rows], np.int64)

    def update(self, actions: ArrayLike, observations: ArrayLike) -> None:
        taken, seen = self._listed("actions", actions), self._listed("observations", observations)
        for action in taken:
            checked_action(action, self._n_actions)
        steps = zip(self._memories, taken, seen, strict=True)
        self._memories = [self._policy.update(memory, action, shown) for memory, action, shown in steps]

    def reset(self, starts: ArrayLike, first: ArrayLike | None = None) -> None:
        shown = [None] * len(self) if first is None else self._listed("first", first)
        marked = self._listed("starts", starts)
        for episode in np.flatnonzero(marked):
            self._memories[episode] = started(self._policy, shown[episode])

    def _listed(self, name: str, values: ArrayLike) -> list[Raw]:
        try:
            array = np.atleast_1d(np.asarray(values))
        except ValueError as error:
            raise ValueError(f"{name} is no list of numbers: {error}") from None
        listed: list[Raw] = array.tolist() if array.ndim == 1 else list(array)
        if len(listed) != len(self):
            raise ValueError(f"{name} = array of length {len(listed)}: there are {len(self)} episodes")
        return listed


def batch(policy: Policy, n: int, *, n_actions: int | None = None, seed: int = 0) -> Batch:
    """Parallel episodes of any policy: compiled where the policy is, one by one where it is Python.

    Parameters
    ----------
    policy : any policy
        What acts.
    n : int
        Number of episodes.
    n_actions : int, optional
        Asked for only if the policy does not know it.
    seed : int
        Episode i draws its actions from a random stream of its own.

    Returns
    -------
    Batch
        With `act`, `update`, `reset` and `action_probs` for all episodes at once.

    Raises
    ------
    TypeError
        If the number of actions is unknown.

    Examples
    --------
    >>> import numpy as np, uqf
    >>> agents = uqf.batch(uqf.baselines.RandomPolicy(3, 2), 4)
    >>> agents.act().shape
    (4,)
    >>> agents.update(np.array([0, 0, 0, 0]), np.array([1, 0, 1, 0]))
    """
    own = getattr(policy, "batch", None)
    if callable(own):
        made: Batch = own(n, seed=seed)
        return made
    known = n_actions or getattr(policy, "n_actions", None)
    if known is None:
        raise TypeError(f"policy is {kind_of(policy)} without n_actions: say n_actions")
    return PythonBatch(policy, n, known, seed)


def batch_probs(acting: Batch, policy: Policy, allowed: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Probability of every action in every episode, (n, n_actions), given that it is allowed; see `given_allowed`.

    A batch may have a way of its own, `probs_given(allowed)`.
    """
    own = getattr(acting, "probs_given", None)
    if allowed is not None and callable(own):
        return np.asarray(own(allowed))
    values = acting.q_values if callable(getattr(policy, "q_values", None)) else None
    return given_allowed(acting.action_probs(), allowed, values, getattr(policy, "supported", None))
