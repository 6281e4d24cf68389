"""ContextQ: values by the last few symbols."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from uqf.episodes.checks import FloatArray, instance, positive
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import cut_before, discounted_backward, returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.discounts import MIN_EPISODES, learning_discounts
from uqf.learn.improve.gain import Baseline, policy_gain
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.memory.contexts import ContextTree
from uqf.policies.policy import ContextPolicy, softmax
from uqf.reading.progress import Callback
from uqf.reading.shards import checked_data


@dataclass(frozen=True)
class Tables:
    """Settings of the tables.

    min_count : a context of two symbols and more is kept if it occurred so often
    shrinkage : pseudo-counts of the empty context for the last symbol, and of each shorter context for a longer one
    temperature : in units of the spread of the returns
    """

    min_count: int = 2
    shrinkage: tuple[float, float] = (5.0, 300.0)
    temperature: float = 0.06


@dataclass(eq=False, repr=False)
class ContextQ(Learner):
    """Learns by Monte Carlo what every action is worth after the last few symbols, and draws actions by it.

    The fastest learner, and what policy iteration steps on. Longer contexts are shrunk towards shorter ones, so rare
    ones do no harm.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    depth : int
        Longest context, in symbols.
    learning_discount : float, optional
        Discount of the returns that are averaged, at most `discount`. By default the one whose policy gains most on
        held-out episodes, in `improve` too: short horizons have less noise, long ones less bias.
    temperature : float, optional
        0 acts greedily, more draws actions from softmax(q_values / temperature). By default in proportion to the
        spread of the returns.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("spocman"), episodes=100, seed=0)
    >>> learner = uqf.ContextQ(0.99, depth=2).fit(data)
    >>> learner.policy_.n_actions
    4
    """

    discount: float = 0.99
    _: KW_ONLY
    depth: int = 3
    learning_discount: float | None = None
    temperature: float | None = None

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        positive("depth", self.depth)
        checked_temperature(self.temperature)
        chosen, gains = self._chosen_discount(data)
        policy = fixed_log_policy(data, self.depth, chosen)
        self.policy_ = policy if self.temperature is None else policy.with_temperature(self.temperature)
        self.diagnostics_ = {
            "learner": "ContextQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "contexts": len(policy.values),
            "depth": self.depth,
            "learning_discount": chosen,
            "learning_discount_evidence": gains,
            "temperature": self.policy_.temperature,
            "notes": [],
        }

    def _chosen_discount(self, data: Trajectories) -> tuple[float, dict[float, float]]:
        """(learning discount, by candidate: the gain on the second half of the episodes minus its standard error)."""
        discounts = learning_discounts(self.discount, self.learning_discount)
        half = len(data) // 2
        if len(discounts) == 1 or half < MIN_EPISODES:
            return discounts[-1], {}
        train, test = data[:half], data[half:]
        baseline, gains = Baseline.of(train, self.discount), {}
        for discount in discounts:
            gain = policy_gain(fixed_log_policy(train, self.depth, discount), baseline, test)
            gains[discount] = gain.mean - gain.stderr
        return max(gains, key=gains.__getitem__), gains

    def improve(self, data: Trajectories, base: ContextPolicy | None, temperature: float) -> ContextPolicy:
        """One step of policy iteration: the policy `base` (None: uniform) that collected `data`, improved.

        The advantages of every action in every context are added to the values of `base`, in units of
        `temperature` times the spread of the returns. The learner itself is not changed.
        """
        checked_data(data)
        checked_temperature(temperature)
        if base is not None:
            instance("base", base, ContextPolicy, "a policy of ContextQ, or None")
        # The policy's own episodes need less shrinkage than a fixed log.
        settings = Tables(shrinkage=(5.0, 5.0))
        tree = ContextTree.of(data, positive("depth", self.depth), min_count=settings.min_count)
        targets = returns_to_go(data, self._chosen_discount(data)[0])
        advantage, _ = advantages(tree, data, targets, settings.shrinkage)
        step = tree.policy(advantage, data, temperature * spread(targets))
        return step if base is None else base.plus(step)


def spread(targets: FloatArray) -> float:
    """Standard deviation of the targets; where all are equal up to rounding, their size (1 if they are 0).

    Advantages are then rounding as well, and nothing in units of their size.
    """
    size, deviation = float(np.abs(targets).max()), float(targets.std())
    return deviation if deviation > 1e-12 * size else size or 1.0


def fixed_log_policy(data: Trajectories, depth: int, discount: float) -> ContextPolicy:
    """The softmax policy of Monte-Carlo advantages, after one Retrace sweep towards itself."""
    settings = Tables()
    tree = ContextTree.of(data, depth, min_count=settings.min_count)
    targets = returns_to_go(data, discount)
    temperature = settings.temperature * spread(targets)
    advantage, value = advantages(tree, data, targets, settings.shrinkage)
    probs, q = softmax(advantage, temperature), value[:, np.newaxis] + advantage
    here = tree.at_cuts[cut_before(data)]
    logged = (here, data.actions)
    targets = retrace(data, discount, (probs * q).sum(axis=1)[here], q[logged], probs[logged])
    advantage, _ = advantages(tree, data, targets, settings.shrinkage)
    return tree.policy(advantage, data, temperature)


def advantages(
    tree: ContextTree, data: Trajectories, targets: FloatArray, shrinkage: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """(advantage (nodes, actions), value (nodes,)) of the targets: means, shrunk towards the shorter context.

    `shrinkage` are the pseudo-counts of the empty context for the last symbol, and of each shorter context
    for a longer one.
    """
    n_actions, size = data.n_actions, len(tree)
    value, advantage = np.zeros(size), np.zeros((size, n_actions))
    for level, (steps, nodes) in enumerate(tree.levels(data)):
        cell = nodes * n_actions + data.actions[steps]
        counts = np.bincount(cell, minlength=size * n_actions).reshape(size, -1)
        sums = np.bincount(cell, targets[steps], size * n_actions).reshape(size, -1)
        here = np.flatnonzero(counts.sum(axis=1))
        above = tree.parents[here - 1] if level > 0 else here
        counts, sums = counts[here], sums[here]
        pseudo = shrinkage[min(level, 2) // 2]
        inherits = float(level > 0)
        value[here] = (sums.sum(axis=1) + inherits * value[above]) / (counts.sum(axis=1) + inherits)
        centred = sums - counts * value[here, np.newaxis]
        advantage[here] = (centred + inherits * pseudo * advantage[above]) / (counts + pseudo)
    return advantage, value


def retrace(
    data: Trajectories, discount: float, v: FloatArray, q: FloatArray, probs: FloatArray
) -> FloatArray:
    """Returns towards another policy: y_t = r_t + γ (v_{t+1} + min(1, π/b) (y_{t+1} − q_{t+1})).

    v, q, probs : value of the state, of the logged action, and the new policy's probability of it, at every step
    """
    traces = np.minimum(1.0, probs / propensities(data))
    # y_t = r_t + γ (v_{t+1} − c_{t+1} q_{t+1}) + γ c_{t+1} y_{t+1}, and r_t at the last step.
    last = data.offsets[1:] - 1
    ahead, factors = (np.append(array[1:], 0.0) for array in (v - traces * q, traces))
    ahead[last] = 0.0
    targets = data.rewards + discount * ahead
    discounted_backward(targets, data.offsets, discount * factors)
    return targets
