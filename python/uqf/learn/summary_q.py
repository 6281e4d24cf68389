"""SummaryQ: summaries of the history, improved by forests."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from uqf import _core
from uqf.episodes.checks import one_of, probability
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.discounts import MIN_EPISODES
from uqf.learn.improve.forests import Forests
from uqf.learn.improve.gain import Baseline, policy_gain
from uqf.learn.improve.views import chosen_view
from uqf.learn.learner import Learner
from uqf.learn.memory.summaries import VIEWS, Seen, ViewName, folds
from uqf.policies.policy import SummaryPolicy
from uqf.reading.progress import Callback, Reporter
from uqf.types import Record

#: By view, and of the longest if actions are pooled. Long memories have many summaries and little data for each; Markov
#: worlds and a forest that learns from the steps of all actions need fine partitions.
SETTINGS: dict[str, Forests] = {
    "now": Forests(sweeps=80, leaves=256),
    "recent": Forests(sweeps=80, leaves=256),
    "history": Forests(),
    "pooled": Forests(leaves=256, pooled=True),
}

#: Views in which held-out episodes choose how carefully actions are valued, from episodes of about so many steps.
CAREFUL_VIEWS, CAREFUL_STEPS = ("now", "recent"), 60_000

#: Bytes of summaries and leaves that are held at once; episodes beyond this are left out.
MAX_BYTES = 600_000_000

#: Steps times actions that a pooled forest is fitted to; it learns of every action from every step.
MAX_CELLS = 1_200_000


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
        all of it if forests predict rewards or observations of held-out episodes better from it than from the last two.
    seed : int
        Of the folds and of the trees; the same seed gives the same bits for any number of threads and any order of the
        episodes.
    threads : int, optional
        All cores by default.

    Attributes
    ----------
    policy_ : compiled `SummaryPolicy`
    view_, caution_ : the view that was taken; 0 if actions are valued by the mean of both folds, 1 by the smaller
    pooled_ : whether one forest values all actions by what is known of each, instead of one forest an action

    Examples
    --------
    >>> import uqf
    >>> learner = uqf.SummaryQ(0.95).fit(uqf.rollout(uqf.make("tiger"), episodes=200, seed=0))
    >>> learner.policy_.n_actions
    3
    """

    discount: float = 0.99
    _: KW_ONLY
    view: ViewName | None = None
    seed: int = 0
    threads: int | None = None

    def view_of(self, data: Trajectories) -> ViewName:
        """The view that a fit to these episodes takes."""
        return self.view or chosen_view(Seen.of(self._in_order(data)), self.seed, self.threads)[0]

    def _in_order(self, data: Trajectories) -> Trajectories:
        """Whatever order the episodes came in, folds and trees are the same."""
        return data[np.argsort(_core.episode_priorities(data, self.seed), kind="stable")]

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        discount = probability("discount", self.discount)
        if self.view is not None:
            one_of("view", self.view, list(VIEWS))
        seen = Seen.of(self._in_order(data))
        view, pooled, evidence = chosen_view(seen, self.seed, self.threads, self.view)
        few = _affordable(seen, view, pooled=pooled)
        caution, gains = self._chosen_caution(seen, view, discount)
        settings = replace(SETTINGS["pooled" if pooled else view], caution=caution)
        fitted = self._fitted_forests(few, view, settings, discount, progress)
        self.view_, self.caution_, self.pooled_ = view, caution, pooled
        changes, value, summaries = (fitted.pop(name) for name in ("changes", "mean_value", "summaries"))
        self.policy_ = _policy(seen, view, fitted)
        self.diagnostics_ = {
            "learner": "SummaryQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "columns": len(seen.sizes),
            "summaries": summaries,
            "view": view,
            "view_evidence": evidence,
            "pooled": pooled,
            "caution": caution,
            "caution_evidence": gains,
            "sweeps": len(changes),
            "last_change": float(changes[-1]),
            "mean_value": value,
            "notes": [],
        }
        if len(few.data) < len(data):
            self.diagnostics_["notes"].append(
                f"learned from {len(few.data):,} of {len(data):,} episodes, drawn by their hash: summaries of more "
                "take too much memory or time"
            )

    def _fitted_forests(
        self, seen: Seen, view: ViewName, settings: Forests, discount: float, progress: Callback | None = None
    ) -> Record:
        bins = seen.bins(VIEWS[view], self.threads)
        fitted = settings.fitted(bins, seen.data, folds(seen.data), discount, self.seed, Reporter(progress))
        return fitted | {"summaries": sum(bins.n_features)}

    def _chosen_caution(
        self, seen: Seen, view: ViewName, discount: float
    ) -> tuple[float, dict[float, float]]:
        """(0 to value actions by the mean of both folds or 1 by the smaller, gains on held-out episodes by each)."""
        data = seen.data
        if view not in CAREFUL_VIEWS or len(data) < 2 * MIN_EPISODES:
            return SETTINGS[view].caution, {}
        last = int(np.searchsorted(data.offsets[1:], CAREFUL_STEPS)) + 1
        half, test = seen.part(slice(0, last, 2)), data[1:last:2]
        baseline, gains = Baseline.of(half.data, discount), {}
        for caution in (0.0, 1.0):
            settings = replace(SETTINGS[view], caution=caution)
            fitted = self._fitted_forests(half, view, settings, discount)
            for name in ("changes", "mean_value", "summaries"):
                del fitted[name]
            gains[caution] = policy_gain(_policy(half, view, fitted), baseline, test).mean
        return max(gains, key=gains.__getitem__), gains


def _policy(seen: Seen, view: ViewName, forests: Record) -> SummaryPolicy:
    wanted = VIEWS[view]
    return SummaryPolicy(
        sizes=seen.sizes.astype(np.int64),
        touched=seen.touched,
        expected=seen.expected.reshape(-1, len(seen.touched), seen.expected.shape[1]).mean(axis=0)
        if len(seen.expected)
        else seen.expected,
        steps=wanted.steps,
        long=wanted.long,
        codes=seen.of_codes(),
        **forests,
    )


def _affordable(seen: Seen, view: ViewName, *, pooled: bool) -> Seen:
    """The first episodes, as many as memory and time are allowed for."""
    settings, actions = SETTINGS[view], seen.data.n_actions
    shared, own = seen.part(slice(1)).bins(VIEWS[view], 1).n_features
    forests = 2 * (settings.value_trees + settings.trees * actions)
    # A byte for each bin and leaf, four for each value.
    each = shared + own * actions + forests + 8 * (1 + actions)
    cuts = seen.data.offsets[1:] + np.arange(1, len(seen.data) + 1)
    most = min(MAX_BYTES // each, MAX_CELLS // actions if pooled else MAX_BYTES)
    fits = int(np.searchsorted(cuts, most, "right"))
    return seen if fits >= len(seen.data) else seen.part(slice(max(2, fits)))
