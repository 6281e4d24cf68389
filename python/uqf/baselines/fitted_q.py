"""Fitted-Q iteration on a state representation (Ernst, Geurts & Wehenkel 2005), by extremely randomised trees."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from uqf.baselines.psr import PSR, automaton_features
from uqf.episodes.checks import instance, positive, probability, seed_number
from uqf.episodes.sums import best_next, cut_before
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.estimator import Estimator, clone
from uqf.learn.learner import Learner
from uqf.policies.policy import AutomatonPolicy, ForestPolicy
from uqf.reading.progress import Callback, Reporter
from uqf.reading.shards import checked_data
from uqf.types import AnyArray, Record, Tree

Floats = NDArray[np.float64]

#: (base, roots, feature, threshold, left, right, value): base + the leaves of x
Forest: TypeAlias = tuple[AnyArray | float, ...]


@dataclass(frozen=True)
class ExtraTrees:
    """Means of extremely randomised trees (Geurts, Ernst & Wehenkel 2006), one forest for each of some data sets.

    The trees of all data sets are grown in one pool. scikit-learn's `ExtraTreesRegressor` grows the same trees, but
    spends as long on copying and checking parameters as on growing them where data sets are small.

    inputs : features (n, d) of every data set
    trees, random_splits, leaf : trees of a forest, features tried at a split, fewest samples of a leaf
    """

    inputs: Sequence[NDArray[np.float32]]
    trees: int
    random_splits: int
    leaf: int
    seed: int
    threads: int | None

    def grown(self, targets: Sequence[Floats], round_number: int) -> list[Forest]:
        """A forest for every data set; the number of the round seeds the randomness."""
        # Imported here: scikit-learn's ensembles take 0.4 s.
        from sklearn.tree import ExtraTreeRegressor

        n_features = self.inputs[0].shape[1]
        shape = {
            "max_features": min(self.random_splits, n_features),
            "min_samples_leaf": min(self.leaf, 2**31),
        }
        columns = [np.ascontiguousarray(y, np.float64)[:, np.newaxis] for y in targets]
        jobs = []
        for place in range(len(self.inputs)):
            seed = (self.seed + round_number * len(self.inputs) + place) % 2**32
            numbers = np.random.default_rng(seed).integers(2**31, size=self.trees)
            jobs += [(place, int(number)) for number in numbers]

        def grow(job: tuple[int, int]) -> Tree:
            place, number = job
            tree = ExtraTreeRegressor(random_state=number, **shape)
            return tree.fit(self.inputs[place], columns[place], check_input=False).tree_

        with ThreadPoolExecutor(self.threads or os.cpu_count()) as pool:
            grown = list(pool.map(grow, jobs))
        return [
            flattened(grown[first : first + self.trees], 1.0 / self.trees)
            for first in range(0, len(grown), self.trees)
        ]


def flattened(trees: Sequence[Tree], scale: float) -> Forest:
    """The sum of scikit-learn's trees, each leaf times `scale`."""
    sizes = [tree.node_count for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(roots, sizes)
    return (
        0.0,
        roots,
        np.concatenate([tree.feature for tree in trees]).astype(np.int64),
        np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        np.concatenate([tree.children_left for tree in trees]).astype(np.int64) + shift,
        np.concatenate([tree.children_right for tree in trees]).astype(np.int64) + shift,
        np.concatenate([tree.value[:, 0, 0] for tree in trees]) * scale,
    )


def constant(value: float) -> Forest:
    """The same value everywhere."""
    none, nodes = np.zeros(0), np.zeros(0, np.int64)
    return (value, nodes, nodes, none, nodes, nodes, none)


def joined(forests: Sequence[Forest]) -> Record:
    """Several forests as the arguments of a `ForestPolicy`."""
    base, *nodes = zip(*forests, strict=True)
    names = ("roots", "feature", "threshold", "left", "right", "value")
    arrays = {name: np.concatenate(part) for name, part in zip(names, nodes, strict=True)}
    counts = {"trees": [len(one) for one in nodes[0]], "nodes": [len(one) for one in nodes[1]]}
    return {
        "base": np.array(base, np.float64),
        **{name: np.array(sizes, np.int64) for name, sizes in counts.items()},
        **arrays,
    }


class Window(Estimator):
    """Actions and observations of the last `length` steps, the latest first.

    Each has an indicator for every action and every observation, all zero before the first step.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    >>> window = uqf.baselines.Window(2)
    >>> uqf.baselines.FittedQ(window, iterations=1, trees=5, seed=0).fit(data).policy_.n_actions
    3
    """

    def __init__(self, length: int = 1) -> None:
        self.length = length

    def fit(self, data: Trajectories, y: None = None) -> Window:
        """Reads only the sizes of the alphabets."""
        checked_data(data)
        positive("length", self.length)
        sizes = {"n_actions": data.n_actions, "n_observations": data.n_observations}
        self.features_ = {"length": self.length, **sizes}
        return self


#: What says how a history becomes numbers.
Representation: TypeAlias = Learner | Window | PSR | AutomatonPolicy


@dataclass(eq=False, repr=False)
class FittedQ(Learner):
    """Repeats the regression of r + discount · max Q(next state, ·) on a fixed log, one forest per action.

    Parameters
    ----------
    representation : what the state is
        A learner that `fit` teaches first (`TPSR`, `CPSR`, `uqf.UQF`, `Window`; a clone of it, as in
        scikit-learn), a `PSR`, a compiled `AutomatonPolicy` whose state is used, or None for ``Window(1)``.
    iterations : int
        Rounds; the first fits the rewards alone.
    discount : float in [0, 1]
    trees, random_splits, leaf : int
        Trees of a forest, features tried at each split, fewest samples of a leaf. The defaults are those
        of Hamilton, Fard & Pineau (2014).
    bootstrap_truncated : bool
        Whether the value of the last state counts where an episode was truncated.
    temperature : float
        0 acts greedily.

    Notes
    -----
    The maximum is over the predicted values whatever their sign. Values are kept inside what the rewards of
    the log allow (with discount below 1). An action that the log lacks is given the lowest target: nothing speaks for
    it.

    Attributes
    ----------
    policy_ : compiled `ForestPolicy`; ``policy_.values(features)`` evaluates many states at once
    representation_, features_ : the fitted representation, and what of it are arguments of a `ForestPolicy`
    changes_ : (iterations,) root mean square change of the targets in each round

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    >>> learner = uqf.baselines.FittedQ(iterations=2, discount=0.95, trees=5, seed=0).fit(data)
    >>> learner.policy_.n_actions
    3
    """

    representation: Representation | None = None
    _: KW_ONLY
    iterations: int = 50
    discount: float = 0.99
    trees: int = 30
    random_splits: int = 3
    leaf: int = 5
    bootstrap_truncated: bool = True
    temperature: float = 0.0
    seed: int = 0
    threads: int | None = None

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        discount = probability("discount", self.discount)
        for name in ("iterations", "trees", "random_splits", "leaf"):
            positive(name, getattr(self, name))
        seed_number(self.seed)
        instance("bootstrap_truncated", self.bootstrap_truncated, (bool, np.bool_), "True or False")
        self.representation_, self.features_ = fitted_features(self.representation, data)
        before = cut_before(data)
        # Features of all cuts are computed once: a cut is the end of one step and the beginning of the next.
        blank = ForestPolicy(**self.features_, **joined([constant(0.0)] * data.n_actions))
        states = blank.features_along(data, threads=self.threads)
        steps = [np.flatnonzero(data.actions == action) for action in range(data.n_actions)]
        taken = [action for action, chosen in enumerate(steps) if len(chosen)]
        inputs = [np.ascontiguousarray(states[before[steps[action]]], np.float32) for action in taken]
        forest = ExtraTrees(inputs, self.trees, self.random_splits, self.leaf, self.seed, self.threads)
        lowest, highest = value_range(data, discount)
        targets: Floats = data.rewards
        changes = []
        reporter = Reporter(progress)
        reporter.enter("rounds", self.iterations)
        policy: ForestPolicy | None = None
        for iteration in range(self.iterations):
            if policy is not None:
                values = policy.values(states, threads=self.threads).clip(lowest, highest)
                previous = targets
                targets = best_next(data, values, discount, truncated=self.bootstrap_truncated)
                changes.append(float(np.sqrt(np.mean((targets - previous) ** 2))))
            forests = [constant(float(targets.min())) for _ in steps]
            grown = forest.grown([targets[steps[action]] for action in taken], iteration)
            for action, one in zip(taken, grown, strict=True):
                forests[action] = one
            policy = ForestPolicy(**self.features_, **joined(forests), temperature=self.temperature)
            self.policy_ = policy
            reporter.reach(iteration + 1)
        self.changes_ = np.array(changes)
        self.diagnostics_ = {"learner": "FittedQ", "iterations": self.iterations, "notes": []}


def value_range(data: Trajectories, discount: float) -> tuple[float, float]:
    """Lowest and highest discounted sum that rewards like the log's allow; infinite without discount."""
    if discount == 1.0:
        return -np.inf, np.inf
    lowest, highest = float(data.rewards.min()), float(data.rewards.max())
    # A single step may be all there is, so a bound is that of one reward or of endless ones.
    return min(lowest, lowest / (1.0 - discount)), max(highest, highest / (1.0 - discount))


def fitted_features(
    representation: Representation | None, data: Trajectories
) -> tuple[Representation, Record]:
    """The representation, fitted if it is a learner, and its features."""
    if isinstance(representation, PSR):
        return representation, representation.features
    if isinstance(representation, AutomatonPolicy):
        return representation, automaton_features(representation)
    learner = Window() if representation is None else representation
    if not callable(getattr(learner, "fit", None)):
        raise TypeError(
            f"representation is {kind_of(learner)}: give TPSR(…), CPSR(…), uqf.UQF(…), Window(…), "
            "a PSR or an AutomatonPolicy"
        )
    learner = clone(learner).fit(data)
    if isinstance(getattr(learner, "features_", None), dict):
        return learner, learner.features_
    if isinstance(getattr(learner, "policy_", None), AutomatonPolicy):
        return learner, automaton_features(learner.policy_)
    raise TypeError(
        f"representation is {kind_of(learner)}, which learns neither features_ nor an AutomatonPolicy"
    )
