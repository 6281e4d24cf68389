"""What a log cannot show, whoever learns from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.page.parts import figure
from uqf.types import AnyArray


@dataclass(frozen=True)
class Limits:
    """From where on a log shows enough to be silent about it."""

    episodes: int = 20
    """Below, gains on held-out episodes cannot be distinguished from chance."""
    steps: float = 10.0
    """An action that was taken in fewer steps has no support."""
    share: float = 0.1
    """In logs that are shorter than that, an action needs this part of an equal share of the steps."""
    outlier: float = 0.5
    """Rewards decide what is learned if they make up more than this share of all deviations from the median, and are
    fewer than the steps that an action needs."""


LIMITS = Limits()

#: Rewards that differ by less than this part of the largest differ by the rounding of sums only.
ROUNDING = 1e-14


def needed_steps(taken: AnyArray, bounds: Limits = LIMITS) -> float:
    """How many steps an action must have been taken in to have support, given those of all actions, (n_actions,)."""
    return float(min(bounds.steps, bounds.share * taken.mean()))


def limits(data: Trajectories, bounds: Limits = LIMITS) -> list[str]:
    """In words, what these episodes cannot show; the most serious first."""
    listed = []
    rewards, taken = data.rewards, np.bincount(data.actions, minlength=data.n_actions)
    # Where episodes end by themselves, early ones earn another sum than late ones.
    ends = data.terminated.any() and len(np.unique(data.lengths)) > 1
    size = np.abs(rewards - np.median(rewards))
    constant = size.max() <= ROUNDING * np.abs(rewards).max()
    if constant and (rewards[0] == 0.0 or not ends):
        listed.append(
            f"every reward is {figure(rewards[0], 4)}: no action is known to be better than another"
        )
    if np.count_nonzero(taken) == 1:
        always = int(taken.argmax())
        name = always if data.codebook is None else data.codebook.action_name(always)
        listed.append(
            f"action {name} was always taken: nothing shows what any other action would have earned"
        )
    if len(data) < bounds.episodes:
        listed.append(
            f"{len(data)} episodes: fewer than {bounds.episodes} do not tell a gain from chance, whatever is learned"
        )
    elif not constant and (few := _decisive(size, bounds)):
        reward = figure(rewards[size.argmax()], 4)
        which, it = f"one reward, {reward}, outweighs", "it: is it right?"
        if few > 1:
            which, it = f"{few} rewards, such as {reward}, outweigh", "them: are they right?"
        listed.append(
            f"{which} all others together (their median is {figure(np.median(rewards), 4)}): what is learned "
            f"hangs on {it}"
        )
    return listed


def _decisive(size: AnyArray, bounds: Limits) -> int:
    """How many of the largest deviations, (n_steps,), outweigh all others; 0 if they are no fewer than a few."""
    ordered = np.sort(size / size.max())[::-1]
    last = ordered[int(np.searchsorted(np.cumsum(ordered), bounds.outlier * ordered.sum(), "right"))]
    few = int(np.count_nonzero(ordered >= last))
    return few if few < bounds.steps else 0
