"""Learning day by day: what is possible because spectral statistics are additive."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Self

from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.errors import NumericalError
from uqf.learn.learner import Learner
from uqf.learn.not_fitted import NotFittedError
from uqf.learn.spectral.basis import Basis, Target
from uqf.learn.spectral.state import SpectralState
from uqf.learn.spectral.statistics import Statistics
from uqf.learn.spectral.statistics_file import load_statistics
from uqf.learn.spectral.tally import Tally
from uqf.policies.policy import CompiledPolicy
from uqf.reading.progress import LOG, Callback
from uqf.reading.reader import Reader
from uqf.reading.shards import Data, Workers


class Incremental(Learner):
    """A learner that adds, merges and forgets data.

    `statistics_` are the sums that replace the data; `uqf.save_statistics` writes them to a file. Subclasses say what
    is counted (their parameters, and `_target`), how data are read (`_reader`) and what a state leads to (`_decide`).
    """

    rank: int | None
    forgetting: float
    statistics_: Statistics
    _target: Callable[[], Target]
    _reader: Callable[[Data, Workers, Callback | None], Reader]
    _decide: Callable[[SpectralState, Tally], None]

    def partial_fit(
        self,
        data: Data,
        y: None = None,
        *,
        executor: Workers = None,
        progress: Callback | None = None,
    ) -> Self:
        """Adds episodes to all that was learned before; the result is that of a fit to everything at once.

        Reads the new data once and no old data at all. `data`, `executor` and `progress` are as in `fit`. Before
        they are added, the weight of all older data is multiplied by the parameter `forgetting`. After `fit`,
        the first call reads the data of that fit once more, since `fit` keeps no statistics.

        Data that do not yet support a policy (fewer directions than `rank`, no reward at all) are added all the
        same; there is no `policy_` then, and asking for one tells why.
        """
        added = self._counted(data, executor, progress)
        before = self._earlier(executor)
        if before is not None:
            faded = before if self.forgetting == 1.0 else before.faded(self.forgetting)
            added = faded.plus(added)
        self._learn_from(added)
        return self._keep_origin(fingerprint(data), data) if isinstance(data, Trajectories) else self

    def merge(self, other: Incremental | Statistics | str | os.PathLike[str]) -> Self:
        """Adds what another learner, statistics or a file of statistics know; neither has faded before."""
        if isinstance(other, (str, os.PathLike)):
            theirs: Statistics | None = load_statistics(other)
        else:
            theirs = other._earlier(None) if isinstance(other, Incremental) else other
        if not isinstance(theirs, Statistics):
            raise TypeError(
                f"other is a {type(other).__name__}: give a UQF after partial_fit, uqf.Statistics or the path "
                "of a file that uqf.save_statistics wrote"
            )
        before = self._earlier(None)
        return self._learn_from(theirs if before is None else before.plus(theirs))

    def forget(self, data: Data | Statistics, *, executor: Workers = None) -> Self:
        """Takes episodes out again that were added before: the result is as if they had never been there.

        `data` are as in `fit`, or `uqf.Statistics`; any episodes that were added before, not only whole days.
        """
        if self.forgetting != 1.0:
            raise ValueError(
                f"forgetting = {self.forgetting}: old data fade by themselves, and how much of these is left is "
                "not known; use forgetting=1 to take out single days"
            )
        before = self._earlier(executor)
        if before is None:
            raise ValueError("nothing was learned yet that could be forgotten: call partial_fit first")
        if not isinstance(data, Statistics):
            data = self._counted(data, executor)
        return self._learn_from(before.minus(data))

    def _earlier(self, executor: Workers) -> Statistics | None:
        """The statistics so far; after `fit`, which keeps none, those of its data."""
        if hasattr(self, "statistics_"):
            return self.statistics_
        return self._counted(self._data, executor) if hasattr(self, "_data") else None

    def _counted(self, data: Data, executor: Workers, progress: Callback | None = None) -> Statistics:
        return Statistics.of(self._reader(data, executor, progress), Basis.of(self), self._target())

    def _learn_from(self, statistics: Statistics) -> Self:
        """Keeps the statistics whatever they are good for: the first days may be too few for a policy."""
        self.statistics_, self.refusal_ = statistics, None
        self.n_features_in_ = statistics.tally.n_symbols
        try:
            self._decide(statistics.state(self.rank), statistics.tally)
        except NumericalError as problem:
            self.refusal_ = f"no policy yet, the data so far do not support one: {problem}"
            LOG.info("%s", self.refusal_)
            self.__dict__.pop("policy_", None)
        return self

    def _fitted(self) -> CompiledPolicy:
        if getattr(self, "refusal_", None) and not hasattr(self, "policy_"):
            raise NotFittedError(self.refusal_)
        return super()._fitted()
