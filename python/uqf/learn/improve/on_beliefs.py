"""The log improved on the beliefs of a policy, and what that gains in episodes that it did not learn from."""

from __future__ import annotations

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.gain import Baseline, Gain, comparable_probs, gain
from uqf.learn.improve.step import advantage_step
from uqf.policies.policy import BeliefPolicy

#: Temperature of an improvement, in spreads of the returns, before it is softened to be compared.
GREEDY = 1e-3


def uninformed(policy: BeliefPolicy) -> BeliefPolicy:
    """The uniform policy on the beliefs of another."""
    parts = policy.parts()
    nothing = {"weights": np.zeros_like(parts["weights"][:, :1]), "bias": np.zeros_like(parts["bias"])}
    return BeliefPolicy(**parts | nothing | {"temperature": 1.0})


def improved_on_beliefs(
    base: BeliefPolicy,
    data: Trajectories,
    discount: float,
    temperature: float = GREEDY,
    threads: int | None = None,
) -> BeliefPolicy:
    """Advantages of every action in `data`, linear in the beliefs of `base`, added to its values, in units of
    `temperature` times the spread of the returns.
    """
    rows = base.beliefs_along(data, threads=threads)
    step = advantage_step(rows, data, discount) / temperature
    parts = base.parts()
    weights = parts["weights"] / base.temperature + step[1:, np.newaxis]
    bias = parts["bias"] / base.temperature + step[0]
    return BeliefPolicy(**parts | {"weights": weights, "bias": bias, "temperature": 1.0})


def gain_on_beliefs(
    policy: BeliefPolicy, data: Trajectories, discount: float, threads: int | None = None
) -> Gain:
    """What the log gains if improved on these beliefs, as sharp as it allows.

    Either half of the episodes learns, and is judged by the other. Zeros for a single episode.
    """
    base, gains = uninformed(policy), np.zeros(len(data))
    if len(data) < 2:
        return Gain(gains)
    for learns, judges in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        learned, held_out = data[learns], data[judges]
        improved = improved_on_beliefs(base, learned, discount, threads=threads)
        advantages = Baseline.of(learned, discount).advantages(held_out)
        gains[judges] = gain(comparable_probs(improved, held_out), advantages, held_out).totals
    return Gain(gains)
