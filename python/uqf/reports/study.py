"""What a report rests on: a policy, episodes that judge it, and episodes that it was learned from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from uqf.episodes.checks import FloatArray, probability
from uqf.episodes.concatenate import concatenate
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import episodes_within
from uqf.episodes.trajectories import Trajectories
from uqf.estimator import clone
from uqf.learn.improve.gain import Baseline, Gain
from uqf.learn.learner import MAX_STEPS, Learner
from uqf.mixing import mix
from uqf.ope.estimates import Estimate
from uqf.ope.estimators import Replayed
from uqf.ope.evaluator import Evaluator
from uqf.policies.policy import Policy, probs_along
from uqf.reading.overview import overview
from uqf.reading.progress import Callback, within
from uqf.reading.shards import Data
from uqf.reports.names import Names
from uqf.storage.policy_header import Origin
from uqf.types import Record

#: Steps that judge at most, and numbers that are held at once: with many actions fewer steps judge.
JUDGING_STEPS, MAX_CELLS = 200_000, 20_000_000


@dataclass(frozen=True)
class Study:
    """A policy on episodes that it was not learned from."""

    policy: Policy
    log: Trajectories
    """The episodes that the report is about; of shards, a sample of them."""
    training: Trajectories
    """Episodes that do not judge: baselines, summaries and rivals are learned from them."""
    held_out: Trajectories
    """Episodes that judge, in an order that is as good as random."""
    discount: float
    learner: Learner | None
    """None if nothing but the policy is known."""
    judged_as: str
    """Which policy is judged by which episodes, in plain words."""
    seed: int = 0
    """Of the estimates."""

    @property
    def diagnostics(self) -> Record:
        """Those of the learner, if there is one."""
        return dict(getattr(self.learner, "diagnostics_", {}))

    @cached_property
    def names(self) -> Names:
        """Of actions and observations."""
        return Names.of(self.log)

    @cached_property
    def probs(self) -> FloatArray:
        """π(a | h) of the policy before every held-out step, (n_steps, n_actions)."""
        return probs_along(self.policy, self.held_out)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The held-out episodes, made ready for estimates."""
        return Evaluator.of(self.held_out, self.discount, 0.95, 1000, None, self.seed)

    @cached_property
    def replayed(self) -> Replayed:
        """The held-out episodes with the eyes of the policy."""
        return self.evaluator.seen_with(self.probs)

    @cached_property
    def doubly_robust(self) -> Estimate:
        """What weighted episodes and a model say of the policy together."""
        return self.evaluator.estimate(self.replayed, "doubly-robust")

    @cached_property
    def estimate(self) -> Estimate:
        """What the policy would earn, by the method that suits the held-out episodes."""
        method = self.evaluator.method(self.replayed)
        return (
            self.doubly_robust
            if method == "doubly-robust"
            else self.evaluator.estimate(self.replayed, method)
        )

    @cached_property
    def propensities(self) -> FloatArray:
        """Probability of every logged action under the policy that logged it, (n_steps,)."""
        return propensities(self.held_out)

    @cached_property
    def baseline(self) -> Baseline:
        """What the advantages of held-out steps are measured against."""
        return Baseline.of(self.training, self.discount)

    @cached_property
    def advantages(self) -> FloatArray:
        """Of every logged action at its step, (n_steps,), in units of reward; noisy, but of no model's making."""
        return self.baseline.advantages(self.held_out)

    def taken(self, probs: FloatArray) -> FloatArray:
        """Of probabilities (n_steps, n_actions) those of the logged actions, (n_steps,)."""
        return np.asarray(probs[np.arange(len(probs)), self.held_out.actions])

    def gains(self, first: FloatArray, second: FloatArray | None = None) -> FloatArray:
        """What a policy gains at every step over another, or over the logged behaviour: (n_steps,).

        `first` and `second` are probabilities of the logged actions. (π(a) − π'(a)) / b(a) · advantage.
        """
        against = self.propensities if second is None else second
        return np.asarray((first - against) / self.propensities * self.advantages)

    def total(self, gains: FloatArray) -> Gain:
        """Gains of single steps, added up by episode."""
        return Gain(np.add.reduceat(gains, self.held_out.offsets[:-1]))

    def cautious(self, share: float | None) -> Study:
        """The same with a policy that decides this share of the steps, the rest being done as in the log."""
        if share is None:
            return self
        words = f"{self.judged_as}, deciding {share:.0%} of the steps, the rest as in the log"
        return replace(self, policy=mix(self.policy, self.training, share), judged_as=words)

    @classmethod
    def of(
        cls,
        judged: Learner | Policy,
        data: Data,
        *,
        discount: float | None,
        seed: int,
        progress: Callback | None,
    ) -> Study:
        """Of a fitted learner or a policy, on a log.

        A learner that came from `uqf.fit` is judged as it was there. Another one that learned from this log learns anew
        from half of it, and is judged by the other half. A policy, or a learner of something else, is judged as it is.
        """
        learner = judged if isinstance(judged, Learner) else None
        policy = judged if learner is None else learner._fitted()
        weight = discount if discount is not None else getattr(learner, "discount", None)
        if weight is None:
            raise ValueError("discount is missing: a policy does not say how much later rewards are worth")
        probability("discount", weight)
        log = _in_memory(data, seed)
        _check_alphabets(policy, log)
        learned_from_it = learner is not None and _learned_from(learner, data)
        trial = getattr(learner, "trial_", None)
        if trial is not None and learned_from_it:
            if not isinstance(data, Trajectories):
                log = concatenate([trial.taught, trial.held_out])
            words = "the policy as it was before it learned from the held-out episodes too"
            held_out = trial.held_out[: _judging(trial.held_out)]
            return cls(trial.policy, log, trial.taught, held_out, weight, learner, words, seed)
        held_out, taught = _halves(log, seed)
        words = "the policy as it is, on episodes that are taken to be new to it"
        if learner is not None and learned_from_it:
            words = "the policy of the same learner, learned from one half of the episodes and judged by the other"
            policy = clone(learner).fit(taught, progress=within(progress, "learning again")).policy_
        return cls(policy, log, taught, held_out, weight, learner, words, seed)


