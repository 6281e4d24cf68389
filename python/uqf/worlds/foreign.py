"""Whatever a user plays in, as a world."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from uqf.worlds.environments import Environment
from uqf.worlds.world import PlayedWorld, World

if TYPE_CHECKING:
    import gymnasium

# Any: actions and observations are what an environment's spaces say.
WorldLike: TypeAlias = "World | gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]"
"""What `uqf.rollout` plays in: a world of the package, or an environment of Gymnasium."""


def as_world(env: WorldLike, horizon: int | None = None) -> Environment | PlayedWorld:
    """A world as it is; a Gymnasium environment as a `uqf.GymnasiumWorld`, with the same codebook every time.

    `horizon` is for environments that name none.
    """
    if isinstance(env, (Environment, PlayedWorld)):
        return env
    # Whoever has an environment of Gymnasium has imported it; nobody else should wait for it.
    gymnasium = sys.modules.get("gymnasium")
    if gymnasium is not None and isinstance(env, (gymnasium.Env, gymnasium.vector.VectorEnv)):
        from uqf.worlds.gymnasium.world import world_of

        return world_of(env, horizon)
    raise TypeError(
        f"env is a {type(env).__name__}: give uqf.make(…), uqf.load_pomdp(…), a TabularPOMDP, a uqf.GymnasiumWorld or "
        "a gymnasium.Env"
    )
