"""SummaryQ: summaries of the history, improved by forests."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from uqf import _core
from uqf.episodes.checks import probability
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.forests import Forests
from uqf.learn.improve.views import chosen_view
from uqf.learn.learner import Learner
from uqf.learn.memory.summaries import VIEWS, Seen, View, folds
from uqf.policies.policy import SummaryPolicy
from uqf.reading.progress import Callback, Reporter

#: By view: long memories have many summaries and little data for each, Markov worlds need fine partitions.
SETTINGS: dict[str, Forests] = {
    "now": Forests(sweeps=80, leaves=256),
    "recent": Forests(sweeps=80, leaves=256),
    "history": Forests(),
}

#: Bytes of summaries and leaves that are held at once; episodes beyond this are left out.
MAX_BYTES = 600_000_000


@dataclass(eq=False, repr=False)
class SummaryQ(Learner):
    """Learns by fitted Q iteration, with forests on summaries of the raw columns, what every action is worth.

    For memory that is long but simple (a cue at reset, counts, what an action brought before) and for numbers as they
    are. Where a hidden state must be inferred from many observations, or rewards are rare, `BeliefQ` and `ModelQ` are
    better.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    view : "now", "recent" or "history", optional
        What is summarised: the last observation; the last two and their difference; or all of the history. By default
        the simplest from which forests predict rewards and observations of held-out episodes as well as from more.
    seed : int
        Of the folds and of the trees; the same seed gives the same bits for any number of threads and any order of the
        episodes.
    threads : int, optional
        All cores by default.

    Attributes
    ----------
    policy_ : compiled `SummaryPolicy`
    view_ : the view that was taken

    Examples
    --------
    >>> import uqf
    >>> learner = uqf.SummaryQ(0.95).fit(uqf.rollout(uqf.make("tiger"), episodes=200, seed=0))
    >>> learner.policy_.n_actions
    3
    """

    discount: float = 0.99
    _: KW_ONLY
    view: Literal["now", "recent", "history"] | None = None
    seed: int = 0
    threads: int | None = None

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        discount = probability("discount", self.discount)
        if self.view is not None and self.view not in VIEWS:
            raise ValueError(f"view = {self.view!r}: choose one of {', '.join(VIEWS)}, or None")
        # Whatever order the episodes came in, folds and trees are the same.
        seen = Seen.of(data[np.argsort(_core.episode_priorities(data, self.seed), kind="stable")])
        view, evidence = (
            (self.view, {}) if self.view is not None else chosen_view(seen, self.seed, self.threads)
        )
        settings, wanted = SETTINGS[view], VIEWS[view]
        few = _affordable(seen, wanted, settings)
        bins = few.bins(wanted, self.threads)
        self.view_ = view
        fitted = settings.fitted(bins, few.data, folds(few.data), discount, self.seed, Reporter(progress))
        changes, value = fitted.pop("changes"), fitted.pop("mean_value")
        self.policy_ = SummaryPolicy(
            sizes=seen.sizes.astype(np.int64),
            n_actions=data.n_actions,
            steps=wanted.steps,
            long=wanted.long,
            codes=seen.of_codes(),
            **fitted,
        )
        self.diagnostics_ = {
            "learner": "SummaryQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "columns": len(seen.sizes),
            "summaries": sum(bins.n_features),
            "view": view,
            "view_evidence": evidence,
            "sweeps": len(changes),
            "last_change": float(changes[-1]),
            "mean_value": value,
            "notes": [],
        }
        if len(few.data) < len(data):
            self.diagnostics_["notes"].append(
                f"learned from {len(few.data):,} of {len(data):,} episodes, drawn by their hash: summaries of more "
                "take too much memory"
            )


def _affordable(seen: Seen, view: View, settings: Forests) -> Seen:
    """The first episodes, as many as memory is allowed for."""
    shared, own = Seen.of(seen.data[:1]).bins(view, 1).n_features
    actions = seen.data.n_actions
    forests = 2 * (settings.value_trees + settings.trees * actions)
    # A byte for each bin and leaf, four for each value.
    each = shared + own * actions + forests + 8 * (1 + actions)
    fits = np.searchsorted(
        seen.data.offsets[1:] + np.arange(1, len(seen.data) + 1), MAX_BYTES // each, "right"
    )
    return seen if fits >= len(seen.data) else Seen.of(seen.data[: max(2, int(fits))])
