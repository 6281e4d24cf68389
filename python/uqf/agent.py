"""Policies where they are used: observations come as the world shows them, actions go as it knows them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.coding.codebook import Codebook
from uqf.coding.raw_columns import OTHER, Column, values_of_one
from uqf.episodes.checks import instance
from uqf.episodes.columns import as_columns
from uqf.errors import kind_of
from uqf.policies.batches import batch, batch_probs
from uqf.policies.masks import checked_masks
from uqf.policies.policy import Policy
from uqf.storage.policies import with_codebook
from uqf.types import AnyArray, Raw


class Agent:
    """A policy in the middle of an episode, or of `n` episodes at a time.

    One agent belongs to one loop; it takes microseconds to make another.

    Parameters
    ----------
    policy : a policy, a fitted learner, or the path of a policy file
        Who acts.
    codebook : Codebook, optional
        How observations are coded and what actions are called; by default that of the learner or of the file. Without
        any, observations and actions are codes. A policy that looks at columns (see `uqf.Policy`) is given those of the
        codebook; without any, observations are the columns themselves.
    actions : sequence, optional
        What `act` gives for every action, ``world.actions`` of a `uqf.GymnasiumWorld` for example; by default what the
        codebook has, names, numbers or arrays, or codes.
    n : int, optional
        Number of parallel episodes: `act` then gives a list, and `observe` and `reset` take `n` observations, in a list
        or an array, or stacked in tuples and mappings as the vector environments of Gymnasium show them.
    seed : int
        Of the draws of stochastic policies and of ties.

    Attributes
    ----------
    unseen : dict
        By column of names, how many observations held a value that the logs never had; the first of each column warns.
        Such a value is coded like a rare one, or like none of those that are known.

    Raises
    ------
    ValueError
        If the codebook has other numbers of codes than the policy.

    Examples
    --------
    >>> import uqf
    >>> world = uqf.make("tiger")
    >>> learner = uqf.fit(uqf.rollout(world, episodes=200, seed=0), discount=0.95)
    >>> agent = uqf.Agent(learner)
    >>> agent.reset()
    >>> agent.act()  # it listens
    0
    >>> agent.observe(1)
    """

    def __init__(
        self,
        policy: Raw,
        *,
        codebook: Codebook | None = None,
        actions: Sequence[Raw] | None = None,
        n: int | None = None,
        seed: int = 0,
    ) -> None:
        policy, book = with_codebook(policy)
        codebook = codebook if codebook is not None else book
        if not isinstance(policy, Policy):
            raise TypeError(
                f"policy is {kind_of(policy)}: give a policy, a fitted learner or the path of a policy file"
            )
        if codebook is not None:
            instance("codebook", codebook, Codebook, "a uqf.Codebook")
        self.policy = policy
        self.codebook = Codebook.named() if codebook is None else codebook
        sizes = getattr(policy, "column_sizes", None)
        self._sizes: AnyArray | None = None if sizes is None else np.asarray(sizes)
        self._blank: Raw = 0 if self._sizes is None else np.zeros(len(self._sizes), np.float32)
        self._single = n is None
        actions_known, observations_known = (
            getattr(policy, name, None) for name in ("n_actions", "n_observations")
        )
        if isinstance(actions_known, int) and isinstance(observations_known, int) and self._sizes is None:
            self.codebook.refuse_other_sizes(actions_known, observations_known)
        known = self.codebook.n_actions or getattr(policy, "n_actions", None)
        if known is None:
            raise TypeError(f"policy is {kind_of(policy)} without n_actions: give a codebook")
        if actions is not None and len(actions) != known:
            raise ValueError(f"actions has {len(actions)} entries: the policy has {known} actions")
        self._actions = (
            [self.codebook.decode_action(code) for code in range(known)] if actions is None else actions
        )
        self._batch = batch(policy, 1 if n is None else n, n_actions=known, seed=seed)
        self._taken: NDArray[np.int64] | None = None
        self._names = _known_names(self.codebook)
        self.unseen: dict[str, int] = {}
        self._rngs = [np.random.default_rng([seed, episode]) for episode in range(len(self))]

    def __len__(self) -> int:
        return len(self._batch)

    def reset(self, first_observation: Raw = None) -> None:
        """Begins an episode anew; `first_observation` is what the world shows before the first action, if anything."""
        self._taken = None
        shown = None if first_observation is None else self._listed(first_observation)
        self._begin(np.ones(len(self), np.bool_), shown)

    def act(self, *, deterministic: bool = False, mask: ArrayLike | None = None) -> Raw:
        """An action; the most probable one, the first of several, if `deterministic`.

        With a `mask` of allowed actions, (n_actions,) or (n, n_actions), by the order of their codes, no other is
        taken: the policy's probabilities are those given that the action is allowed, and where it wants none of them,
        the allowed action of most worth is taken.
        """
        instance("deterministic", deterministic, (bool, np.bool_), "True or False")
        if mask is None and not deterministic:
            codes = self._batch.act()
        else:
            shape = (len(self), len(self._actions))
            allowed = None if mask is None else checked_masks("mask", mask, shape)
            probs = batch_probs(self._batch, self.policy, allowed)
            codes = probs.argmax(axis=1) if deterministic else self._drawn(probs)
        self._taken = np.asarray(codes, np.int64)
        # Arrays are copied: an environment may change the action that it is given.
        chosen = [copy(self._actions[code]) for code in self._taken.tolist()]
        return chosen[0] if self._single else chosen

    def _drawn(self, probs: NDArray[np.float64]) -> NDArray[np.int64]:
        rows = zip(probs, self._rngs, strict=True)
        return np.array([rng.choice(len(row), p=row) for row, rng in rows], np.int64)

    def observe(self, observation: Raw, *, action: Raw = None, starts: ArrayLike | None = None) -> None:
        """Takes in what the world showed after the action.

        `action` is what was done in place of the agent's own choice, if something else was: a name, a number, or a code
        where actions have neither. `starts`,
        (n,), marks the parallel episodes that were over: theirs is the first observation of a new one.
        """
        shown = self._listed(observation)
        try:
            begins = np.zeros(len(self), np.bool_) if starts is None else np.asarray(starts, np.bool_)
        except ValueError as error:
            raise ValueError(f"starts is no list of booleans: {error}") from None
        if begins.shape != (len(self),):
            raise ValueError(f"starts has shape {begins.shape}: there are {len(self)} episodes")
        if action is not None:
            done = [action] if self._single else action
            self._taken = np.array([self.codebook.encode_action(one) for one in done], np.int64)
        if self._taken is None and not begins.all():
            raise ValueError("observe() before act(): give what the world showed first to reset()")
        if self._taken is not None:
            seen = [
                self._blank if begin else self._seen(one) for begin, one in zip(begins, shown, strict=True)
            ]
            self._batch.update(self._taken, np.array(seen))
        if begins.any():
            self._begin(begins, shown)
        self._taken = None

    def _begin(self, starts: NDArray[np.bool_], shown: list[Raw] | None) -> None:
        """Begins the episodes marked; the code after the last means "nothing seen yet", as in `uqf.gymnasium_env`."""
        first = [self._blank] * len(self)
        seen = np.zeros(len(self), np.bool_)
        if shown is not None:
            for place in np.flatnonzero(starts):
                seen[place] = not self._is_nothing(shown[place])
                first[place] = self._seen(shown[place]) if seen[place] else self._blank
        if (starts & ~seen).any():
            self._batch.reset(starts & ~seen)
        if seen.any():
            self._batch.reset(seen, np.array(first))

    def _is_nothing(self, observation: Raw) -> bool:
        if self.codebook.coding_ is not None or not isinstance(observation, (int, np.integer, np.ndarray)):
            return False
        codes = getattr(self.policy, "n_observations", -1) if self._sizes is None else self._sizes[0]
        return np.ndim(observation) == 0 and bool(observation == codes)

    def _seen(self, observation: Raw) -> Raw:
        """An observation as the policy takes it, its code or its columns; names that the logs never had are counted."""
        self._count_unseen(observation)
        if self._sizes is None:
            return self.codebook.encode_one(observation)
        if self.codebook.coding_ is not None:
            observation = self.codebook.raw_columns_one(observation)
        return as_columns(observation, self._sizes)

    def _count_unseen(self, observation: Raw) -> None:
        values = values_of_one(observation, self.codebook.columns_) if self._names else []
        for place, (column, names) in self._names.items():
            value = column.value(values[place])
            if value is not None and value not in names:
                if column.name not in self.unseen:
                    known = ", ".join(sorted(names)[:10])
                    warnings.warn(
                        f"column {column.name!r}: {value!r} never occurred in the logs, which have {known}; "
                        "more such values are counted in `unseen`",
                        stacklevel=4,
                    )
                self.unseen[column.name] = self.unseen.get(column.name, 0) + 1

    def _listed(self, observation: Raw) -> list[Raw]:
        return [observation] if self._single else unstacked(observation, len(self))


def _known_names(codebook: Codebook) -> dict[int, tuple[Column, frozenset[str]]]:
    """By place, the columns of names of which all names are known, and these; rare ones may be called `OTHER`."""
    listed = codebook.observation_names
    columns = () if codebook.coding_ is None else codebook.coding_.columns
    names = [column.names if listed is None else listed for column in columns]
    return {
        place: (column, frozenset(known))
        for place, (column, known) in enumerate(zip(columns, names, strict=True))
        if column.kind == "category" and known and OTHER not in known
    }


def unstacked(observations: Raw, n: int) -> list[Raw]:
    """The `n` observations of a list or an array, or of tuples and mappings whose parts are stacked."""
    if isinstance(observations, Mapping):
        parts = {name: unstacked(part, n) for name, part in observations.items()}
        return [{name: part[place] for name, part in parts.items()} for place in range(n)]
    if isinstance(observations, tuple):
        return list(zip(*(unstacked(part, n) for part in observations), strict=True))
    if len(observations) != n:
        raise ValueError(f"{len(observations)} observations: there are {n} episodes")
    return list(observations)
