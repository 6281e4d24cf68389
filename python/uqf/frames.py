"""One episode step by step: pictures, what the policy thinks of every action, what it does and earns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from uqf.policies.policy import Policy, chooser, started
from uqf.worlds.world import World


@dataclass(frozen=True)
class Frame:
    """What there is to see before a step; the last frame of an episode has no action.

    `q_values` is None for a policy that has none, and in the last frame.
    """

    picture: str
    q_values: list[float] | None
    action: int | None
    reward: float


def play(env: World, policy: Policy | None, *, seed: int, episode: int = 0) -> Iterator[Frame]:
    """Plays one episode, that which ``rollout(env, policy, seed=seed)`` has at this number.

    A policy of None acts uniformly and has no values.
    """
    simulation = env.simulation(seed, episode)
    rng = np.random.default_rng([seed, episode])
    choose = None if policy is None else chooser(policy, env.n_actions)
    state = None if policy is None else started(policy, simulation.first)
    uniform = np.full(env.n_actions, 1.0 / env.n_actions)
    for _ in range(env.horizon):
        picture = simulation.render()
        values = (
            policy.q_values(state).tolist() if policy is not None and hasattr(policy, "q_values") else None
        )
        action = simulation.choose(uniform if choose is None else choose(state, rng))
        observation, reward, ended = simulation.step(action)
        yield Frame(picture, values, action, reward)
        if ended:
            break
        if policy is not None:
            state = policy.update(state, action, observation)
    yield Frame(simulation.render(), None, None, 0.0)
