"""Learning discounts: what may be learned with, where a task has a discount of its own."""

from __future__ import annotations

import numpy as np

from uqf.data.along import advantages, cut_before
from uqf.data.checks import probability
from uqf.data.trajectories import Trajectories
from uqf.learn.advantages import Moments, ValueSums, solved_advantages
from uqf.learn.gain import gain
from uqf.learn.grams import Grams
from uqf.learn.memory import Memory
from uqf.policies import softmax

#: Data with fewer episodes on either side are not split to choose a learning discount.
MIN_EPISODES = 10

#: Candidates where none is given, each cut to the discount of the task.
CANDIDATES = (0.85, 0.95, 0.99)


def learning_discounts(discount: float, given: float | None) -> list[float]:
    """The one that was given, or the candidates in increasing order.

    A learning discount above that of the task would count rewards for more than they are worth, and is refused.
    """
    task = probability("discount", discount)
    if given is None:
        return sorted({min(candidate, task) for candidate in CANDIDATES})
    if probability("learning_discount", given) > task:
        raise ValueError(
            f"learning_discount = {given}: above discount = {task:g}, which rewards are worth; give that or less"
        )
    return [float(given)]


def discount_gains(
    memory: Memory,
    train: Trajectories,
    test: Trajectories,
    discounts: list[float],
    *,
    decay: float,
    temperature: float,
    threads: int | None,
) -> dict[float, float]:
    """By learning discount: what the policy learned from `train` gains on the test episodes, in standard errors.

    decay : λ of the advantages; temperature : of the policies, in standard errors of the learned values
    """
    rows, before = memory.rows(test, threads), cut_before(test)
    taught = memory.rows(train, threads)
    grams = Grams.of(memory, taught, train)
    values = [ValueSums.of(taught, train, discount).value() for discount in discounts]
    pairs = list(zip(values, discounts, strict=True))
    moments = [Moments.of(taught, train, value, discount, decay) for value, discount in pairs]
    learned = solved_advantages(memory, grams, moments)
    gains = {}
    for (value, discount), (weights, noise) in zip(pairs, learned, strict=True):
        probs = softmax(rows[before] @ weights, temperature * noise)
        targets = advantages(test, rows @ value, discount, decay)
        gains[discount] = gain(probs[np.arange(test.n_steps), test.actions], targets, test).evidence
    return gains
