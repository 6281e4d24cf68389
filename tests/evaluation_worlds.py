"""Logs to evaluate policies on, with the truth: ordinary worlds, attacks, and worlds drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import uqf
from random_policies import softened


@dataclass(frozen=True)
class Case:
    """Two policies to evaluate on logs that are drawn by their seed."""

    name: str
    log: Callable[[int], uqf.Trajectories]
    first: Any
    second: Any
    truth: float
    """What the first policy earns."""
    ahead: float
    """By how much the first policy earns more than the second."""
    discount: float
    fair: bool = True
    """Whether a log without propensities shows all that the actions depended on."""


@dataclass(frozen=True)
class Controller:
    """A behaviour with a memory: it acts by its node, and every symbol leads from node to node.

    probs : (nodes, actions); nodes : (nodes, symbols), the next node; node 0 is the first
    """

    probs: np.ndarray
    nodes: np.ndarray

    @classmethod
    def of_table(cls, policy):
        """The memory of a table is the last symbol."""
        after = np.arange(1, len(policy.probs))
        return cls(np.roll(policy.probs, 1, axis=0), np.tile(after, (len(policy.probs), 1)))


def played(pomdp, controller, episodes, horizon, rng, noise=lambda rng, size: 0.0):
    """Episodes of the controller, with its propensities."""
    columns = {name: [] for name in ("actions", "observations", "rewards", "behavior_probs")}
    state = rng.choice(pomdp.n_states, size=episodes, p=pomdp.start)
    node = np.zeros(episodes, int)
    for _ in range(horizon):
        action = drawn(controller.probs[node], rng)
        columns["actions"].append(action)
        columns["behavior_probs"].append(controller.probs[node, action])
        columns["rewards"].append(pomdp.rewards[action, state] + noise(rng, episodes))
        state = drawn(pomdp.transitions[action, state], rng)
        observation = drawn(pomdp.observations[action, state], rng)
        columns["observations"].append(observation)
        node = controller.nodes[node, action * pomdp.n_observations + observation]
    flat = {name: np.stack(parts, axis=1).ravel() for name, parts in columns.items()}
    return uqf.Trajectories(
        **flat,
        offsets=np.arange(episodes + 1) * horizon,
        n_actions=pomdp.n_actions,
        n_observations=pomdp.n_observations,
    )


def drawn(probs, rng):
    return (probs.cumsum(axis=1) < rng.random((len(probs), 1))).sum(axis=1).clip(max=probs.shape[1] - 1)


def exact_value(pomdp, controller, horizon, discount):
    """What the controller earns: a recursion over how probable every pair of state and node is."""
    weight = np.zeros((pomdp.n_states, len(controller.nodes)))
    weight[:, 0] = pomdp.start
    value = 0.0
    for step in range(horizon):
        acted = np.einsum("sn,na->ans", weight, controller.probs)
        value += discount**step * float(np.einsum("ans,as->", acted, pomdp.rewards))
        moved = np.einsum("ans,ast,ato->ntao", acted, pomdp.transitions, pomdp.observations)
        weight = np.zeros_like(weight)
        for node, after in enumerate(controller.nodes):
            by_symbol = moved[node].reshape(pomdp.n_states, -1)
            for symbol, reached in enumerate(after):
                weight[:, reached] += by_symbol[:, symbol]
    return value


def without_propensities(data):
    return uqf.Trajectories(**data.__getstate__() | {"behavior_probs": None})


def environment(name, share, horizon, episodes):
    """One of the package's worlds, logged at random."""
    env = uqf.make(name)
    first, second = softened(env, share), softened(env, share, seed=2)
    truth, other = (
        uqf.estimate_return(env, policy, episodes=1_000_000, horizon=horizon, seed=77).mean
        for policy in (first, second)
    )
    return Case(
        name,
        lambda seed: uqf.rollout(env, episodes=episodes, horizon=horizon, seed=52_000_000 + seed),
        first,
        second,
        truth,
        truth - other,
        env.discount,
    )


def remembered_bit(episodes=500, horizon=5, told=True):
    """The behaviour favours the action that a bit names; the log shows the bit once, at the start, or never.

    An action pays if it is the one that the bit names. The last symbol hardly tells the bit.
    """

    def log(seed):
        rng = np.random.default_rng([seed, 11])
        bit = rng.integers(2, size=(episodes, 1))
        observations = np.full((episodes, horizon), 2)
        chance = np.where(bit == 1, 0.8, 0.2) * np.ones((1, horizon))
        if told:
            observations[:, :1] = bit
            chance[:, 0] = 0.5
        actions = (rng.random((episodes, horizon)) < chance).astype(int)
        return uqf.Trajectories(
            actions.ravel(),
            observations.ravel(),
            (actions == bit).ravel() * 1.0,
            np.arange(episodes + 1) * horizon,
            n_actions=2,
            n_observations=3,
        )

    left, right = (uqf.TablePolicy(np.tile([share, 1 - share], (7, 1)), 3) for share in (0.55, 0.45))
    name = "a bit that is shown once" if told else "a bit that is never shown"
    return Case(name, log, left, right, horizon / 2, 0.0, 1.0, fair=told)


