"""One episode step by step: pictures, what the policy thinks of every action, what it does and earns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from uqf.policies.masks import given_allowed
from uqf.policies.policy import Policy, chooser, started, wants_columns
from uqf.types import Raw
from uqf.worlds.world import Simulation, World


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
    state = None if policy is None else started(policy, _seen(policy, simulation, simulation.first))
    anything = np.full(env.n_actions, 1.0 / env.n_actions)
    for _ in range(env.horizon):
        picture = simulation.render()
        values = (
            policy.q_values(state).tolist() if policy is not None and hasattr(policy, "q_values") else None
        )
        probs = anything if choose is None else choose(state, rng)
        allowed = getattr(simulation, "allowed", None)
        if allowed is not None:
            worth = None if values is None else partial(np.atleast_2d, values)
            probs = given_allowed(probs[None], allowed[None], worth, getattr(policy, "supported", None))[0]
        action = simulation.choose(probs)
        observation, reward, ended = simulation.step(action)
        yield Frame(picture, values, action, reward)
        if ended:
            break
        if policy is not None:
            state = policy.update(state, action, _seen(policy, simulation, observation))
    yield Frame(simulation.render(), None, None, 0.0)


def _seen(policy: Policy, simulation: Simulation, observation: int | None) -> Raw:
    """What was observed last as the policy takes it: its code, or its columns where they are more than the code."""
    columns = getattr(simulation, "columns", None)
    return observation if observation is None or columns is None or not wants_columns(policy) else columns
