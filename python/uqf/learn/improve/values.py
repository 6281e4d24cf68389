"""A policy improved on a memory: the value of the log, the advantages of all actions, and both again.

The second step learns the advantages of a policy half-way from that of the log to the one that the first step gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.grams import Grams
from uqf.learn.improve.regression import AdvantageSums, Equations, Moments, Regression, Softmax, ValueSums
from uqf.learn.memory.features import Memory, Parts, Rows
from uqf.reading.overview import Overview
from uqf.reading.reader import Reader


def improved(
    memory: Memory,
    sample: Trajectories,
    overview: Overview,
    reader: Reader,
    discount: float,
    settings: Regression,
) -> Softmax:
    """The policy that improves on that of the log, with values linear in a memory.

    The value rests on `sample`, episodes in memory whose propensities are known. Advantages are summed over all
    episodes of `reader`, in parts and on many machines; `overview` knows their number and their propensities. They lean
    on the value the less the more episodes there are, so that a sample is enough there. `discount` is that of the
    learned advantages.
    """
    reader.reporter.enter("values", sample.n_steps)
    episodes = Parts(memory, sample, reader.threads)
    value = learned_value(episodes, discount, settings)
    advantages = Advantages(memory, value, discount, settings.decay(overview.episodes))
    whole = sample.n_steps == overview.steps
    if whole and reader.in_memory and settings.second > 0.0:
        # The second step needs the rows of the sample anyway.
        reader.reporter.enter("advantages", sample.n_steps)
        sums = advantages.sums(episodes)
    else:
        work = partial(_batch_sums, advantages, overview.without_sample(), reader.threads)
        sums = reader.sum("advantages", work)
    equations = Equations(memory, sums.grams, settings)
    ((weights, noise),) = equations.solved([sums.moments])
    first = settings.softmax(weights, noise, overview.episodes)
    if settings.second == 0.0:
        return first
    reader.reporter.enter("second sweep", sample.n_steps)
    return _second_step(episodes, first, equations if whole else None, discount, settings)


def _second_step(
    episodes: Parts, first: Softmax, equations: Equations | None, discount: float, settings: Regression
) -> Softmax:
    """The policy after a second step towards the first one; `equations` are those of the episodes, if known.

    One step of improvement ends where the log's own future begins. A second one looks at the future of a policy that is
    already better; whole steps would leave what the log can say, so a policy half-way is looked at, and values are
    averaged with those of the first step, each in units of its own noise.
    """
    value = learned_value(episodes, discount, settings, first)
    advantages = Advantages(
        episodes.memory,
        value,
        discount,
        settings.decay(len(episodes.data)),
        first,
        settings.towards,
    )
    if equations is None:
        sums = advantages.sums(episodes)
        equations, moments = Equations(episodes.memory, sums.grams, settings), sums.moments
    else:
        moments = advantages.moments(episodes)
    ((weights, noise),) = equations.solved([moments])
    both = (1.0 - settings.second) * first.weights + settings.second * first.noise / noise * weights
    return Softmax(both, first.noise, first.temperature)


def learned_value(
    episodes: Parts, discount: float, settings: Regression, policy: Softmax | None = None
) -> FloatArray:
    """Weights of V, (width,): of the policy that collected the episodes, or of one part of the way to `policy`."""

    def sums(rows: Rows, data: Trajectories) -> ValueSums:
        ratios = None if policy is None else policy.ratios(rows, data, settings.towards)
        return ValueSums.of(rows, data, discount, settings.value_trace, ratios)

    total: ValueSums = episodes.sum(sums)
    return total.value(settings.value_ridge)


@dataclass(frozen=True)
class Advantages:
    """What the advantages are regressed from, given the value; it can be pickled.

    decay : λ of the estimates; policy, towards : the policy whose advantages are learned, and the share of the way from
    that of the log to it; by default that of the log
    """

    memory: Memory
    value: FloatArray
    discount: float
    decay: float
    policy: Softmax | None = None
    towards: float = 0.0

    def sums(self, episodes: Parts) -> AdvantageSums:
        """What some episodes add."""
        total: AdvantageSums = episodes.sum(
            lambda rows, data: AdvantageSums(Grams.of(self.memory, rows, data), self._moments(rows, data))
        )
        return total

    def moments(self, episodes: Parts) -> Moments:
        """What some episodes add, if their products are known."""
        total: Moments = episodes.sum(self._moments)
        return total

    def _moments(self, rows: Rows, data: Trajectories) -> Moments:
        ratios = None if self.policy is None else self.policy.ratios(rows, data, self.towards)
        return Moments.of(rows, data, self.value, self.discount, self.decay, ratios)


def _batch_sums(
    advantages: Advantages, overview: Overview, threads: int | None, data: Trajectories
) -> AdvantageSums:
    """What a batch of a reading adds; propensities are those that `overview` knows."""
    return advantages.sums(Parts(advantages.memory, overview.known(data), threads))
