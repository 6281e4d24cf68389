"""What is in the log, and what a careful reader would ask about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import propensities
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.gain import Gain
from uqf.page.figures import HEIGHT, LEFT, RIGHT, WIDTH, Axis, Drawing, Panel
from uqf.reports.names import MAX_LETTERS, Names
from uqf.types import Record

#: A symbol needs about this many occurrences before what is learned of it is more than noise.
FEW_OCCURRENCES = 10


def problems(data: Trajectories, diagnostics: Record) -> list[str]:
    """Most serious first; `diagnostics` are those of the learner."""
    listed = []
    if data.behavior_probs is None:
        probs = propensities(data)
        listed.append(
            "The log has no propensities, the probabilities of the logged actions (column behavior_prob). They were "
            f"estimated from the last action and observation: {probs.min():.2g} at least, {probs.mean():.2g} on "
            "average. If the behaviour looked further back, the estimate and all that rests on it are wrong."
        )
    counts = np.bincount(data.symbols, minlength=data.n_symbols)
    seen, rare = int((counts > 0).sum()), int(((counts > 0) & (counts < FEW_OCCURRENCES)).sum())
    if rare > 0.5 * seen:
        listed.append(
            f"{rare} of {seen} symbols (an action and the observation after it) occur fewer than {FEW_OCCURRENCES} "
            "times: group rare observations."
        )
    if not data.terminated.any() and data.lengths.min() < data.lengths.max():
        listed.append(
            "No episode is marked as ended by the world, though lengths differ: is `terminated` missing?"
        )
    return listed + [str(note) for note in diagnostics.get("notes", [])]


#: Names that are listed, the others being counted together, and groups of successive episodes.
MAX_LISTED, MAX_GROUPS = 12, 40

#: (name, number of steps, share of the steps)
Count = tuple[str, int, float]


@dataclass(frozen=True)
class Log:
    """What is in a log."""

    episodes: int
    steps: int
    sampled_from: int | None
    """Episodes of the whole log, if this is a sample of it."""
    shortest: int
    mean_length: float
    longest: int
    terminated: float
    """Share of the episodes that the world ended."""
    smallest_reward: float
    largest_reward: float
    without_reward: float
    discount: float
    mean_return: float
    stderr: float
    returns: list[tuple[int, float, float]]
    """Of successive groups: the number of the last episode, the mean return, and its standard error."""
    dates: list[str]
    """Of the last episode of each group; empty if no times are known."""
    actions: list[Count]
    observations: list[Count]
    problems: list[str]

    @classmethod
    def of(
        cls,
        data: Trajectories,
        discount: float,
        problems: list[str],
        sampled_from: int | None = None,
        times: NDArray[np.datetime64] | None = None,
    ) -> Log:
        """Of some episodes, in the order of their `times`, or else in that in which they were logged."""
        returns, names = data.returns(discount), Names.of(data)
        order = np.arange(len(data)) if times is None else np.argsort(times, kind="stable")
        groups = np.array_split(order, min(MAX_GROUPS, len(data)))
        return cls(
            episodes=len(data),
            steps=data.n_steps,
            sampled_from=sampled_from,
            shortest=int(data.lengths.min()),
            mean_length=float(data.lengths.mean()),
            longest=int(data.lengths.max()),
            terminated=float(data.terminated.mean()),
            smallest_reward=float(data.rewards.min()),
            largest_reward=float(data.rewards.max()),
            without_reward=float((data.rewards == 0).mean()),
            discount=discount,
            mean_return=float(returns.mean()),
            stderr=_error(returns),
            returns=[
                (int(upto), float(returns[part].mean()), _error(returns[part]))
                for upto, part in zip(np.cumsum(list(map(len, groups))), groups, strict=True)
            ],
            dates=[] if times is None else [str(times[part[-1]].astype("datetime64[D]")) for part in groups],
            actions=_counts(data.actions, names.action),
            observations=_counts(data.observations, names.observation),
            problems=problems,
        )

    @property
    def long_names(self) -> list[str]:
        """Names that are cut somewhere on the page, whole."""
        return [name for name, *_ in self.actions + self.observations if len(name) > MAX_LETTERS]

    @property
    def bars(self) -> dict[str, list[tuple[str, list[float]]]]:
        """Shares of actions and observations."""
        return {"Actions": _bars(self.actions), "Observations": _bars(self.observations)}

    @property
    def returns_figure(self) -> Drawing:
        """Mean return of successive episodes, with a band of one standard error."""
        bands = [(float(upto), mean - error, mean + error) for upto, mean, error in self.returns]
        low, high = min(low for _, low, _ in bands), max(high for _, _, high in bands)
        margin = 0.1 * (high - low) or max(1.0, abs(high))
        panel = Panel(
            "Return over time",
            Axis(bands[0][0], max(bands[-1][0], bands[0][0] + 1), LEFT, RIGHT),
            Axis(low - margin, high + margin, HEIGHT - 50, 34),
            "" if self.dates else "episode",
            "",
        )
        if self.dates:
            # Three dates have place side by side on a phone.
            shown = sorted({0, len(bands) // 2, len(bands) - 1})
            panel.x_ticks = [bands[one][0] for one in shown]
            panel.x_names = [self.dates[one] for one in shown]
        panel.band(bands, "second")
        panel.curve([(upto, mean) for upto, mean, _ in self.returns], "second")
        return Drawing([panel], WIDTH, HEIGHT, "log-returns", "Mean return of successive episodes")


def _error(returns: FloatArray) -> float:
    """0 where a single episode shows none."""
    return Gain(returns).stderr if len(returns) > 1 else 0.0


def _bars(counts: list[Count]) -> list[tuple[str, list[float]]]:
    """(name, its share), the rest counted together."""
    rows = [(name, [share]) for name, _, share in counts[:MAX_LISTED]]
    rest = [share for _, _, share in counts[MAX_LISTED:]]
    return rows + ([(f"{len(rest):,} others", [sum(rest)])] if rest else [])


def _counts(codes: NDArray[np.int32], name: Callable[[int], str]) -> list[Count]:
    """The most frequent first."""
    counts = np.bincount(codes)
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    return [(name(code), int(counts[code]), float(counts[code] / len(codes))) for code in order]
