"""Rounds of play: what is kept of one, and its episodes, here or on other machines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from uqf.episodes.concatenate import concatenate
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import rollout
from uqf.policies.policy import Policy
from uqf.reading.map_reduce import Tick, map_reduce
from uqf.reading.shards import Workers
from uqf.types import Raw, Record
from uqf.worlds.world import World


@dataclass(frozen=True)
class Round:
    """One round: the return of the policy that was played, and what it took."""

    number: int
    kind: str
    mean: float
    stderr: float
    epsilon: float
    episodes: int
    seconds: float


def play_blocks(
    env: World,
    policy: Policy | None,
    *,
    episodes: int,
    first: int = 0,
    threads: int | None = None,
    executor: Workers = None,
    block: int = 256,
    **options: Raw,
) -> Trajectories:
    """What `uqf.rollout` plays, here or, in blocks of episodes, by the workers of an executor: the same bits."""
    if executor is None:
        return rollout(env, policy, episodes=episodes, first=first, threads=threads, **options)
    end = first + episodes
    blocks = [(begin, min(block, end - begin)) for begin in range(first, end, block)]
    work = partial(_play_block, env, policy, threads or 1, options)
    return map_reduce(work, blocks, _joined, executor=executor)


def _play_block(
    env: World,
    policy: Policy | None,
    threads: int,
    options: Record,
    block: tuple[int, int],
    tick: Tick | None = None,
) -> Trajectories:
    first, episodes = block
    return rollout(env, policy, first=first, episodes=episodes, threads=threads, **options)


def _joined(one: Trajectories, other: Trajectories) -> Trajectories:
    return concatenate([one, other])
