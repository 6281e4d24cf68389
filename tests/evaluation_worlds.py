"""Logs to evaluate policies on, with the truth: ordinary worlds, attacks, and worlds drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gamma

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
    """Whether what no log shows is as an answer may suppose: no hidden reasons, and no events too rare to be seen."""
    return_range: tuple[float, float] | None = None
    """What an episode can earn, if there are bounds."""


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
        return_range=(-100.0 * horizon, 10.0 * horizon) if name == "tiger" else (0.0, 1.0),
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
    return Case(name, log, left, right, horizon / 2, 0.0, 1.0, told, (0.0, horizon))


def one_step_apart(name, ends, mean, episodes=500, horizon=4, **options):
    """Actions pay 0 or 1, and every episode ends with `ends(rng, episodes)` more, which has this mean."""

    def log(seed):
        rng = np.random.default_rng([seed, 12])
        actions = rng.integers(2, size=(episodes, horizon))
        rewards = actions.astype(float)
        rewards[:, -1] += ends(rng, episodes)
        return from_columns(actions, rewards, np.full((episodes, horizon), 0.5))

    # The second favours the other action at the first step and the last symbol's action afterwards alike.
    first = uqf.TablePolicy(np.array([[0.4, 0.6], [0.6, 0.4], [0.5, 0.5]]), 1)
    second = uqf.TablePolicy(np.array([[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]]), 1)
    return Case(name, log, first, second, horizon / 2 + mean, 0.0, 1.0, **options)


def from_columns(actions, rewards, probs, **options):
    """A log of equal episodes that show nothing, from tables of episodes and steps."""
    return uqf.Trajectories(
        actions.ravel(),
        np.zeros(actions.size, int),
        rewards.ravel(),
        np.arange(len(actions) + 1) * actions.shape[1],
        n_actions=2,
        n_observations=1,
        behavior_probs=probs.ravel(),
        **options,
    )


def rare_event(size, one_in, symmetric=False, noise=0.0, episodes=500):
    """One episode in many pays `size` more, or as much less: too rare for the log to be relied on."""

    def ends(rng, count):
        sign = rng.choice([-1.0, 1.0], size=count) if symmetric else 1.0
        return sign * size * (rng.random(count) * one_in < 1.0) + noise * rng.normal(size=count)

    name = f"{'±' if symmetric else '+'}{size:g} once in {one_in}" + (" with noise" if noise else "")
    # The normal distribution has no bounds; these are so far out that nobody will see it.
    reach = 10.0 * noise
    bounds = (min(0.0, size, -size * symmetric) - reach, 4.0 + max(0.0, size) + reach)
    return one_step_apart(
        name, ends, 0.0 if symmetric else size / one_in, episodes, fair=False, return_range=bounds
    )


def truncated(name, stops, marked=False, episodes=500, horizon=6, truth=None, **options):
    """Rewards are 1 with a probability that an episode keeps and nobody sees; recording stops as `stops` says.

    stops : (rng, quality (episodes,), rewards (episodes, horizon)) -> probability of stopping after each step; where it
    is `marked`, it is the world that ends the episode
    """

    def log(seed):
        rng = np.random.default_rng([seed, 15])
        actions = rng.integers(2, size=(episodes, horizon))
        quality = rng.choice([0.2, 0.8], size=(episodes, 1))
        rewards = (rng.random((episodes, horizon)) < quality) * 1.0
        stopped = rng.random((episodes, horizon)) < stops(quality, rewards)
        stopped[:, -1] = True
        lengths = stopped.argmax(axis=1) + 1
        kept = np.arange(horizon) < lengths[:, np.newaxis]
        return uqf.Trajectories(
            actions[kept],
            np.zeros(kept.sum(), int),
            rewards[kept],
            np.concatenate([[0], np.cumsum(lengths)]),
            n_actions=2,
            n_observations=1,
            behavior_probs=np.full(kept.sum(), 0.5),
            terminated=(lengths < horizon) if marked else None,
        )

    even = uqf.TablePolicy(np.full((3, 2), 0.5), 1)
    uneven = uqf.TablePolicy(np.tile([0.6, 0.4], (3, 1)), 1)
    value = horizon / 2 if truth is None else truth
    return Case(name, log, even, uneven, value, 0.0, 1.0, return_range=(0.0, horizon), **options)


def misreported(name, chances, logged=0.5, episodes=500, horizon=8, honest=False):
    """Action 1 pays 1 and is taken with probability `chances(last action, time, part of the log)`; `logged` otherwise.

    The policies take either action with the same frequency in the long run, and earn the same.
    """

    def log(seed):
        rng = np.random.default_rng([seed, 16])
        actions, probs = np.empty((2, episodes, horizon))
        last = rng.integers(2, size=episodes)
        for step in range(horizon):
            chance = chances(last, step / horizon, np.arange(episodes) / episodes) * np.ones(episodes)
            last = (rng.random(episodes) < chance).astype(int)
            actions[:, step] = last
            probs[:, step] = np.where(last == 1, chance, 1.0 - chance) if honest else logged
        return from_columns(actions.astype(int), actions, probs)

    first = uqf.TablePolicy(np.array([[0.4, 0.6], [0.6, 0.4], [0.5, 0.5]]), 1)
    second = uqf.TablePolicy(np.full((3, 2), 0.5), 1)
    return Case(name, log, first, second, horizon / 2, 0.0, 1.0, return_range=(0.0, horizon))


#: Ordinary worlds.
ORDINARY = {
    "gridworld-near": lambda: environment("gridworld-near", 0.1, 25, 1000),
    "gridworld-mid": lambda: environment("gridworld-mid", 0.1, 25, 1500),
    "gridworld-hamilton": lambda: environment("gridworld-hamilton", 0.1, 25, 1000),
    "tiger": lambda: environment("tiger", 0.2, 4, 1000),
}

#: What makes evaluations lie.
ATTACKS = {
    "bit shown once": remembered_bit,
    "bit never shown": lambda: remembered_bit(told=False),
    "treasure": lambda: rare_event(1000.0, 1500),
    "symmetric treasure": lambda: rare_event(1000.0, 300, symmetric=True),
    "symmetric treasure with noise": lambda: rare_event(1000.0, 300, symmetric=True, noise=1.0),
    "loss": lambda: rare_event(-200.0, 500, noise=1.0),
    "pareto 1.5": lambda: one_step_apart("pareto 1.5", lambda rng, size: rng.pareto(1.5, size), 2.0),
    "pareto 2.1": lambda: one_step_apart("pareto 2.1", lambda rng, size: rng.pareto(2.1, size), 1 / 1.1),
    "lognormal 2": lambda: one_step_apart(
        "lognormal 2", lambda rng, size: rng.lognormal(0.0, 2.0, size), np.exp(2.0)
    ),
    "ends that are not marked": lambda: truncated(
        "ends that are not marked", lambda _, rewards: 0.6 * rewards, horizon=3, truth=None, fair=False
    ),
    "recording stops in bad episodes": lambda: truncated(
        "recording stops in bad episodes", lambda quality, _: np.where(quality < 0.5, 0.4, 0.02), fair=False
    ),
    "recording stops after losses": lambda: truncated(
        "recording stops after losses", lambda _, rewards: np.where(rewards == 0.0, 0.3, 0.05)
    ),
    "recording stops at random": lambda: truncated("recording stops at random", lambda _, __: 0.1),
    "actions repeat": lambda: misreported("actions repeat", lambda last, *_: 0.2 + 0.6 * last),
    "actions drift": lambda: misreported("actions drift", lambda _, __, part: 0.25 + 0.5 * part),
    "actions drift in episodes": lambda: misreported(
        "actions drift in episodes", lambda _, time, __: 0.25 + 0.5 * time
    ),
    "actions repeat, and that is logged": lambda: misreported(
        "actions repeat, and that is logged", lambda last, *_: 0.4 + 0.2 * last, honest=True
    ),
}
WORLDS = ORDINARY | ATTACKS


def drawn_family(seed):
    """An end of episodes from a family that had no part in making the rules, with parameters from the seed."""
    rng = np.random.default_rng([seed, 17])
    a, b, episodes = rng.uniform(0.2, 1.0), rng.uniform(2.2, 6.0), int(rng.integers(300, 2000))
    sign, scale = rng.choice([-1.0, 1.0]), 10.0 ** rng.uniform(-2, 2)
    families = {
        "gamma": (lambda r, n: r.gamma(a, size=n), a),
        "Weibull": (lambda r, n: r.weibull(0.4 + a / 2, n), gamma(1 + 1 / (0.4 + a / 2))),
        "inverse gamma": (lambda r, n: 1 / r.gamma(b, size=n), 1 / (b - 1)),
        "Student": (lambda r, n: r.standard_t(b, n), 0.0),
        "F": (lambda r, n: r.f(4, 2 * b, n), b / (b - 1)),
        "compound Poisson": (lambda r, n: r.gamma(np.maximum(r.poisson(a, n), 1e-9)), a),
        "two outcomes": (lambda r, n: 1.0 * (r.random(n) < a / 3), a / 3),
        "a second mode": (lambda r, n: r.normal(size=n) + 10 * b * (r.random(n) < 0.1), b),
        "lognormal": (lambda r, n: r.lognormal(0, 0.6 + a, n), np.exp((0.6 + a) ** 2 / 2)),
        "Pareto": (lambda r, n: r.pareto(b / 1.4, n), 1 / (b / 1.4 - 1)),
        "beta": (lambda r, n: r.beta(a / 3, b, n), a / (a + 3 * b)),
        "Laplace": (lambda r, n: r.laplace(size=n), 0.0),
    }
    name = sorted(families)[seed % len(families)]
    draw, mean = families[name]
    words = f"drawn from {seed}: {name} ({a:.2f}, {b:.2f}), {episodes} episodes"
    ends = sorted([0.0, sign * scale])
    bounds = (ends[0], 4.0 + ends[1]) if name in ("two outcomes", "beta") else None
    return one_step_apart(
        words, lambda r, n: sign * scale * draw(r, n), sign * scale * mean, episodes, return_range=bounds
    )


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
    name = f"drawn from {seed}: {kind}, {episodes} episodes of {horizon}"
    # Nobody will see noise beyond ten standard deviations.
    most = horizon * (float(np.abs(rewards).max()) + 10.0 * spread)
    return Case(name, log, first, second, truth, 0.0, 0.95, return_range=(-most, most))
