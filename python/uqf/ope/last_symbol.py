"""A model of the world whose state is the last symbol: the plainest one that logs support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from uqf.episodes.propensities import last_symbols
from uqf.episodes.sums import by_time, time_within
from uqf.episodes.trajectories import Trajectories

FloatArray = NDArray[np.float64]

#: Steps of evidence that a symbol needs to weigh as much as the average over symbols.
PRIOR_STEPS = 1.0

#: Values are worked out step by step for so many steps ahead, and carried on from there.
MAX_BACKUPS = 1000


class LastSymbolModel:
    """Rewards and next symbols after (last symbol, action), counted; values by backward recursion.

    Wrong wherever the history before the last symbol matters. As a control variate it then only helps less;
    as a model it is biased by an amount that no interval shows.

    Examples
    --------
    >>> import uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=200, horizon=3, seed=0)
    >>> model = uqf.ope.LastSymbolModel()
    >>> uqf.ope.evaluate(None, log, discount=0.95, method="model", model=model, replicates=100).method
    'model'
    """

    def fit(self, data: Trajectories, probs: FloatArray, *, discount: float) -> LastSymbolModel:
        """Counts the logs. `probs` (n_steps, n_actions) are the policy's probabilities before every step."""
        self.n_actions, self.discount = data.n_actions, discount
        self.seen, state = np.unique(last_symbols(data), return_inverse=True)
        # A pair is a place and an action. The last place stands for "any symbol": it is what new ones get.
        pairs = state * data.n_actions + data.actions
        anywhere = len(self.seen) * data.n_actions + data.actions
        size = (len(self.seen) + 1) * data.n_actions
        rows = np.concatenate([pairs, anywhere])
        counts = np.bincount(rows, minlength=size)
        goes_on = np.ones(data.n_steps, np.bool_)
        goes_on[data.offsets[1:] - 1] = False
        # After the last step of a truncated episode nothing is known: such steps tell of rewards only.
        informs = goes_on.copy()
        informs[data.offsets[1:][data.terminated] - 1] = True
        followed = np.maximum(np.bincount(rows, np.tile(informs, 2), minlength=size), 1.0)
        self._rewards = np.bincount(rows, np.tile(data.rewards, 2), minlength=size) / np.maximum(counts, 1)
        steps = np.flatnonzero(goes_on)
        columns = (state[steps + 1, np.newaxis] * data.n_actions + np.arange(data.n_actions)).ravel()
        entries = probs[steps + 1].ravel()
        starts = np.concatenate(
            [np.repeat(pairs[steps], data.n_actions), np.repeat(anywhere[steps], data.n_actions)]
        )
        cells = (np.tile(entries, 2) / followed[starts], (starts, np.tile(columns, 2)))
        self._next = sparse.csr_array(cells, shape=(size, size))
        self._trust = (counts / (counts + PRIOR_STEPS)).reshape(-1, data.n_actions)
        return self

    def values(self, data: Trajectories, *, horizon: int) -> FloatArray:
        """Q of every action before every step, shape (n_steps, n_actions), up to step `horizon`."""
        place = np.searchsorted(self.seen, last_symbols(data))
        place[place == len(self.seen)] = 0
        place = np.where(self.seen[place] == last_symbols(data), place, len(self.seen))
        steps, exact = list(by_time(data)), min(horizon, MAX_BACKUPS)
        values = np.zeros((data.n_steps, self.n_actions))
        table = grown = np.zeros((len(self.seen) + 1, self.n_actions))
        slower = 1.0
        for to_go in range(1, exact + 1):
            before, was = table, float(np.abs(grown).sum())
            table = self._backup(table)
            grown = table - before
            slower = min(1.0, float(np.abs(grown).sum()) / was) if was > 0.0 else 1.0
            for now in steps[horizon - to_go : horizon - to_go + 1]:
                values[now] = table[place[now]]
        # Farther ahead every step adds what the last one added, less and less of it.
        far = np.flatnonzero(horizon - time_within(data) > exact)
        more = horizon - time_within(data)[far] - exact
        times = more if slower == 1.0 else slower * (1.0 - slower**more) / (1.0 - slower)
        values[far] = table[place[far]] + grown[place[far]] * np.reshape(times, (-1, 1))
        return values

    def _backup(self, table: FloatArray) -> FloatArray:
        """One more step to go."""
        ahead = (self._next @ table.ravel()).reshape(table.shape)
        backed = self._rewards.reshape(table.shape) + self.discount * ahead
        return np.asarray(self._trust * backed + (1.0 - self._trust) * backed[-1])
