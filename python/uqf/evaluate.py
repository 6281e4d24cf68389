"""Acting in a world: recorded (`rollout`) or only scored (`estimate_return`)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import CompiledPolicy, Policy, chooser, started
from uqf.types import Record
from uqf.worlds.environments import Environment
from uqf.worlds.foreign import WorldLike, as_world
from uqf.worlds.world import World

Progress = Callable[[int], object]


@dataclass(frozen=True)
class Score:
    """Returns of a policy over fresh episodes.

    Attributes
    ----------
    returns : floats, shape (episodes,)
        Discounted return of every episode.
    lengths : integers, shape (episodes,)
        Steps of every episode.

    Examples
    --------
    >>> import numpy as np, uqf
    >>> uqf.Score(np.array([1.0, 2.0, 3.0]), np.array([5, 5, 4]))
    Score(2 ± 0.58, 3 episodes)
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Mean discounted return."""
        return float(self.returns.mean())

    @property
    def stderr(self) -> float:
        """Standard error of the mean; infinite for a single episode."""
        count = len(self.returns)
        return float(self.returns.std(ddof=1) / np.sqrt(count)) if count > 1 else float("inf")

    def __repr__(self) -> str:
        return f"Score({self.mean:.4g} ± {self.stderr:.2g}, {len(self.returns)} episodes)"


class Step(NamedTuple):
    """One step of an episode played by a Python policy."""

    episode: int
    action: int
    observation: int
    reward: float
    behavior_prob: float
    terminated: bool
    first: int | None


def _checked(
    env: World,
    policy: Policy | None,
    episodes: int,
    horizon: int | None,
    seed: int,
    epsilon: float = 0.0,
    first: int = 0,
) -> Record:
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"seed = {seed!r}: give an integer from 0 to 2**64 - 1")
    for name in ("n_actions", "n_observations"):
        promised = getattr(policy, name, None)
        if isinstance(promised, int) and promised != getattr(env, name):
            raise ValueError(f"policy has {name} = {promised}, but {env.name} has {getattr(env, name)}")
    length = env.horizon if horizon is None else operator.index(horizon)
    if episodes < 1:
        raise ValueError(f"episodes = {episodes}: give at least one")
    if length < 1:
        raise ValueError(f"horizon = {horizon}: give at least one step")
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon = {epsilon}: give a probability in [0, 1]")
    if first < 0:
        raise ValueError(f"first = {first}: give 0 or more")
    return {"episodes": operator.index(episodes), "horizon": length, "seed": int(seed)}


def rollout(
    env: WorldLike,
    policy: Policy | None = None,
    *,
    episodes: int,
    horizon: int | None = None,
    epsilon: float = 0.0,
    seed: int = 0,
    first: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Trajectories:
    """Plays episodes and records them, with the probability of every action taken.

    Parameters
    ----------
    env : Environment, `uqf.GymnasiumWorld` or gymnasium.Env
        The world. Those of Gymnasium play in one thread.
    policy : None (uniform), a compiled policy, or any object with the policy protocol
        The last kind calls Python at every step and uses one thread.
    episodes : int
        How many.
    horizon : int, optional
        Longest episode; the environment's own by default.
    epsilon : float in [0, 1]
        With this probability a uniform action replaces the policy's own, at each step.
    seed : int
        The same seed gives the same bits, with any number of threads.
    first : int
        Number of the first episode: episodes 0 … 99 can be played at once, or 0 … 49 here and 50 … 99 elsewhere.
    threads : int, optional
        All cores by default.
    progress : callable, optional
        Called now and then with the number of episodes done.

    Returns
    -------
    Trajectories
        The episodes, with `behavior_probs`, and with `first_observations` in worlds that show something first.

    Raises
    ------
    ValueError
        If a number is out of range, or the policy is for another number of actions or observations.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=3, seed=0)
    >>> len(data), data.n_steps
    (3, 60)
    """
    world = as_world(env, horizon)
    schedule = _checked(world, policy, episodes, horizon, seed, epsilon, first) | {
        "first": operator.index(first)
    }
    if not isinstance(world, Environment):
        return world.play(policy, epsilon=float(epsilon), progress=progress, **schedule)
    if policy is None or isinstance(policy, CompiledPolicy):
        *arrays, shown = _core.rollout(
            world.world, policy, epsilon=float(epsilon), threads=threads, progress=progress, **schedule
        )
        return Trajectories._trusted(*arrays, world.n_actions, world.n_observations, None, shown)
    steps = list(_play(world, policy, epsilon=epsilon, progress=progress, **schedule))
    lengths = np.bincount([step.episode - first for step in steps])
    ends = np.cumsum(lengths)
    return Trajectories(
        np.array([step.action for step in steps]),
        np.array([step.observation for step in steps]),
        np.array([step.reward for step in steps]),
        np.concatenate([[0], ends]),
        n_actions=world.n_actions,
        n_observations=world.n_observations,
        behavior_probs=np.array([step.behavior_prob for step in steps]),
        terminated=np.array([steps[end - 1].terminated for end in ends]),
        first_observations=[steps[end - 1].first for end in ends] if world.shows_first else None,
    )


def estimate_return(
    env: WorldLike,
    policy: Policy | None,
    *,
    episodes: int,
    horizon: int | None = None,
    discount: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Score:
    """Mean discounted return of a policy over fresh episodes; the first reward is not discounted.

    Parameters
    ----------
    env, policy, episodes, horizon, seed, threads, progress
        As in `rollout`; the policy None is the uniform one.
    discount : float, optional
        The world's own by default, 0.99 for a gymnasium.Env.

    Returns
    -------
    Score
        `mean`, `stderr`, and the returns and lengths of all episodes.

    Raises
    ------
    ValueError
        As `rollout`.

    Examples
    --------
    >>> import uqf
    >>> score = uqf.estimate_return(uqf.make("tiger"), None, episodes=500, seed=0)
    >>> score.mean < -300  # opening doors at random is expensive
    True
    """
    world = as_world(env, horizon)
    schedule = _checked(world, policy, episodes, horizon, seed)
    weight = world.discount if discount is None else float(discount)
    if not 0.0 <= weight <= 1.0:
        raise ValueError(f"discount = {discount}: give a number in [0, 1]")
    if not isinstance(world, Environment):
        played = world.play(policy, epsilon=0.0, first=0, progress=progress, **schedule)
        return Score(played.returns(weight), played.lengths)
    if policy is None or isinstance(policy, CompiledPolicy):
        return Score(
            *_core.returns(
                world.world, policy, discount=weight, threads=threads, progress=progress, **schedule
            )
        )
    returns = np.zeros(schedule["episodes"])
    lengths = np.zeros(schedule["episodes"], np.int64)
    for step in _play(world, policy, epsilon=0.0, first=0, progress=progress, **schedule):
        returns[step.episode] += weight ** lengths[step.episode] * step.reward
        lengths[step.episode] += 1
    return Score(returns, lengths)


def _play(
    env: Environment,
    policy: Policy,
    *,
    episodes: int,
    horizon: int,
    epsilon: float,
    seed: int,
    first: int,
    progress: Progress | None,
) -> Iterator[Step]:
    """Episodes of a Python policy, with the random numbers the core would give the same episode."""
    choose = chooser(policy, env.n_actions)
    for episode in range(first, first + episodes):
        simulation = env.simulation(seed, episode)
        rng = np.random.default_rng([seed, episode])
        state = started(policy, simulation.first)
        for _ in range(horizon):
            probs = (1.0 - epsilon) * choose(state, rng) + epsilon / env.n_actions
            action = simulation.choose(probs)
            observation, reward, terminated = simulation.step(action)
            yield Step(episode, action, observation, reward, probs[action], terminated, simulation.first)
            if terminated:
                break
            state = policy.update(state, action, observation)
        if progress is not None:
            progress(episode - first + 1)
