"""Policies played in the models that `BeliefQ` learned from other episodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from uqf._core import CloneModels
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import estimate_return
from uqf.learn.choose.candidates import Settings
from uqf.learn.plan.model_world import cells_of, worlds_of
from uqf.policies.policy import Policy
from uqf.worlds.environments import TabularPOMDP


def models_to_play_in(
    families: list[CloneModels], discount: float, data: Trajectories, settings: Settings
) -> list[TabularPOMDP]:
    """Models of `BeliefQ` as worlds with episodes as long as those of `data`; none if one is too large.

    None either where some actions are not always allowed: models do not say which.
    """
    if data.allowed is not None or cells_of(families, data.n_observations) > settings.world_cells:
        return []
    return worlds_of(families, discount=discount, horizon=int(data.lengths.max()))


def earned_in(
    worlds: Sequence[TabularPOMDP], policy: Policy, seed: int, settings: Settings
) -> Iterator[float]:
    """Mean return of a policy in every world; every policy meets the same random numbers."""
    least, most = settings.played_episodes
    for world in worlds:
        episodes = min(max(least, settings.played_steps // world.horizon), most)
        yield estimate_return(world, policy, episodes=episodes, seed=seed).mean
