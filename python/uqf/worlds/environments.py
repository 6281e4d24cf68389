"""Simulated worlds, and finite POMDPs from arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf import _core
from uqf.episodes.checks import doubles, seed_number, whole
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import CompiledPolicy, Policy, chooser, started
from uqf.types import Raw, Record
from uqf.worlds.world import World

#: What the core records, in its order.
RECORDED = (
    *("actions", "observations", "rewards", "behavior_probs"),
    *("offsets", "terminated", "first_observations"),
)


class Environment(World):
    """A compiled world, stateless; `simulation` starts one episode to be stepped by hand.

    `uqf.rollout` plays many at once.

    Parameters
    ----------
    world : the compiled world
        `uqf.make`, `uqf.load_pomdp` and `uqf.TabularPOMDP` give it.
    name : str
        For messages and tables.
    horizon : int
        Usual length of an episode.
    discount : float in [0, 1]
        Usual discount of returns.

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("tiger")
    >>> env.action_names
    ['listen', 'open left', 'open right']
    >>> observation, reward, terminated = env.simulation(seed=0).step(0)
    >>> reward
    -1.0
    """

    def __init__(self, world: _core.World, *, name: str, horizon: int, discount: float) -> None:
        super().__init__(
            name=name,
            horizon=horizon,
            discount=discount,
            n_actions=world.n_actions,
            n_observations=world.n_observations,
        )
        self.world = world
        self.shows_first = world.shows_first

    @property
    def action_names(self) -> list[str]:
        return self.world.action_names

    @property
    def observation_names(self) -> list[str]:
        return self.world.observation_names

    def simulation(self, seed: int = 0, episode: int = 0) -> _core.Simulation:
        return self.world.simulation(seed_number(seed), whole("episode", episode))

    def _play(
        self,
        policy: Policy | None,
        schedule: Record,
        threads: int | None,
        progress: Callable[[int], object] | None,
    ) -> Trajectories:
        """What `uqf.rollout` does; policies in Python have the random numbers that the core would give the episode."""
        sizes: Record = {"n_actions": self.n_actions, "n_observations": self.n_observations}
        if policy is None or isinstance(policy, CompiledPolicy):
            arrays = _core.rollout(self.world, policy, schedule, threads=threads, progress=progress)
            return Trajectories._trusted(**dict(zip(RECORDED, arrays, strict=True)), **sizes)
        choose = chooser(policy, self.n_actions)
        steps, ends, ended, shown = list[tuple[int, int, float, float]](), [0], [], list[Raw]()
        seed, first, epsilon = schedule["seed"], schedule["first"], schedule["epsilon"]
        for episode in range(first, first + schedule["episodes"]):
            simulation = self.simulation(seed, episode)
            rng = np.random.default_rng([seed, episode])
            state, terminated = started(policy, simulation.first), False
            while not terminated and len(steps) - ends[-1] < schedule["horizon"]:
                probs = (1.0 - epsilon) * choose(state, rng) + epsilon / self.n_actions
                action = simulation.choose(probs)
                observation, reward, terminated = simulation.step(action)
                steps.append((action, observation, reward, probs[action]))
                if not terminated:
                    state = policy.update(state, action, observation)
            ends.append(len(steps))
            ended.append(terminated)
            shown.append(simulation.first)
            if progress is not None:
                progress(episode - first + 1)
        actions, observations, rewards, probs = (np.array(part) for part in zip(*steps, strict=True))
        return Trajectories(
            actions,
            observations,
            rewards,
            ends,
            **sizes,
            behavior_probs=probs,
            terminated=ended,
            first_observations=shown if self.shows_first else None,
        )

    def tabular(self) -> TabularPOMDP:
        """The same world as arrays, for exact computation; only small worlds have them."""
        model = self.world.model()
        if model is None:
            raise ValueError(f"{self.name} has too many states to write down; only small worlds are tabular")
        return TabularPOMDP(
            **model,
            discount=self.discount,
            name=self.name,
            horizon=self.horizon,
            action_names=self.action_names,
            observation_names=self.observation_names,
        )


def _array(name: str, values: ArrayLike, dimensions: Sequence[int], shape: str) -> NDArray[np.float64]:
    array = doubles(name, values)
    if array.ndim not in dimensions:
        raise ValueError(f"{name} has shape {array.shape}: give {shape}")
    return array


class TabularPOMDP(Environment):
    """A finite POMDP given by its arrays; also an environment.

    Rows that miss 1 by up to 1e-5 are renormalised (published files do); worse ones are refused by name.

    Parameters
    ----------
    transitions : (A, S, S)
        ``transitions[a, s, s']`` = probability of s' after a in s.
    observations : (A, S, O)
        ``observations[a, s', o]`` = probability of seeing o on *arriving* in s' by a.
    rewards : (A, S), (A, S, S) or (A, S, S, O)
        Reward of action a in state s (arriving in s', seeing o).
    start : (S,)
        Distribution of the first state.
    discount : float in [0, 1]
        Usual discount of returns.
    terminal : (S,) booleans, optional
        Entering such a state ends the episode.
    first_observations : (S, O), optional
        ``first_observations[s, o]`` = probability that a start in s shows o before the first action, as the `reset`
        of Gymnasium does; by default nothing is shown.
    name : str
        For messages and tables.
    horizon : int
        Usual length of an episode.
    action_names, observation_names, state_names : sequences of str, optional
        What they are called; numbers by default.

    Raises
    ------
    ValueError
        If shapes disagree or a row is no distribution.

    Examples
    --------
    A lamp that is on or off; the action 1 switches it, and a lit lamp pays 1:

    >>> import numpy as np, uqf
    >>> stay, switch = np.eye(2), np.eye(2)[::-1]
    >>> lamp = uqf.TabularPOMDP([stay, switch], [np.eye(2)] * 2, [[0, 1], [0, 1]], [0.5, 0.5], 0.9)
    >>> lamp.n_actions, lamp.n_observations
    (2, 2)
    """

    def __init__(
        self,
        transitions: ArrayLike,
        observations: ArrayLike,
        rewards: ArrayLike,
        start: ArrayLike,
        discount: float,
        *,
        terminal: ArrayLike | None = None,
        first_observations: ArrayLike | None = None,
        name: str = "tabular",
        horizon: int = 100,
        action_names: Sequence[str] = (),
        observation_names: Sequence[str] = (),
        state_names: Sequence[str] = (),
    ) -> None:
        law = _array("transitions", transitions, (3,), "(actions, states, states)")
        shown = _array("observations", observations, (3,), "(actions, states, observations)")
        given = _array("rewards", rewards, (2, 3, 4), "(A, S), (A, S, S) or (A, S, S, O)")
        first = _array("start", start, (1,), "(states,)")
        if law.shape[1] != law.shape[2]:
            raise ValueError(
                f"transitions has shape {law.shape}: the last two lengths are the number of states"
            )
        if shown.shape[:2] != law.shape[:2]:
            raise ValueError(
                f"observations has shape {shown.shape}: transitions {law.shape} says "
                f"{law.shape[0]} actions and {law.shape[1]} states"
            )
        full = (*law.shape, shown.shape[2])
        if given.shape != full[: given.ndim]:
            raise ValueError(f"rewards has shape {given.shape}: expected {full[: given.ndim]}")
        ends = (
            np.zeros(law.shape[1], np.bool_) if terminal is None else np.ascontiguousarray(terminal, np.bool_)
        )
        opening = (
            None
            if first_observations is None
            else _array("first_observations", first_observations, (2,), "(states, observations)")
        )
        if opening is not None and opening.shape != shown.shape[1:]:
            raise ValueError(f"first_observations has shape {opening.shape}: expected {shown.shape[1:]}")
        world = _core.World.tabular(
            law,
            shown,
            given,
            first,
            ends,
            opening,
            list(action_names),
            list(observation_names),
            list(state_names),
        )
        super().__init__(world, name=name, horizon=horizon, discount=discount)
        model = world.model()
        assert model is not None
        self.transitions: NDArray[np.float64] = model["transitions"]
        self.observations: NDArray[np.float64] = model["observations"]
        self.rewards: NDArray[np.float64] = model["rewards"]
        self.start: NDArray[np.float64] = model["start"]
        self.terminal: NDArray[np.bool_] = model["terminal"]
        self.first_observations: NDArray[np.float64] | None = model["first_observations"]
        self.state_names: list[str] = model["state_names"]
        for array in model.values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def n_states(self) -> int:
        return len(self.start)

    def tabular(self) -> TabularPOMDP:
        return self

    def rewards_by_outcome(self) -> NDArray[np.float64]:
        """Rewards as (A, S, S, O), whatever form they were given in; a view, not a copy."""
        missing = (np.newaxis,) * (4 - self.rewards.ndim)
        shape = (*self.transitions.shape, self.n_observations)
        return np.broadcast_to(self.rewards[(..., *missing)], shape)

    def __reduce__(self) -> tuple[object, ...]:
        arrays = (self.transitions, self.observations, self.rewards, self.start, self.discount)
        others = {name: getattr(self, name) for name in _OTHERS}
        return partial(TabularPOMDP, **others), arrays


#: The keyword arguments of a `TabularPOMDP`, which are also its attributes.
_OTHERS = (
    "terminal",
    "first_observations",
    "name",
    "horizon",
    "action_names",
    "observation_names",
    "state_names",
)
