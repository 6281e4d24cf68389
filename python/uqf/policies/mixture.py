"""A cautious start: a new policy decides some of the steps, drawn by chance, and the rest is done as before."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.coding.cells import Cells
from uqf.coding.codebook import Codebook
from uqf.episodes.checks import FloatArray, whole
from uqf.episodes.propensities import last_symbols, shrunk_frequencies, start_symbol
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.policies.batches import Batch, batch, batch_probs
from uqf.policies.policy import (
    ContextPolicy,
    ValuePolicy,
    chooser,
    probs_along,
    softmax,
    started,
    wants_columns,
)
from uqf.policies.rule import observed
from uqf.types import AnyArray, Memory, Raw, Record


def behaviour(data: Trajectories) -> ContextPolicy:
    """How a log acted, by the last symbol: shares of actions, drawn towards the overall ones where steps are few."""
    last = last_symbols(data)
    seen, place = np.unique(last, return_inverse=True)
    counts = np.bincount(place * data.n_actions + data.actions, minlength=len(seen) * data.n_actions)
    overall = np.bincount(data.actions, minlength=data.n_actions) / data.n_steps
    table = shrunk_frequencies(counts.reshape(len(seen), -1).astype(np.float64), overall)
    begins = seen == start_symbol(data.n_actions, data.n_observations)
    root = table[begins][0] if begins.any() else overall
    with np.errstate(divide="ignore"):
        values = np.log(np.vstack([root, table[~begins]]))
    contexts = seen[~begins]
    return ContextPolicy(
        parents=np.zeros_like(contexts),
        symbols=contexts,
        values=values,
        n_observations=data.n_observations,
        temperature=1.0,
    )


def common_size(name: str, policy: Raw, other: Raw = None) -> int:
    """`n_actions` or `n_observations` of both; a policy in Python need not say it if the other does."""
    sizes: list[int | None] = [getattr(one, name, None) for one in (policy, other)]
    known = [size for size in sizes if size is not None]
    if not known:
        raise TypeError(
            f"policy is {kind_of(policy)} without {name}: give it that attribute, or mix it with a log"
        )
    if len(set(known)) > 1:
        raise ValueError(f"policy has {name} = {sizes[0]} and other has {sizes[1]}: mix policies of one log")
    return known[0]


class Mixture(ValuePolicy):
    """What `uqf.mix` gives: probabilities are ``share`` of one policy's and the rest of the other's.

    Where one of them looks at raw columns, so does the mixture; `codebook`, as JSON, gives the other its codes.
    """

    def __init__(
        self, policy: Raw, other: Raw, share: float, temperature: float = 1.0, codebook: str | None = None
    ) -> None:
        self.policies, self.share, self.temperature = (policy, other), float(share), temperature
        self.codebook = None if codebook is None else Codebook.from_dict(json.loads(codebook))
        self.column_sizes = next((one.column_sizes for one in self.policies if wants_columns(one)), None)
        self.n_actions, self.n_observations = (
            common_size(name, *self.policies) for name in ("n_actions", "n_observations")
        )

    def initial_state(self, first: int | None = None) -> Memory:
        shown = (first, first) if first is None else self.seen_by(first)
        return tuple(started(one, seen) for one, seen in zip(self.policies, shown, strict=True))

    def update(self, state: Memory, action: int, observation: int) -> Memory:
        """Both see what was done, whoever decided it."""
        steps = zip(self.policies, state, self.seen_by(observation), strict=True)
        return tuple(one.update(memory, action, seen) for one, memory, seen in steps)

    def seen_by(self, observation: Raw) -> list[Raw]:
        """What each of both sees of an observation: a code, or raw columns, (d,)."""
        if self.column_sizes is None or np.ndim(observation) == 0:
            return [observation] * 2
        return [observation if wants_columns(one) else self._code(observation) for one in self.policies]

    def _code(self, row: AnyArray) -> int:
        if self.codebook is not None and isinstance(self.codebook.coding_, Cells):
            return self.codebook.encode_one(observed(self.codebook, row))
        return self.n_observations - 1 if np.isnan(row[0]) else int(row[0])

    def q_values(self, state: Memory) -> FloatArray:
        """Logarithms of the probabilities at temperature 1."""
        chosen, rng = [chooser(one, self.n_actions) for one in self.policies], np.random.default_rng(0)
        with np.errstate(divide="ignore"):
            return np.log(
                self.mixed([choose(memory, rng) for choose, memory in zip(chosen, state, strict=True)])
            )

    def mixed(self, probs: Sequence[ArrayLike]) -> FloatArray:
        one, other = (np.asarray(each, np.float64) for each in probs)
        return np.asarray(self.share * one + (1.0 - self.share) * other)

    def tempered(self, probs: FloatArray) -> FloatArray:
        """Probabilities at the temperature of the mixture."""
        with np.errstate(divide="ignore"):
            return probs if self.temperature == 1.0 else softmax(np.log(probs), self.temperature)

    def probs_along(self, data: Trajectories) -> FloatArray:
        """Before every logged step, (n_steps, n_actions)."""
        return self.tempered(self.mixed([probs_along(one, data) for one in self.policies]))

    def batch(self, n: int, seed: int = 0) -> MixtureBatch:
        return MixtureBatch(self, n, seed)

    def parts(self) -> Record:
        policy, other = self.policies
        book = None if self.codebook is None else json.dumps(self.codebook.to_dict())
        kept = {"share": self.share, "temperature": self.temperature, "codebook": book}
        return {"policy": policy, "other": other} | kept


class MixtureBatch:
    """A mixture in `n` episodes at once, as fast as its parts."""

    def __init__(self, mixture: Mixture, n: int, seed: int) -> None:
        whole("n", n, 1, 20)
        self._mixture = mixture
        self._parts: list[Batch] = [
            batch(one, n, n_actions=mixture.n_actions, seed=seed) for one in mixture.policies
        ]
        self._rngs = [np.random.default_rng([seed, episode]) for episode in range(n)]

    def __len__(self) -> int:
        return len(self._rngs)

    def action_probs(self) -> FloatArray:
        return self._mixture.tempered(self._mixture.mixed([one.action_probs() for one in self._parts]))

    def probs_given(self, allowed: NDArray[np.bool_]) -> FloatArray:
        """The same given that the actions are allowed, (n, n_actions): each of both among them, and then mixed."""
        pairs = zip(self._parts, self._mixture.policies, strict=True)
        return self._mixture.tempered(self._mixture.mixed([batch_probs(*pair, allowed) for pair in pairs]))

    def q_values(self) -> FloatArray:
        """Logarithms of the probabilities at temperature 1, (n, n_actions)."""
        with np.errstate(divide="ignore"):
            return np.log(self._mixture.mixed([one.action_probs() for one in self._parts]))

    def act(self) -> NDArray[np.int64]:
        upto = np.cumsum(self.action_probs(), axis=1)
        drawn = np.array([rng.random() for rng in self._rngs]) * upto[:, -1]
        return np.asarray((upto <= drawn[:, None]).sum(axis=1), np.int64)

    def update(self, actions: ArrayLike, observations: ArrayLike) -> None:
        for one, seen in zip(self._parts, self._seen_by(observations), strict=True):
            one.update(actions, seen)

    def _seen_by(self, observations: ArrayLike) -> tuple[AnyArray, ...]:
        rows = np.asarray(observations)
        if rows.ndim == 1:
            return rows, rows
        each = [self._mixture.seen_by(row) for row in rows]
        return tuple(np.asarray([one[place] for one in each]) for place in range(2))

    def reset(self, starts: ArrayLike, first: ArrayLike | None = None) -> None:
        shown = (None, None) if first is None else self._seen_by(first)
        for one, seen in zip(self._parts, shown, strict=True):
            one.reset(starts, seen)
