"""Is the last observation a state? A test of whether the past before it predicts anything more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray, instance, integers
from uqf.episodes.propensities import last_observations
from uqf.episodes.sums import goes_on, reward_classes, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.reading.shards import checked_data
from uqf.types import Integers, Record

IntArray = NDArray[np.int64]

#: A summary of the past matters if it is better by more than so many standard errors and by more than this share of the
#: log-likelihood.
MIN_EVIDENCE = 3.0
MIN_GAIN = 0.04

#: A summary may still matter if its gain and so many standard errors together reach the least gain.
DOUBT = 1.5

#: A summary that is better by so many standard errors, however little, leaves doubts: a policy may live on little.
CERTAIN = 3.5

#: What follows is certain, for all that matters, if its log-likelihood is nearer to 0 than this.
MIN_SURPRISE = 0.005

#: Least share of the held-out steps whose observation and action occurred in the other half: below it nothing is said.
MIN_COVERAGE = 0.5

#: The test looks at so many steps at most, and at no fewer episodes than this.
MAX_STEPS = 60_000
MIN_EPISODES = 20

#: Steps of evidence that a summary needs to weigh as much as the observation and the action alone.
PSEUDO_COUNT = 5.0

#: How often summaries are shuffled to see what they gain by chance.
SHUFFLES = 6

#: Counters up to so many are one array; of more only those that occur are numbered.
MAX_COUNTERS = 1 << 21


@dataclass(frozen=True)
class Finding:
    """How much better a summary of the past predicts an event than the last observation and the action alone."""

    summary: str
    event: str
    gain: float
    """Share of the held-out log-likelihood."""
    stderr: float

    @property
    def evidence(self) -> float:
        """The gain in standard errors."""
        return self.gain / self.stderr

    @property
    def matters(self) -> bool:
        """Whether it is large and certain."""
        return self.gain > MIN_GAIN and self.evidence > MIN_EVIDENCE

    @property
    def clear(self) -> bool:
        """Whether a gain that matters is hardly possible."""
        return self.gain + DOUBT * self.stderr < MIN_GAIN

    def __str__(self) -> str:
        sure = f"{self.evidence:.1f} standard errors"
        return f"given {self.summary}, {self.event} are predicted better by {self.gain:.1%} ({sure})"


@dataclass(frozen=True)
class MarkovTest:
    """Whether the last observation is a state, and why.

    Attributes
    ----------
    markov : bool
        True if nothing in the past was found to matter, in data that could have shown it.
    coverage : float
        Share of the held-out steps whose observation and action occurred in the other half.
    findings : tuple of Finding
        One for every summary and event, the strongest first.

    Examples
    --------
    >>> import uqf
    >>> uqf.MarkovTest(False, 0.0, ()).verdict
    'Too few episodes, or nothing ever happens: nobody can tell whether the last observation is a state.'
    """

    markov: bool
    coverage: float
    findings: tuple[Finding, ...]

    @property
    def doubted(self) -> bool:
        """Whether something in the past certainly matters, though little."""
        return any(one.evidence > CERTAIN for one in self.findings)

    @property
    def verdict(self) -> str:
        """In plain words."""
        if not self.findings:
            return "Too few episodes, or nothing ever happens: nobody can tell whether the last observation is a state."
        if self.coverage < MIN_COVERAGE:
            return (
                f"Only {self.coverage:.0%} of the held-out pairs of observation and action occur in the other half: "
                "the data cannot tell whether the last observation is a state."
            )
        strongest = self.findings[0]
        if self.markov and self.doubted:
            certain = max(self.findings, key=lambda one: one.evidence)
            return f"The last observation is nearly a state: {certain}."
        if self.markov:
            return (
                f"The last observation is a state as far as the data show. The strongest doubt: {strongest}."
            )
        if strongest.matters:
            return f"The last observation is not a state: {strongest}."
        return (
            f"Too few data to tell whether the last observation is a state. The strongest doubt: {strongest}."
        )

    def as_dict(self) -> Record:
        """Plain numbers and words, for `diagnostics_`."""
        return {"markov": self.markov, "coverage": self.coverage, "verdict": self.verdict}


def markov_test(
    data: Trajectories, *, summaries: Mapping[str, Integers] | None = None, seed: int = 0
) -> MarkovTest:
    """Does anything before the last observation predict rewards, ends or next observations?

    Laws of what follows (o, a) are counted in one half of the episodes, by (o, a) alone and by (o, a) with a summary of
    the past, and compared by the log-likelihood of the other half. What a summary gains by chance, with smoothing and
    all, is what it gains when shuffled among steps with the same (o, a); that is taken away. The trap is memory that
    none of the summaries shows: the last two symbols, the time, the first observation, what the action did last time.

    Parameters
    ----------
    data : Trajectories
        Of many episodes the first ones are looked at, up to about 60,000 steps.
    summaries : {name: integers (n_steps,)}, optional
        Further summaries of the history before every step; those of a model must come from a model that was trained on
        the first half of the episodes.
    seed : int
        Of the shuffling.

    Returns
    -------
    MarkovTest
        A verdict with its evidence.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("gridworld-near"), episodes=200, seed=0)
    >>> test = uqf.markov_test(data)
    >>> test.markov, "is not a state" in test.verdict
    (False, True)
    """
    data = checked_data(data)
    if summaries is not None:
        instance("summaries", summaries, Mapping, "integers (n_steps,) by name")
    given = {name: integers(f"summaries[{name!r}]", one, np.int64) for name, one in (summaries or {}).items()}
    for name, values in given.items():
        if len(values) != data.n_steps:
            raise ValueError(
                f"summaries[{name!r}] has {len(values)} entries: give one for each of {data.n_steps} steps"
            )
    data = data[: max(MIN_EPISODES, int(np.searchsorted(data.offsets, MAX_STEPS)))]
    given = {name: values[: data.n_steps] for name, values in given.items()}
    if len(data) < MIN_EPISODES:
        return MarkovTest(False, 0.0, ())
    cells = _numbered(last_observations(data) * data.n_actions + data.actions)
    trains = np.arange(data.n_steps) < data.offsets[len(data) // 2]
    coverage = float(np.isin(cells[~trains], cells[trains]).mean())
    shuffled = _shuffles(cells * 2 + trains, np.random.default_rng(seed))
    findings = []
    for event, happened in _events(data).items():
        alone = _law(cells, happened, trains, _law(np.zeros_like(cells), happened, trains, 0.5, 1.0), 1.0)
        for name, summary in (_summaries(data, cells) | given).items():
            finding = _compared(data, cells, _numbered(summary), happened, trains, alone, shuffled)
            findings.append(Finding(name, event, *finding))
    findings.sort(key=lambda one: (-one.matters, -one.evidence if one.gain > MIN_GAIN else -one.gain))
    clear = bool(findings) and coverage >= MIN_COVERAGE and all(one.clear for one in findings)
    markov = clear and not any(one.matters for one in findings)
    return MarkovTest(markov, coverage, tuple(findings))


def _summaries(data: Trajectories, cells: IntArray) -> dict[str, IntArray]:
    """What is remembered of the past before every step."""
    time, size = time_within(data), int(cells.max()) + 2
    one, two = (np.where(time >= back, np.roll(cells, back) + 1, 0) for back in (1, 2))
    opens = data.first_observations
    first = np.repeat(data.observations[data.offsets[:-1]] if opens is None else opens, data.lengths) + 1
    episode = np.repeat(np.arange(len(data)), data.lengths)
    alike = np.lexsort((time, data.actions, episode))
    again = np.diff(episode[alike] * data.n_actions + data.actions[alike], prepend=-1) == 0
    followed = np.zeros(data.n_steps, np.int64)
    followed[alike[again]] = 1 + _outcomes(data)[alike[np.flatnonzero(again) - 1]]
    return {
        "the last symbol": one,
        "the last two symbols": one * size + two,
        "the time": np.floor(np.log2(time + 1)).astype(np.int64),
        "the first observation": np.where((time > 0) | (opens is not None), first, 0).astype(np.int64),
        "what followed the action last time": followed,
    }


def _events(data: Trajectories) -> dict[str, IntArray]:
    """What may follow an observation and an action; events that never vary are left out."""
    events = {"next observations, rewards and ends": _outcomes(data), "rewards and ends": _pay(data)}
    return {name: _numbered(event) for name, event in events.items() if event.min() < event.max()}


def _pay(data: Trajectories) -> IntArray:
    """Reward and end of every step."""
    return np.asarray(reward_classes(data) * 2 + ~goes_on(data))


def _outcomes(data: Trajectories) -> IntArray:
    """Observation, reward and end of every step."""
    pay = _pay(data)
    return np.asarray(data.observations * (pay.max() + 1) + pay)


def _numbered(values: Integers) -> IntArray:
    """The same with small numbers: 0, 1, 2, …"""
    return np.asarray(np.unique(values, return_inverse=True)[1], np.int64)


def _counts(keys: IntArray, trains: NDArray[np.bool_], size: int) -> FloatArray:
    """How often the key of every step occurs in training steps."""
    if size > MAX_COUNTERS:
        keys = _numbered(keys)
        size = int(keys.max()) + 1
    return np.bincount(keys[trains], minlength=size)[keys].astype(np.float64)


def _law(
    keys: IntArray,
    events: IntArray,
    trains: NDArray[np.bool_],
    base: float | FloatArray,
    weight: float,
) -> FloatArray:
    """Probability of every step's event given its key, counted in training steps and drawn towards `base`."""
    n_keys, n_events = int(keys.max()) + 1, int(events.max()) + 1
    together = _counts(keys * n_events + events, trains, n_keys * n_events)
    total = weight if isinstance(base, np.ndarray) else weight * base * n_events
    return np.asarray((together + weight * base) / (_counts(keys, trains, n_keys) + total))


