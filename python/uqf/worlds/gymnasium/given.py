"""Gymnasium environments that are given to `uqf.rollout` and others as they are."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import gymnasium

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import Policy
from uqf.worlds.gymnasium.envs import Env, Source
from uqf.worlds.gymnasium.world import GymnasiumWorld

#: One environment, one codebook.
_CODEBOOKS: WeakKeyDictionary[Env, Codebook] = WeakKeyDictionary()


def world_of(source: Source, horizon: int | None) -> GymnasiumWorld:
    """The world of what was given to `rollout` and others: an environment has the same codebook every time."""
    if not isinstance(source, gymnasium.Env):
        return GymnasiumWorld(source, horizon=horizon)
    world = GymnasiumWorld(source, horizon=horizon, codebook=_CODEBOOKS.get(source))
    if world.codebook is not None:
        _CODEBOOKS[source] = world.codebook
    return world


def from_gymnasium(
    gym_env: Source,
    policy: Policy | None = None,
    *,
    episodes: int,
    horizon: int | None = None,
    epsilon: float = 0.0,
    seed: int = 0,
) -> Trajectories:
    """Plays episodes in a Gymnasium environment and records them, as `uqf.rollout` does.

    `uqf.GymnasiumWorld` says how observations are coded, and that what `reset` shows becomes `first_observations`.

    Parameters
    ----------
    gym_env : str, gymnasium.Env, or a function without arguments that makes one
        Any with finitely many actions.
    policy, episodes, horizon, epsilon, seed
        As in `uqf.rollout`.

    Returns
    -------
    Trajectories
        The episodes, with `behavior_probs`.

    Raises
    ------
    TypeError
        If there are not finitely many actions, or of observations no columns can be made.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.from_gymnasium("FrozenLake-v1", episodes=10, seed=0)
    >>> data.n_actions, data.n_observations
    (4, 16)
    """
    world = world_of(gym_env, horizon)
    return world.play(policy, episodes=episodes, horizon=horizon, epsilon=epsilon, seed=seed)
