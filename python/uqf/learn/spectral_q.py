"""SpectralQ: the state of alternating spectral filters, and advantages that are linear in it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Self

from uqf.episodes.checks import positive
from uqf.episodes.sums import episodes_within
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.discounts import MIN_EPISODES, Halves, learning_discounts, longest_as_good
from uqf.learn.improve.regression import Regression
from uqf.learn.improve.values import improved
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.memory.filters.alternation import Filters, learned_filter
from uqf.learn.memory.filters.filter_memory import FilterMemory
from uqf.learn.memory.filters.steps import Steps
from uqf.reading.overview import Overview
from uqf.reading.parallel import single_blas
from uqf.reading.progress import Callback
from uqf.reading.reader import Reader
from uqf.reading.shards import Data, Workers


@dataclass(frozen=True)
class Choosing:
    """Settings of what is chosen on held-out episodes, and of the regressions.

    max_steps : steps that filters rest on at most
    regression : λ is nearer to 1 than on beliefs, since values are worse on this memory; a second step does harm
    ridges, min_episodes : penalties that are compared from so many episodes on either side on; fewer cannot
        distinguish them
    max_compared, max_cells : steps, and values of actions, on which anything is compared, both sides together
    """

    max_steps: int = 300_000
    regression: Regression = field(
        default_factory=lambda: Regression(bias=0.3, few_episodes=100.0, second=0.0)
    )
    ridges: tuple[float, ...] = (40.0, 160.0, 640.0)
    min_episodes: int = 150
    max_compared: int = 40_000
    max_cells: int = 4_000_000


@dataclass(frozen=True)
class Choice:
    """What was chosen on held-out episodes, and the evidence: {} where nothing was compared.

    gains : significance of the improvement by learning discount; worths : value of the policy by penalty
    """

    learning_discount: float
    ridge: float
    gains: dict[float, float]
    worths: dict[float, float]


@dataclass(eq=False, repr=False)
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
        Discount of the learned advantages, at most `discount`. By default the longest whose improvement on held-out
        episodes is about as significant as any other's: short horizons have less noise, long ones less bias.
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

    discount: float = 0.99
    _: KW_ONLY
    rank: int = 31
    rounds: int = 4
    learning_discount: float | None = None
    temperature: float | None = None
    threads: int | None = None

    def _check(self) -> None:
        positive("rank", self.rank)
        positive("rounds", self.rounds)

    def _memory(self, steps: Steps) -> FilterMemory:
        learned = learned_filter(steps, Filters(self.rank, self.rounds), self.threads)
        return FilterMemory.of(learned, steps, self.threads)

    def _fit(self, data: Data, kept: Choice | None, executor: Workers, progress: Callback | None) -> Self:
        checked_temperature(self.temperature)
        self._check()
        discounts = learning_discounts(self.discount, self.learning_discount)
        reader = Reader(data, threads=self.threads, executor=executor, progress=progress)
        choosing = Choosing()
        with single_blas():
            overview = Overview.read(reader, choosing.max_steps, seed=0)
            sample = overview.known(overview.sample)
            reader.reporter.enter("filters", sample.n_steps)
            steps = Steps.of(sample)
            memory = self._memory(steps)
            first = sample[: episodes_within(sample, choosing.regression.value_steps)]
            choice = kept or _chosen(memory, first, discounts, choosing, self.threads)
            settings = replace(choosing.regression, ridge=choice.ridge)
            softmax = improved(memory, first, overview, reader, choice.learning_discount, settings)
        temperature = softmax.temperature if self.temperature is None else self.temperature
        self.policy_ = memory.policy(softmax.weights, temperature)
        self._kept = choice
        self.diagnostics_ = {
            "learner": type(self).__name__,
            "episodes": overview.episodes,
            "steps": overview.steps,
            "steps_for_filters": sample.n_steps,
            "symbols": len(steps.alphabet),
            "rank": memory.width - 1,
            "correlations": memory.filter.values.tolist(),
            "learning_discount": choice.learning_discount,
            "learning_discount_evidence": choice.gains,
            "ridge": choice.ridge,
            "ridge_evidence": choice.worths,
            "temperature": self.policy_.temperature,
            "notes": [],
        }
        reader.reporter.finish()
        return self._keep_origin(reader.fingerprint, overview.sample)


def _chosen(
    memory: FilterMemory, data: Trajectories, discounts: list[float], choosing: Choosing, threads: int | None
) -> Choice:
    """What does best on one half of the episodes when learned from the other.

    The filter has seen both halves, but no action of it: that favours nothing.
    """
    data = data[: episodes_within(data, min(choosing.max_compared, choosing.max_cells // data.n_actions))]
    half, chosen, ridge = len(data) // 2, discounts[-1], choosing.regression.ridge
    if half < MIN_EPISODES:
        return Choice(chosen, ridge, {}, {})
    gains, worths = {}, {}
    halves = Halves(memory, data[:half], data[half:], choosing.regression, threads)
    if len(discounts) > 1:
        gains = halves.gains(discounts)
        chosen = longest_as_good(gains)
    if half >= choosing.min_episodes:
        worths = halves.worths(chosen, choosing.ridges)
        ridge = max(worths, key=worths.__getitem__)
    return Choice(chosen, ridge, gains, worths)
