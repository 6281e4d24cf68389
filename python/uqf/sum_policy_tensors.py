"""A `SumPolicy` as a fixed set of named tensors, whatever the number of its terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf._core import SumPolicy

Arrays = dict[str, NDArray[Any]]

#: Name, dtype, number of axes, whether it must be there. Terms stand one after the other.
SUM_TENSORS: list[tuple[str, type, int, bool]] = [
    ("context_depths", np.int64, 1, True),
    ("context_sizes", np.int64, 1, True),
    ("context_keys", np.uint64, 1, True),
    ("context_values", np.float64, 2, True),
    ("belief_models", np.int64, 1, True),
    ("belief_weights", np.float64, 2, True),
    ("belief_bias", np.float64, 2, True),
    ("model_states", np.int64, 1, True),
    ("model_starts", np.float32, 1, True),
    ("model_moves", np.float32, 1, True),
    ("model_ranges", np.int64, 3, True),
]


def _joined(arrays: list[NDArray[Any]], empty: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else empty


def to_tensors(policy: SumPolicy) -> Arrays:
    """The tensors of a policy."""
    parts = policy.parts()
    contexts, beliefs, actions = parts["contexts"], parts["beliefs"], policy.n_actions
    models = [model for term in beliefs for model in term[0]]
    no_row = np.zeros((0, actions))
    ranges = [np.asarray(model[2], np.int64).reshape(1, -1, 2) for model in models]
    return {
        "context_depths": np.array([depth for _, _, depth in contexts], np.int64),
        "context_sizes": np.array([len(keys) for keys, _, _ in contexts], np.int64),
        "context_keys": _joined([keys for keys, _, _ in contexts], np.zeros(0, np.uint64)),
        "context_values": _joined([values for _, values, _ in contexts], no_row),
        "belief_models": np.array([len(term[0]) for term in beliefs], np.int64),
        "belief_weights": _joined([term[1] for term in beliefs], no_row),
        "belief_bias": np.array([term[2] for term in beliefs], np.float64).reshape(-1, actions),
        "model_states": np.array([len(start) for start, _, _ in models], np.int64),
        "model_starts": _joined([start for start, _, _ in models], np.zeros(0, np.float32)),
        "model_moves": _joined([moves.ravel() for _, moves, _ in models], np.zeros(0, np.float32)),
        "model_ranges": _joined(ranges, np.zeros((0, policy.n_observations, 2), np.int64)),
    }


class _Reader:
    """Hands out the rows of an array piece by piece, and knows when there are too few or too many."""

    def __init__(self, name: str, array: NDArray[Any]) -> None:
        self.name, self.array, self.place = name, array, 0

    def take(self, count: int) -> NDArray[Any]:
        if not 0 <= count <= len(self.array) - self.place:
            raise ValueError(f"{self.name} has {len(self.array)} rows, and {count} more are wanted")
        self.place += count
        return np.ascontiguousarray(self.array[self.place - count : self.place])

    def finish(self) -> None:
        if self.place != len(self.array):
            raise ValueError(f"{self.name} has {len(self.array) - self.place} rows too many")


def from_tensors(tensors: Arrays, *, n_actions: int, n_observations: int, temperature: float) -> SumPolicy:
    """The policy of such tensors; raises ValueError if they do not fit together."""
    if tensors["context_values"].shape[1] != n_actions or tensors["belief_weights"].shape[1] != n_actions:
        raise ValueError(f"values and weights need {n_actions} columns, one per action")
    readers = {name: _Reader(name, array) for name, array in tensors.items()}
    contexts = []
    for depth, size in zip(
        tensors["context_depths"].tolist(), tensors["context_sizes"].tolist(), strict=True
    ):
        contexts.append((readers["context_keys"].take(size), readers["context_values"].take(size + 1), depth))
    beliefs = []
    for count in tensors["belief_models"].tolist():
        models, features = [], 0
        for states in readers["model_states"].take(count).tolist():
            start = readers["model_starts"].take(states)
            moves = (
                readers["model_moves"].take(n_actions * states * states).reshape(n_actions, states, states)
            )
            (ranges,) = readers["model_ranges"].take(1).tolist()
            models.append((start, moves, [tuple(pair) for pair in ranges]))
            features += states
        beliefs.append((models, readers["belief_weights"].take(features), readers["belief_bias"].take(1)[0]))
    for name in (
        "context_keys",
        "context_values",
        "belief_weights",
        "belief_bias",
        "model_states",
        "model_starts",
    ):
        readers[name].finish()
    readers["model_moves"].finish()
    return SumPolicy.from_parts(
        n_actions=n_actions,
        n_observations=n_observations,
        contexts=contexts,
        beliefs=beliefs,
        temperature=temperature,
    )