def _in_memory(data: Data, seed: int) -> Trajectories:
    """The log, or a sample of one that need not fit into memory."""
    if isinstance(data, Trajectories):
        return data
    from uqf.reading.overview import Overview
    from uqf.reading.reader import Reader

    return Overview.read(Reader(data), MAX_STEPS, seed).sample


def _halves(log: Trajectories, seed: int) -> tuple[Trajectories, Trajectories]:
    """(episodes that judge, episodes to learn from) of a sample, in an order that is as good as random."""
    if len(log) < 2:
        raise ValueError("data has one episode: a report needs at least two, one of them to judge")
    sample = overview(2 * JUDGING_STEPS, seed, log).sample
    if len(sample) < 2:
        sample = log[:2]
    held_out = sample[: max(1, len(sample) // 2)]
    return held_out[: _judging(held_out)], sample[max(1, len(sample) // 2) :]


def _judging(data: Trajectories) -> int:
    """How many of the first episodes judge."""
    return episodes_within(data, min(JUDGING_STEPS, MAX_CELLS // data.n_actions))


def _learned_from(learner: Learner, data: Data) -> bool:
    """Whether the learner learned from this log; of shards it is taken to be so."""
    known = learner.origin_.fingerprint
    return not isinstance(data, Trajectories) or known is None or known == Origin.of(data).fingerprint


def _check_alphabets(policy: Policy | None, log: Trajectories) -> None:
    for name in ("n_actions", "n_observations"):
        if getattr(policy, name, getattr(log, name)) != getattr(log, name):
            raise ValueError(
                f"the policy has {name} = {getattr(policy, name)}, but the log has {getattr(log, name)}: read it "
                "with the names and sizes of the policy (`uqf.inspect_policy`)"
            )
