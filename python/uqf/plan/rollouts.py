"""Rollouts on other machines."""

from __future__ import annotations

from functools import partial
from typing import Any

from uqf.environments import Environment
from uqf.evaluate import rollout
from uqf.learn.map_reduce import Tick, map_reduce
from uqf.trajectories import Trajectories, concatenate

#: Episodes that a worker plays at a time. They are long enough to be worth the way, and do not change the result.
BLOCK_EPISODES = 256


def rollout_on(
    executor: Any, env: Environment, policy: Any, *, episodes: int, threads: int | None, **options: Any
) -> Trajectories:
    """`uqf.rollout` in blocks on an executor; None plays here. The bits are the same."""
    if executor is None:
        return rollout(env, policy, episodes=episodes, threads=threads, **options)
    blocks = [(first, min(BLOCK_EPISODES, episodes - first)) for first in range(0, episodes, BLOCK_EPISODES)]
    work = partial(_play, env, policy, threads or 1, options)
    return map_reduce(work, blocks, _joined, executor=executor)


def _play(
    env: Environment,
    policy: Any,
    threads: int,
    options: dict[str, Any],
    block: tuple[int, int],
    tick: Tick | None = None,
) -> Trajectories:
    first, episodes = block
    return rollout(env, policy, first=first, episodes=episodes, threads=threads, **options)


def _joined(one: Trajectories, other: Trajectories) -> Trajectories:
    return concatenate([one, other])
