"""The expectation step of Baum–Welch for an input–output hidden Markov model, many episodes abreast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf.episodes.trajectories import Trajectories
from uqf.errors import NumericalError

Floats = NDArray[np.float64]

#: Episodes that are passed over together: enough that matrix products pay, few enough that memory stays small.
ABREAST = 1024


class Tables(NamedTuple):
    """Start (S,), transitions (A, S, S) and observations (A, S, O) of a model.

    An action moves the state, then the state arrived in is observed.
    """

    start: Floats
    transitions: Floats
    observations: Floats


def expected_counts(data: Trajectories, tables: Tables) -> tuple[float, Tables, Floats]:
    """(log-likelihood of all episodes, expected counts given them, rewards summed by transition (A, S, S))."""
    counts, rewards = Tables(*map(np.zeros_like, tables)), np.zeros_like(tables.transitions)
    longest_first, total = np.argsort(-data.lengths, kind="stable"), 0.0
    for first in range(0, len(longest_first), ABREAST):
        total += _add(data, tables, longest_first[first : first + ABREAST], counts, rewards)
    return total, counts, rewards


def _add(
    data: Trajectories, tables: Tables, episodes: NDArray[np.intp], counts: Tables, rewards: Floats
) -> float:
    """Adds what is expected of some episodes, the longest first; returns their log-likelihood.

    Row e of what is kept of a step belongs to episode number e. Beliefs sum to one, so their scales multiply to the
    likelihood.
    """
    lengths = data.lengths[episodes]
    live = [int(np.searchsorted(-lengths, -time)) for time in range(lengths[0])]
    steps = [data.offsets[episodes[:count]] + time for time, count in enumerate(live)]
    shown = np.ascontiguousarray(tables.observations.transpose(0, 2, 1))
    belief, before, after, weights = np.tile(tables.start, (len(episodes), 1)), [], [], []
    total = 0.0
    for time, now in enumerate(steps):
        before.append(belief[: len(now)])
        weight = shown[data.actions[now], data.observations[now]]
        belief = _moved(before[-1], tables.transitions, data.actions[now]) * weight
        scale = belief.sum(axis=1, keepdims=True)
        if not (scale > 0.0).all():
            place = int(np.flatnonzero(~(scale[:, 0] > 0.0))[0])
            raise NumericalError(
                f"episode {episodes[place]}, step {time}: the model gives this observation probability 0"
            )
        total += float(np.log(scale).sum())
        belief /= scale
        after.append(belief)
        weights.append(weight / scale)
    backward = np.transpose(tables.transitions, (0, 2, 1))
    ahead = np.ones((0, len(tables.start)))
    arrived, reached = [], []
    for time in reversed(range(len(steps))):
        # Episodes whose last step this is have nothing ahead of them.
        ahead = np.concatenate([ahead, np.ones((live[time] - len(ahead), ahead.shape[1]))])
        reached.append(after[time] * ahead)
        arrived.append(weights[time] * ahead)
        ahead = _moved(arrived[-1], backward, data.actions[steps[time]])
    counts.start[:] += (tables.start * ahead).sum(axis=0)
    places, left = np.concatenate(steps), np.concatenate(before)
    arrive, seen = np.concatenate(arrived[::-1]), np.concatenate(reached[::-1])
    actions, n_observations = data.actions[places], tables.observations.shape[2]
    kinds = actions.astype(np.int64) * n_observations + data.observations[places]
    cells = (np.ones(len(kinds)), kinds, np.arange(len(kinds) + 1))
    which = scipy.sparse.csr_array(cells, shape=(len(kinds), len(tables.transitions) * n_observations))
    summed = (which.T @ seen).reshape(len(tables.transitions), n_observations, -1)
    counts.observations[:] += summed.transpose(0, 2, 1)
    for action, moves in enumerate(tables.transitions):
        own = np.flatnonzero(actions == action)
        counts.transitions[action] += moves * (left[own].T @ arrive[own])
        rewards[action] += moves * ((left[own] * data.rewards[places[own], np.newaxis]).T @ arrive[own])
    return total


def _moved(rows: Floats, matrices: Floats, actions: NDArray[np.int32]) -> Floats:
    """Every row times the matrix of its action."""
    moved = np.empty_like(rows)
    if len(matrices) == 1:
        return np.matmul(rows, matrices[0], out=moved)
    for action in np.unique(actions):
        own = np.flatnonzero(actions == action)
        moved[own] = rows[own] @ matrices[action]
    return moved
