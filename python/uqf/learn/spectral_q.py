"""SpectralQ: the state of alternating spectral filters, and advantages that are linear in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from uqf.data.along import episodes_within
from uqf.data.checks import positive
from uqf.data.overview import COST, Overview
from uqf.data.parallel import single_blas
from uqf.data.progress import Callback
from uqf.data.reader import Reader
from uqf.data.trajectories import Trajectories
from uqf.learn.advantages import VALUE_STEPS, Regression, advantage_sums, learned_value, solved_advantages
from uqf.learn.discounts import MIN_EPISODES, discount_gains, learning_discounts
from uqf.learn.filters.alternation import learned_filter
from uqf.learn.filters.filter_memory import FilterMemory
from uqf.learn.filters.steps import Steps
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.memory import Parts

#: Filters rest on so many steps at most.
MAX_STEPS = 300_000

#: Temperature in units of the standard error of the learned values, up to so many episodes; then it grows with their
#: number to the fourth root: what more data do not improve is the memory.
TEMPERATURE = 0.6
FEW_EPISODES = 100

#: Nanoseconds that a step costs by experience: for every number of a state and every round; for regressions.
ROUND_COST = 35.0
REGRESSION_COST = 1000.0


@dataclass(frozen=True)
class Choice:
    """The learning discount that was chosen, and the evidence: {} where nothing was to choose or too few episodes."""

    learning_discount: float
    gains: dict[float, float]


class SpectralQ(Learner):
    """Learns a predictive state by moments alone, the value of the logging policy on it, and all actions' advantages.

    The state is that of a filter: an affine function of the state before and of the symbol that came. It is learned by
    decompositions and ridge regressions, without random starts, local optima or a seed. Values are linear in it. Takes
    a small part of the time of `BeliefQ`, and comes near it except where beliefs change abruptly, as in Tiger. A second
    sweep of improvement, which helps `BeliefQ`, was tried and does harm here: values are too rough on this memory.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    rank : int
        Numbers of a state at most. With the constant, multiples of eight are fastest.
    rounds : int
        How often the past is regressed on the future and the future on the past.
    learning_discount : float, optional
        Discount of the learned advantages, at most `discount`. By default the one whose improvement is most significant
        on held-out episodes: short horizons have less noise, long ones less bias.
    temperature : float, optional
        0 acts greedily, more draws actions from softmax(q_values / temperature). By default in proportion to the
        standard error of the learned values.
    threads : int, optional
        All cores by default.

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("gridworld-near")
    >>> learner = uqf.SpectralQ(0.99).fit(uqf.rollout(env, episodes=100, seed=0))
    >>> uqf.estimate_return(env, learner.policy_, episodes=1000, seed=1).mean > 0.5
    True
    """

    def __init__(
        self,
        discount: float = 0.99,
        *,
        rank: int = 31,
        rounds: int = 4,
        learning_discount: float | None = None,
        temperature: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.discount = discount
        self.rank = rank
        self.rounds = rounds
        self.learning_discount = learning_discount
        self.temperature = temperature
        self.threads = threads

    def fit(
        self, data: Any, y: None = None, *, executor: Any = None, progress: Callback | None = None
    ) -> SpectralQ:
        """Learns from episodes; `y` is ignored (scikit-learn passes it).

        Parameters
        ----------
        data : Trajectories, `uqf.Shards` or the path of a folder of Parquet files
            Shards are read twice, a batch at a time. Filters are learned from a bounded sample of the episodes, drawn
            by a hash of their content; advantages are learned from all of them.
        executor : concurrent.futures.Executor or distributed.Client, optional
            Where shards are read. The result has the same bits with any executor or none.
        progress : callable, optional
            Called now and then with a `uqf.Progress`: the stage, how far it is, the time left.
        """
        return self._fit(data, None, executor, progress)

    def refit(self, data: Any, *, executor: Any = None, progress: Callback | None = None) -> SpectralQ:
        """A new learner taught by other episodes, with the learning discount that this one chose."""
        self._fitted()
        learner: SpectralQ = clone(self)
        return learner._fit(data, self._choice, executor, progress)

    def work(self, steps: int) -> float:
        """About how many nanoseconds so many steps take."""
        filters = ROUND_COST * (1 + self.rank) * (1 + self.rounds) * min(steps, MAX_STEPS)
        return COST * steps + filters + REGRESSION_COST * (steps + min(steps, VALUE_STEPS))

    def _fit(self, data: Any, kept: Choice | None, executor: Any, progress: Callback | None) -> SpectralQ:
        checked_temperature(self.temperature)
        positive("rank", self.rank)
        positive("rounds", self.rounds)
        discounts = learning_discounts(self.discount, self.learning_discount)
        reader = Reader(data, work=self.work, threads=self.threads, executor=executor, progress=progress)
        with single_blas():
            overview = Overview.read(reader, MAX_STEPS, seed=0)
            sample = overview.known(overview.sample)
            filters = ROUND_COST * (1 + self.rank) * (1 + self.rounds)
            reader.reporter.enter("filters", f"{sample.n_steps:,} steps", filters * sample.n_steps)
            steps = Steps.of(sample)
            learned = learned_filter(steps, self.rank, self.rounds, self.threads)
            memory = FilterMemory.of(learned, steps, self.threads)
            few = sample[: episodes_within(sample, VALUE_STEPS)]
            reader.reporter.enter("values", f"{few.n_steps:,} steps", REGRESSION_COST * few.n_steps)
            choice = kept or _chosen(memory, few, discounts, self.threads)
            value = learned_value(Parts(memory, few, self.threads), choice.learning_discount)
            regression = Regression(memory, value, choice.learning_discount, trace(overview.episodes))
            work = partial(advantage_sums, regression, overview.without_sample(), self.threads)
            sums = reader.sum("advantages", work, REGRESSION_COST)
            ((weights, noise),) = solved_advantages(memory, sums.grams, [sums.moments])
        usual = temperature(overview.episodes) * noise
        self.policy_ = memory.policy(weights, usual if self.temperature is None else self.temperature)
        self._choice = choice
        self.diagnostics_ = {
            "learner": "SpectralQ",
            "episodes": overview.episodes,
            "steps": overview.steps,
            "steps_for_filters": sample.n_steps,
            "symbols": len(steps.alphabet),
            "rank": len(learned.start),
            "correlations": learned.values.tolist(),
            "learning_discount": choice.learning_discount,
            "learning_discount_evidence": choice.gains,
            "temperature": self.policy_.temperature,
            "notes": [],
        }
        reader.reporter.finish()
        return self._keep_origin(reader.fingerprint, overview.sample)


def trace(episodes: float) -> float:
    """λ of the advantages: 1 − 0.3/√episodes, nearer to 1 than on beliefs, since values are worse on this memory."""
    return 1.0 - 0.3 / float(np.sqrt(episodes))


def temperature(episodes: float) -> float:
    """In units of the standard error of the learned values."""
    return TEMPERATURE * float(np.sqrt(np.sqrt(max(1.0, episodes / FEW_EPISODES))))


def _chosen(memory: FilterMemory, data: Trajectories, discounts: list[float], threads: int | None) -> Choice:
    """The learning discount whose policy, learned from one half, gains most on the other.

    The filter has seen both halves, but no action of it: that favours no discount.
    """
    half = len(data) // 2
    if len(discounts) == 1 or half < MIN_EPISODES:
        return Choice(discounts[-1], {})
    gains = discount_gains(
        memory,
        data[:half],
        data[half:],
        discounts,
        decay=trace(half),
        temperature=temperature(half),
        threads=threads,
    )
    return Choice(max(gains, key=gains.__getitem__), gains)
