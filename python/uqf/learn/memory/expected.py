"""What is expected of an action that was not taken yet in an episode, from what other actions brought."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from uqf.episodes.columns import Columns, Sizes
from uqf.episodes.sums import time_within
from uqf.episodes.trajectories import Trajectories


@dataclass(frozen=True)
class Expectations:
    """Ridge regressions, one an action, of the reward at its first time on (action, value that it brought last).

    steps : episodes of about so many steps are looked at; weights : of a regression at most
    penalties : are compared on the other fold of episodes; evidence : standard errors by which the best one must
        predict better than a constant
    """

    steps: int = 100_000
    weights: int = 256
    penalties: tuple[float, ...] = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
    evidence: float = 4.0

    def fitted(
        self, data: Trajectories, columns: Columns, touched: NDArray[np.int64], sizes: Sizes
    ) -> NDArray[np.float32]:
        """Weights (2 · n_actions, 1 + n_actions · values); (0, 0) if nothing is predicted.

        The constant comes first. The upper half is learned from the odd episodes, for the even ones, and the lower half
        the other way round: no episode is part of what is expected in it.
        """
        nothing = np.zeros((0, 0), np.float32)
        values, n = int(sizes[touched].max()), data.n_actions
        if (sizes[touched] == 0).any() or n * values > self.weights:
            return nothing
        data = data[: int(np.searchsorted(data.offsets[1:], self.steps)) + 1]
        brought = columns[np.arange(data.n_steps), touched[data.actions]]
        last = _last_steps(data)
        fresh = np.flatnonzero(last[np.arange(data.n_steps), data.actions] < 0)
        actions, rewards = data.actions[fresh], data.rewards[fresh]
        value = np.where(last[fresh] < 0, np.nan, brought[last[fresh]])
        x = (value[:, :, None] == np.arange(values)).reshape(len(fresh), -1).astype(np.float64)
        fold = np.repeat(np.arange(len(data)) % 2, data.lengths)[fresh]
        tables = np.zeros((len(self.penalties), 2, n, 1 + n * values))
        # What a constant and what each penalty leaves over, in the episodes that the weights are for.
        errors = np.zeros((1 + len(self.penalties), len(fresh)))
        for action in range(n):
            for mine in range(2):
                judged = (actions == action) & (fold == mine)
                learned = (actions == action) & (fold != mine)
                if not learned.any():
                    continue
                mean, reward = x[learned].mean(axis=0), rewards[learned].mean()
                centred = x[learned] - mean
                gram, moments = centred.T @ centred, centred.T @ (rewards[learned] - reward)
                errors[0, judged] = rewards[judged] - reward
                for place, penalty in enumerate(self.penalties):
                    weights = scipy.linalg.solve(
                        gram + penalty * np.eye(len(gram)), moments, assume_a="pos", check_finite=False
                    )
                    tables[place, mine, action] = [reward - mean @ weights, *weights]
                    errors[1 + place, judged] = rewards[judged] - reward - (x[judged] - mean) @ weights
        squares = errors**2
        best = int(squares[1:].mean(axis=1).argmin())
        better = squares[0] - squares[1 + best]
        if not better.mean() * np.sqrt(len(better)) > self.evidence * better.std():
            return nothing
        return np.asarray(tables[best].reshape(2 * n, -1), np.float32)


def _last_steps(data: Trajectories) -> NDArray[np.int64]:
    """Of every step and action, the step of this episode at which the action was taken last, (n_steps, n_actions).

    −1 if it was not taken before.
    """
    steps = np.arange(data.n_steps)
    start = steps - time_within(data)
    last = np.full((data.n_steps, data.n_actions), -1, np.int64)
    for action in range(data.n_actions):
        newest = np.maximum.accumulate(np.where(data.actions == action, steps, -1))
        last[1:, action] = newest[:-1]
    return np.where(last >= start[:, None], last, -1)
