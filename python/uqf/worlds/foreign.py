"""Whatever a user plays in, as a world."""

from __future__ import annotations

import sys
from typing import Any

from uqf.worlds.environments import Environment
from uqf.worlds.world import PlayedWorld


def as_world(env: Any, horizon: int | None = None) -> Environment | PlayedWorld:
    """A world as it is; a Gymnasium environment as a `uqf.GymnasiumWorld`, with the same codebook every time.

    `horizon` is for environments that name none.
    """
    if isinstance(env, (Environment, PlayedWorld)):
        return env
    # Whoever has an environment of Gymnasium has imported it; nobody else should wait for it.
    gymnasium = sys.modules.get("gymnasium")
    if gymnasium is not None and isinstance(env, (gymnasium.Env, gymnasium.vector.VectorEnv)):
        from uqf.worlds.gymnasium import world_of

        return world_of(env, horizon)
    raise TypeError(
        f"env is a {type(env).__name__}: give uqf.make(…), uqf.load_pomdp(…), a TabularPOMDP, a uqf.GymnasiumWorld or "
        "a gymnasium.Env"
    )
