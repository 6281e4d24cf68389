"""The front door: from a log to the learner that suits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uqf.data.checks import probability
from uqf.data.overview import COST, Overview
from uqf.data.progress import Callback
from uqf.data.reader import Reader
from uqf.data.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.gain import Baseline, Gain, policy_gain
from uqf.learn.learner import Learner
from uqf.learn.spectral_q import SpectralQ

#: The learners that are tried, the quickest first. A learner that registers here takes part in every fit.
CANDIDATES: list[Callable[[float, int], Learner]] = [
    lambda discount, seed: ContextQ(discount),
    lambda discount, seed: SpectralQ(discount),
    lambda discount, seed: BeliefQ(discount, seed=seed),
]


#: Learners are compared on about so many steps at most, drawn from all.
TRIAL_STEPS = 400_000


@dataclass(frozen=True)
class Trial:
    """What the choice rests on: the policy of the chosen learner, taught without the held-out episodes."""

    policy: Any
    taught: Trajectories
    """The episodes that taught it."""
    held_out: Trajectories
    """The episodes that it was judged on; they taught it nothing."""


def fit(
    data: Any,
    *,
    discount: float = 0.99,
    holdout: float = 0.25,
    seconds: float | None = None,
    seed: int = 0,
    executor: Any = None,
    progress: Callback | None = None,
) -> Learner:
    """Tries the learners, keeps the one that gains most on held-out episodes, and refits it to all of them.

    Parameters
    ----------
    data : Trajectories, `uqf.Shards` or the path of a folder of Parquet files
        Learners are compared on a bounded sample of the episodes, drawn by a hash of their content. Shards are read a
        batch at a time.
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    holdout : float in (0, 1)
        Share of the episodes that judge and do not teach while learners are compared.
    seconds : float, optional
        No further learner is begun after so long; the first is always tried.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where shards are read and models are trained. The result has the same bits with any executor or none.
    progress : callable, optional
        Called now and then with a `Progress`: the stage, how far all is, the time left.

    Returns
    -------
    The fitted learner. ``diagnostics_["chosen"]`` says which one was taken, why, and how the others did; `trial_` has
    the policy that was judged and the episodes that judged it, for `uqf.ope.evaluate`.
    """
    probability("discount", discount)
    learners = [candidate(discount, seed) for candidate in CANDIDATES]

    def work(steps: int) -> float:
        trials = sum(learner.work(round((1.0 - holdout) * min(steps, TRIAL_STEPS))) for learner in learners)
        return COST * steps + trials + max(learner.work(steps) for learner in learners)

    reader = Reader(data, work=work, executor=executor, progress=progress)
    reporter, sample = reader.reporter, Overview.read(reader, TRIAL_STEPS, seed).sample
    taught, judges = _split(sample, holdout)
    baseline = Baseline.of(taught, discount)
    tried: Tried = []
    for number, learner in enumerate(learners):
        if number > 0 and seconds is not None and reporter.seconds > seconds:
            break
        told = reporter.within(f"{type(learner).__name__}, trial", learner.work(taught.n_steps))
        try:
            learner.fit(taught, executor=executor, progress=told)
            tried.append((learner, policy_gain(learner.policy_, baseline, judges)))
        except UQFError as problem:
            tried.append((learner, str(problem)))
    best, gain = _best(tried)
    reporter.expect(best.refit_work(reader.n_steps))
    told = reporter.within(type(best).__name__, best.refit_work(reader.n_steps))
    chosen = best.refit(data, executor=executor, progress=told)
    chosen.trial_ = Trial(best.policy_, taught, judges)
    chosen.diagnostics_["chosen"] = _told(best, gain, tried, len(judges))
    reporter.finish()
    return chosen


def _split(sample: Trajectories, holdout: float) -> tuple[Trajectories, Trajectories]:
    """(episodes that teach, episodes that judge); the sample has them in an order that is as good as random."""
    if not 0.0 < holdout < 1.0:
        raise ValueError(f"holdout = {holdout}: give a share above 0 and below 1")
    held = max(1, round(holdout * len(sample)))
    if held >= len(sample):
        raise ValueError(
            f"{len(sample)} episodes are too few: {held} would be held out to judge, and none left to learn from"
        )
    return sample[held:], sample[:held]


Tried = list[tuple[Learner, Gain | str]]


def _best(tried: Tried) -> tuple[Learner, Gain]:
    """The learner whose policy gains most on the held-out episodes."""
    judged = [(learner, gain) for learner, gain in tried if isinstance(gain, Gain)]
    if not judged:
        raise UQFError(f"every learner was refused; the first said: {tried[0][1]}")
    return max(judged, key=lambda pair: pair[1].mean)


def _told(best: Learner, gain: Gain, tried: Tried, held_out: int) -> dict[str, Any]:
    """The choice, its evidence and the runners-up."""
    candidates = {
        type(learner).__name__: {"problem": found}
        if isinstance(found, str)
        else {"gain": found.mean, "stderr": found.stderr}
        for learner, found in tried
    }
    why = (
        f"{type(best).__name__} gains most on {held_out:,} held-out episodes: {gain.mean:.4g} ± {gain.stderr:.2g} an "
        "episode, one step at a time"
    )
    return {"learner": type(best).__name__, "why": why, "candidates": candidates}