def _shuffles(strata: IntArray, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """(places, their order in a shuffle), each time the steps of a stratum among themselves."""
    # Small numbers are sorted in linear time.
    small = strata.astype(np.uint16) if strata.max(initial=0) < 1 << 16 else strata
    places = np.argsort(small, kind="stable")
    mixed = [rng.permutation(len(strata)) for _ in range(SHUFFLES)]
    return [(places, order[np.argsort(small[order], kind="stable")]) for order in mixed]


def _compared(
    data: Trajectories,
    cells: IntArray,
    summary: IntArray,
    events: IntArray,
    trains: NDArray[np.bool_],
    alone: FloatArray,
    shuffled: list[tuple[IntArray, IntArray]],
) -> tuple[float, float]:
    """(what the summary gains on held-out steps as a share of the log-likelihood, its standard error)."""
    size, tests = int(summary.max()) + 1, ~trains

    def score(values: IntArray) -> FloatArray:
        return np.asarray(np.log(_law(cells * size + values, events, trains, alone, PSEUDO_COUNT)[tests]))

    by_chance = []
    for places, order in shuffled:
        mixed = np.empty_like(summary)
        mixed[places] = summary[order]
        by_chance.append(score(mixed))
    more = np.mean(score(summary) - np.array(by_chance), axis=0)  # exactly 0 where shuffling changes nothing
    half = len(data) // 2
    episode = np.repeat(np.arange(len(data) - half), data.lengths[half:])
    totals = np.bincount(episode, more)
    spread = totals.var(ddof=1) * len(totals) + np.var([one.sum() for one in by_chance], ddof=1) / SHUFFLES
    all_there_is = max(-float(np.log(alone[tests]).sum()), MIN_SURPRISE * len(more))
    return float(totals.sum() / all_there_is), float(np.sqrt(spread + 1e-6) / all_there_is)