def rare_event(size, one_in, symmetric=False, noise=0.0, episodes=500, horizon=4):
    """Actions pay 0 or 1, and one episode in many pays `size` more (or as much less) at its end."""

    def log(seed):
        rng = np.random.default_rng([seed, 12])
        actions = rng.integers(2, size=(episodes, horizon))
        rewards = actions + noise * rng.normal(size=(episodes, horizon))
        sign = rng.choice([-1.0, 1.0], size=episodes) if symmetric else 1.0
        rewards[:, -1] += sign * size * (rng.random(episodes) * one_in < 1.0)
        return uqf.Trajectories(
            actions.ravel(),
            np.zeros(episodes * horizon, int),
            rewards.ravel(),
            np.arange(episodes + 1) * horizon,
            n_actions=2,
            n_observations=1,
            behavior_probs=np.full(episodes * horizon, 0.5),
        )

    # The second favours the other action at the first step and the last symbol's action afterwards alike.
    first = uqf.TablePolicy(np.array([[0.4, 0.6], [0.6, 0.4], [0.5, 0.5]]), 1)
    second = uqf.TablePolicy(np.array([[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]]), 1)
    event = 0.0 if symmetric else size / one_in
    name = f"{'±' if symmetric else '+'}{size:g} once in {one_in}" + (" with noise" if noise else "")
    return Case(name, log, first, second, horizon / 2 + event, 0.0, 1.0)


#: Ordinary worlds and attacks.
NINE = {
    "gridworld-near": lambda: environment("gridworld-near", 0.1, 25, 1000),
    "gridworld-mid": lambda: environment("gridworld-mid", 0.1, 25, 1500),
    "gridworld-hamilton": lambda: environment("gridworld-hamilton", 0.1, 25, 1000),
    "tiger": lambda: environment("tiger", 0.2, 4, 1000),
    "bit shown once": remembered_bit,
    "bit never shown": lambda: remembered_bit(told=False),
    "treasure": lambda: rare_event(1000.0, 1500),
    "symmetric treasure": lambda: rare_event(1000.0, 300, symmetric=True),
    "symmetric treasure with noise": lambda: rare_event(1000.0, 300, symmetric=True, noise=1.0),
}


def random_case(seed):
    """A world, a behaviour with or without a memory and two policies that earn the same, as a seed has them.

    The last two actions do the same: moving probability from one to the other changes nothing.
    """
    rng = np.random.default_rng([seed, 13])
    states, actions, observations = rng.integers(2, 6), rng.integers(3, 5), rng.integers(2, 5)
    horizon, episodes, hides = int(rng.integers(2, 7)), int(rng.integers(400, 1500)), bool(rng.integers(2))
    transitions = rng.dirichlet(np.full(states, 0.5), (actions, states))
    shown = rng.dirichlet(np.full(observations, 0.3), (actions, states))
    rewards = rng.normal(size=(actions, states)) * rng.choice([0.01, 1.0, 1e6])
    for part in (transitions, shown, rewards):
        part[-1] = part[-2]
    pomdp = uqf.TabularPOMDP(transitions, shown, rewards, rng.dirichlet(np.ones(states)), 0.95)
    nodes = int(rng.choice([0, 2, 3]))
    symbols = actions * observations
    if nodes:
        stays = rng.random((nodes, symbols)) < 0.5
        behavior = Controller(
            0.8 * rng.dirichlet(np.ones(actions), nodes) + 0.2 / actions,
            np.where(stays, np.arange(nodes)[:, np.newaxis], rng.integers(nodes, size=(nodes, symbols))),
        )
    else:
        table = 0.8 * rng.dirichlet(np.ones(actions), symbols + 1) + 0.2 / actions
        behavior = Controller.of_table(uqf.TablePolicy(table, observations))
    # Close enough to the behaviour for logs to tell: its mean over nodes, mixed with something else.
    own = 0.7 * behavior.probs.mean(axis=0) + 0.3 * rng.dirichlet(np.ones(actions), symbols + 1)
    # What follows must not depend on which of the two was taken.
    own[-1 - observations : -1] = own[-1 - 2 * observations : -1 - observations]
    other = own.copy()
    moved = 0.5 * own[:, -1]
    other[:, -1] -= moved
    other[:, -2] += moved
    first, second = (uqf.TablePolicy(table, observations) for table in (own, other))
    spread = float(rng.choice([0.0, 0.5])) * float(np.abs(rewards).max())

    def log(number):
        chance = np.random.default_rng([seed, number, 14])
        data = played(
            pomdp, behavior, episodes, horizon, chance, lambda rng, size: spread * rng.normal(size=size)
        )
        return without_propensities(data) if hides else data

    kind = f"{nodes or 'no'} nodes, {'hidden' if hides else 'logged'} propensities"
    truth = exact_value(pomdp, Controller.of_table(first), horizon, 0.95)
    return Case(
        f"drawn from {seed}: {kind}, {episodes} episodes of {horizon}", log, first, second, truth, 0.0, 0.95
    )
