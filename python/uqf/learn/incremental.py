"""Learning day by day: what `UQF` can do because spectral statistics are additive."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from uqf.errors import NumericalError
from uqf.learn.gain import Baseline
from uqf.learn.progress import LOG, Progress
from uqf.learn.statistics import Statistics
from uqf.learn.statistics_file import load_statistics
from uqf.trajectories import Trajectories


class Incremental:
    """Methods of a learner with spectral memory that adds, merges and forgets data.

    `statistics_` are the sums that replace the data; `uqf.save_statistics` writes them to a file.
    """

    baseline_: Baseline | None

    def partial_fit(
        self: Any,
        data: Any,
        y: None = None,
        *,
        executor: Any = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Any:
        """Adds episodes to all that was learned before; the result is that of a fit to everything at once.

        Reads the new data once and no old data at all. `data`, `executor` and `progress` are as in `fit`. Before
        they are added, the weight of all older data is multiplied by the parameter `forgetting`. After `fit`,
        the first call reads the data of that fit once more, since `fit` keeps no statistics.

        Data that do not yet support a policy (fewer directions than `rank`, no reward at all) are added all the
        same; there is no `policy_` then, and asking for one tells why.
        """
        statistics = self._summed(data, executor, progress)
        before = self._earlier(executor)
        if before is not None:
            faded = before if self.forgetting == 1.0 else before.faded(self.forgetting)
            statistics = faded.plus(statistics)
        return self._learn_from(statistics, data)

    def merge(self: Any, other: Any) -> Any:
        """Adds what another learner, statistics or a file of statistics know; neither has faded before."""
        if isinstance(other, (str, os.PathLike)):
            other = load_statistics(other)
        elif isinstance(other, Incremental):
            learner: Any = other
            other = learner._earlier(None)
        if not isinstance(other, Statistics):
            raise TypeError(
                f"other is a {type(other).__name__}: give a UQF after partial_fit, uqf.Statistics or the path "
                "of a file that uqf.save_statistics wrote"
            )
        self._spectral_only("merge")
        before = self._earlier(None)
        return self._learn_from(other if before is None else before.plus(other), None)

    def forget(self: Any, data: Any, *, executor: Any = None) -> Any:
        """Takes episodes out again that were added before: the result is as if they had never been there.

        `data` are as in `fit`, or `uqf.Statistics`; any episodes that were added before, not only whole days.
        """
        self._spectral_only("forget")
        if self.forgetting != 1.0:
            raise ValueError(
                f"forgetting = {self.forgetting}: old data fade by themselves, and how much of these is left is "
                "not known; use forgetting=1 to take out single days"
            )
        before = self._earlier(executor)
        if before is None:
            raise ValueError("nothing was learned yet that could be forgotten: call partial_fit first")
        known = data if isinstance(data, Statistics) else self._summed(data, executor, None)
        return self._learn_from(before.minus(known), None)

    def _summed(self: Any, data: Any, executor: Any, progress: Any) -> Statistics:
        self._spectral_only("partial_fit")
        data = self._check(data)
        learner = self.spectral_learner()
        return Statistics.of(
            data, learner.basis, learner.target, threads=self.threads, executor=executor, progress=progress
        )

    def _earlier(self: Any, executor: Any) -> Statistics | None:
        """The statistics so far; after `fit`, which keeps none, those of its data."""
        if hasattr(self, "statistics_"):
            known: Statistics = self.statistics_
            return known
        fitted_to = getattr(self, "_data", None)
        return None if fitted_to is None else self._summed(fitted_to, executor, None)

    def _spectral_only(self: Any, method: str) -> None:
        if self._memory() != "spectral":
            raise ValueError(
                f'memory = "{self._memory()}": {method} needs sums that can be added, which only spectral '
                'memory has; use UQF(memory="spectral", …), or fit to all the data at once'
            )
        if not 0.0 < self.forgetting <= 1.0:
            raise ValueError(f"forgetting = {self.forgetting}: give a factor above 0 and up to 1")

    def _learn_from(self: Any, statistics: Statistics, data: Any) -> Any:
        """Keeps the statistics whatever they are good for: the first days may be too few for a policy."""
        learner = self.spectral_learner()
        self.statistics_, self.refusal_ = statistics, None
        try:
            self._keep_spectral(learner.decide(statistics.state(learner.rank), statistics.tally))
        except NumericalError as problem:
            self.refusal_ = f"no policy yet, the data so far do not support one: {problem}"
            LOG.info("%s", self.refusal_)
            if hasattr(self, "policy_"):
                del self.policy_
        if isinstance(data, Trajectories):
            self.baseline_ = Baseline.of(data, self.discount)
        elif not hasattr(self, "baseline_"):
            self.baseline_ = None
        self.n_features_in_ = statistics.tally.n_symbols
        return self
