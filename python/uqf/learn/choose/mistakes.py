"""Are observations often wrong? A table of what follows them, and a model with a state behind each."""

from __future__ import annotations

import numpy as np

from uqf.episodes.propensities import last_observations
from uqf.episodes.sums import goes_on
from uqf.episodes.trajectories import Trajectories
from uqf.learn.choose.markov_test import MIN_SURPRISE, Finding
from uqf.learn.memory.prediction import by_episode, few, predicted
from uqf.learn.noisy_q import SHOWN_STEPS, NoisyQ, normalised

#: How it is called that observations may be wrong.
WRONG = "the state behind observations that may be wrong"

#: Pseudo-counts of the table. The best on the held-out episodes is taken: where a world is nearly deterministic all
#: that is left to predict is the smoothing, and a model that smooths less would win by that alone.
PRIORS = (1.0, 0.1, 0.01, 0.001)


def mistakes(data: Trajectories, seed: int) -> Finding:
    """How much better held-out observations are predicted if they may be wrong, with a state behind each.

    One half of the episodes teaches such a model, and a table of what follows an observation and an action; the other
    half is predicted by both, as far as there is an observation before.
    """
    half = len(data) // 2
    learner = NoisyQ(seed=seed).fit(data[:half])
    test = few(data[half:], len(learner.policy_.weights))
    cells, on = last_observations(data) * data.n_actions + data.actions, goes_on(data)
    on &= cells < data.n_observations * data.n_actions
    trains = on & (np.arange(data.n_steps) < data.offsets[half])
    counts = np.zeros((data.n_observations * data.n_actions, data.n_observations))
    np.add.at(counts, (cells[trains], data.observations[trains]), 1.0)
    share = normalised(counts.sum(axis=0) + SHOWN_STEPS)
    judged = slice(data.offsets[half], data.offsets[half] + test.n_steps)
    cells, shown, on = cells[judged], test.observations, on[judged]
    tables = (np.log(normalised(counts + prior * share)) for prior in PRIORS)
    by_table = max((np.where(on, table[np.where(on, cells, 0), shown], 0.0) for table in tables), key=np.sum)
    more = by_episode(np.where(on, predicted(learner.policy_, test), 0.0) - by_table, test)
    all_there_is = max(-float(by_table.sum()), MIN_SURPRISE * test.n_steps)
    stderr = float(np.sqrt(more.var(ddof=1) * len(more) + 1e-6))
    return Finding(WRONG, "next observations", float(more.sum()) / all_there_is, stderr / all_there_is)
