"""Whole fits of SummaryQ beside the same forests grown by scikit-learn, on the same summaries."""

import numpy as np
import pytest
from experience import spocman
from race import Reference, race

import uqf
from uqf import _core
from uqf.episodes.sums import cut_before, returns_to_go
from uqf.learn.memory.summaries import VIEWS, Seen, folds
from uqf.learn.summary_q import SETTINGS


def scikit_learn(data):
    """As many trees of the same size, grown on returns: no values of leaves are swept, nothing is predicted."""
    from sklearn.ensemble import RandomForestRegressor

    seen, settings, view = Seen.of(data), SETTINGS["history"], VIEWS["history"]
    shared, own = _core.summaries_along(seen, view, threads=1)
    fold, before, targets = folds(data), cut_before(data), returns_to_go(data, 0.95)
    for stage in range(settings.stages):
        for part in range(2):
            for action in [None, *range(data.n_actions)]:
                rows = np.flatnonzero((fold == part) & ((data.actions == action) | (action is None)))
                cuts = before[rows]
                x = shared[cuts] if action is None else np.hstack([shared[cuts], own[cuts, action]])
                RandomForestRegressor(
                    settings.value_trees if action is None else settings.trees,
                    max_leaf_nodes=settings.leaves,
                    min_samples_leaf=settings.smallest,
                    max_features=settings.features,
                    max_samples=settings.rows,
                    n_jobs=1,
                    random_state=stage,
                ).fit(x, targets[rows])


@pytest.mark.parametrize("steps", [10_000, 50_000])
def test_summary_q(benchmark, steps):
    data, sample = spocman(steps), spocman(5_000)
    forests = Reference(
        "scikit-learn's forests", lambda: scikit_learn(sample), scale=data.n_steps / sample.n_steps
    )
    race(
        benchmark,
        lambda: uqf.SummaryQ(0.95, view="history", threads=1).fit(data),
        [forests],
        stage="whole fit", case=f"SummaryQ, {steps:,} steps", amount=data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip
