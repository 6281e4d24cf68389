"""What a log cannot show, whoever learns from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf.episodes.trajectories import Trajectories
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
    """A reward that makes up more than this share of all deviations from the median decides what is learned."""


LIMITS = Limits()


def needed_steps(taken: AnyArray, bounds: Limits = LIMITS) -> float:
    """How many steps an action must have been taken in to have support, given those of all actions, (n_actions,)."""
    return float(min(bounds.steps, bounds.share * taken.mean()))


def limits(data: Trajectories, bounds: Limits = LIMITS) -> list[str]:
    """In words, what these episodes cannot show; the most serious first."""
    listed = []
    rewards, taken = data.rewards, np.bincount(data.actions, minlength=data.n_actions)
    # Where episodes end by themselves, early ones earn another sum than late ones.
    ends = data.terminated.any() and len(np.unique(data.lengths)) > 1
    if rewards.min() == rewards.max() and (rewards[0] == 0.0 or not ends):
        listed.append(f"every reward is {rewards[0]:.4g}: no action is known to be better than another")
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
    size = np.abs(rewards - np.median(rewards))
    total = float((size / (size.max() or 1.0)).sum())
    if len(data) >= bounds.episodes and size.max() > 0.0 and 1.0 / total > bounds.outlier:
        listed.append(
            f"one reward, {rewards[size.argmax()]:.4g}, outweighs all others together (their median is "
            f"{np.median(rewards):.4g}): what is learned hangs on it; is it right?"
        )
    return listed
