"""What all learners share: `fit`, `refit`, and the methods of a fitted one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from uqf.curves import frame_of, plotted
from uqf.episodes.checks import FloatArray, number
from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.profile import profile
from uqf.episodes.propensities import ActionShares
from uqf.episodes.trajectories import Trajectories
from uqf.estimator import Estimator, clone
from uqf.learn.improve.gain import Baseline, policy_gain
from uqf.learn.limits import limits
from uqf.learn.not_fitted import NotFittedError
from uqf.learn.support import Support
from uqf.policies.policy import CompiledPolicy, remembered
from uqf.reading.overview import Overview, Scale
from uqf.reading.progress import Callback, Reporter, within
from uqf.reading.reader import Reader
from uqf.reading.shards import Data, Workers, checked_data, opened
from uqf.storage.policies import save
from uqf.storage.policy_header import Origin
from uqf.types import Raw, Record

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

#: Of shards so many steps are learned from, by learners that need all their data at once.
MAX_STEPS = 2_000_000

History = Sequence[tuple[int, int]]


class Learner(Estimator):
    """A scikit-learn estimator whose samples are episodes.

    Attributes after `fit`
    ----------------------
    policy_ : compiled policy
    diagnostics_ : dict of what was chosen and how well the data support it
    n_features_in_ : number of (action, observation) symbols
    """

    policy_: CompiledPolicy
    diagnostics_: Record
    trial_: Raw
    discount: float
    _kept: Raw

    def fit(
        self, data: Data, y: None = None, *, executor: Workers = None, progress: Callback | None = None
    ) -> Self:
        """Learns from episodes; `y` is ignored (scikit-learn passes it).

        Parameters
        ----------
        data : Trajectories, `uqf.Shards`, or a log as `uqf.read_log` takes it
            Shards, and files that `uqf.convert` wrote, are read a batch at a time. `UQF` reads them twice (three times
            if words are listed) and learns from all episodes. So do `BeliefQ` and `SpectralQ`, but for their models and
            filters; these, and all of the other learners, are learned from a bounded sample of the episodes, drawn by a
            hash of their content.
        executor : concurrent.futures.Executor or distributed.Client, optional
            Where shards are read and models are trained. The result has the same bits with any executor or none.
        progress : callable, optional
            Called as ``progress(stage, done, total)`` when a stage begins, now and then, and when it ends.
        """
        return self._fit(opened(data), None, executor, progress)

    def refit(self, data: Data, *, executor: Workers = None, progress: Callback | None = None) -> Self:
        """A new learner like this one, fitted to other episodes; what this one chose, if anything, is not chosen anew.

        The models of `BeliefQ` go on with their training.
        """
        self._fitted()
        learner: Self = clone(self)
        return learner._fit(opened(data), getattr(self, "_kept", None), executor, progress)

    def _fit(
        self,
        data: Data,
        kept: Any,  # Any: whatever a learner of the same kind chose before; each knows its own
        executor: Workers,
        progress: Callback | None,
    ) -> Self:
        """Learns from all that is in memory, or from a sample of shards."""
        if isinstance(data, Trajectories):
            Scale.of(data).check()
            reporter = Reporter(progress)
            reporter.enter("learning", data.n_steps)
            self._learn(data, within(progress, "learning"))
            reporter.finish()
            return self._keep_origin(fingerprint(data), data)

        reader = Reader(data, executor=executor, progress=progress)
        overview = Overview.read(reader, MAX_STEPS, seed=0)
        reader.reporter.enter("learning", overview.sample.n_steps)
        self._learn(overview.sample, within(progress, "learning"))
        if not overview.whole:
            self.diagnostics_["notes"].append(
                f"learned from {len(overview.sample):,} of {overview.episodes:,} episodes, drawn by their hash"
            )
        reader.reporter.finish()
        return self._keep_origin(reader.fingerprint, overview.sample)

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        """Sets `policy_` and `diagnostics_`."""
        raise TypeError(f"{type(self).__name__} does not learn: use one of the learners of uqf")

    def _keep_origin(self, digest: str, sample: Trajectories) -> Self:
        """Keeps for scoring and saving the fingerprint of the data and a baseline of a sample that is in memory."""
        self.baseline_ = Baseline.of(sample, self.discount)
        self.n_features_in_ = sample.n_symbols
        self.profile_ = profile(sample)
        self.origin_ = Origin(digest, sample.codebook)
        if hasattr(self, "diagnostics_"):
            self.diagnostics_["notes"] += limits(sample)
        self._support(ActionShares.of(sample), sample.n_observations)
        return self

    def _support(self, shares: ActionShares, n_observations: int) -> None:
        """An action without support in the log is never chosen: see `Support`."""
        support = Support.of(shares, n_observations)
        self.policy_ = support.limited(self.policy_)
        self.diagnostics_["notes"] += support.notes(self.origin_.codebook)

    def decision_function(self, histories: Trajectories | Sequence[History]) -> FloatArray:
        """Q values after each history, a list of (action, observation): (len(histories), n_actions).

        Given `Trajectories`, before each of their steps: (n_steps, n_actions).
        """
        policy = self._fitted()
        if isinstance(histories, Trajectories):
            return np.asarray(policy.q_values_along(histories))
        listed = [policy.q_values(remembered(policy, history)) for history in checked_histories(histories)]
        return np.reshape(listed, (len(listed), policy.n_actions))

    def predict(self, histories: Trajectories | Sequence[History]) -> NDArray[np.int64]:
        """The best action after each history, or before each step; ties go to the first, so that it repeats."""
        policy = self._fitted().greedy()
        if isinstance(histories, Trajectories):
            return np.asarray(policy.probs_along(histories).argmax(axis=1))
        states = [remembered(policy, history) for history in checked_histories(histories)]
        return np.array([policy.action_probs(state).argmax() for state in states], np.int64)

    def score(self, data: Trajectories, y: None = None) -> float:
        """What the policy gains on these episodes, one step at a time, per episode and in units of reward.

        The first-order part of the difference to the return of the policy that collected the data; for comparing
        learners on held-out episodes, not for expecting a return (`uqf.ope.evaluate` is for that).
        """
        policy, data = self._fitted(), checked_data(data)
        # A learner that read its episodes from files has no baseline of them.
        baseline = getattr(self, "baseline_", None) or Baseline.of(data, self.discount)
        return policy_gain(policy, baseline, data).mean

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy as a file with these settings; `uqf.load` reads it.

        Only what acts is kept: a file may come from anybody, and is never executed. ``pickle`` keeps the whole learner.
        """
        save(self._fitted(), path, settings=self.file_settings(), data=self.origin_)

    def file_settings(self) -> Record:
        """What a policy file says of how it was learned: the learner, its parameters, and what the log looked like."""
        settings = {"learner": type(self).__name__} | self.get_params()
        plain = {
            name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
            for name, value in settings.items()
            if not isinstance(value, (tuple, Estimator))
        }
        return plain | {"profile": getattr(self, "profile_", None)}

    def to_frame(self) -> pandas.DataFrame:
        """The learners that `uqf.fit` compared, a row for each: gain, stderr, …, and the problem of who was refused.

        Needs pandas: ``pip install 'uqf[plot]'``.
        """
        return frame_of([{"learner": name} | one for name, one in self._candidates().items()])

    def plot(self, ax: Axes | None = None) -> Axes:
        """What each of them gains on held-out episodes, with two standard errors. Needs matplotlib, as `to_frame`."""
        judged = {name: one for name, one in self._candidates().items() if one["gain"] is not None}
        rows = [(name, one["gain"], one["stderr"]) for name, one in judged.items()]
        return plotted(rows, ax, xlabel="learner", ylabel="gain over the log")

    def _candidates(self) -> Record:
        self._fitted()
        if "chosen" not in self.diagnostics_:
            raise ValueError(f"{type(self).__name__} was fitted alone: uqf.fit compares learners")
        return dict(self.diagnostics_["chosen"]["candidates"])

    def _repr_html_(self) -> str:
        """A fitted learner in a notebook: the essentials; before, its parameters."""
        from uqf.page.render import render

        shown = {"name": type(self).__name__, "fitted": hasattr(self, "policy_")}
        if not shown["fitted"]:
            return render("notebook.html", **shown, why=None, rows=list(self.get_params(deep=False).items()))
        episodes = self.diagnostics_.get("episodes")
        rows = [("learned from", f"{episodes:,} episodes")] if episodes else []
        rows += [("discount", f"{self.discount:g}")]
        rows += [("randomness", f"{getattr(self.policy_, 'temperature', 0.0):.3g}")]
        why = self.diagnostics_.get("chosen", {}).get("why")
        return render("notebook.html", **shown, why=why, rows=rows)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """Writes one step of the policy for other languages; `uqf.export_onnx` says what goes in and out.

        Needs onnx: ``pip install 'uqf[onnx]'``.
        """
        try:
            from uqf.storage.onnx import export_onnx
        except ModuleNotFoundError as error:
            raise ImportError(f"export_onnx needs {error.name}: pip install 'uqf[onnx]'") from error
        export_onnx(self._fitted(), path, codebook=self.origin_.codebook)

    def __getattr__(self, name: str) -> Any:  # Any: whatever `fit` sets
        """What only a fitted learner has is refused with the way out; called where there is no such attribute."""
        if name.endswith("_") and not name.startswith("_") and "policy_" not in self.__dict__:
            raise NotFittedError.of(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fitted(self) -> CompiledPolicy:
        if not hasattr(self, "policy_"):
            raise NotFittedError.of(self)
        policy: CompiledPolicy = self.policy_
        return policy

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "policy_")


def checked_histories(histories: Sequence[History]) -> list[list[tuple[int, int]]]:
    """Lists of pairs, or an error that says what to give."""
    try:
        return [[(action, seen) for action, seen in history] for history in histories]
    except (TypeError, ValueError):
        raise TypeError(
            f"histories = {histories!r}: give a list of histories, each a list of pairs (action, observation) such as "
            "[[(0, 1), (2, 0)]], [[]] for the beginning of an episode, or Trajectories"
        ) from None


def checked_temperature(temperature: float | None) -> None:
    """Refuses a negative temperature by name."""
    if temperature is not None and not number("temperature", temperature) >= 0.0:
        raise ValueError(f"temperature = {temperature}: give 0 (greedy), more, or None")
