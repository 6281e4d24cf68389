"""Acting in a world: recorded (`rollout`) or only scored (`estimate_return`)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import function, instance, probability
from uqf.episodes.sums import standard_error
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.policies.policy import Policy
from uqf.types import Record
from uqf.worlds.world import World

if TYPE_CHECKING:
    import gymnasium

# Any: actions and observations are what an environment's spaces say.
WorldLike: TypeAlias = "World | gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]"
"""What `uqf.rollout` plays in: a world of the package, or an environment of Gymnasium."""

Progress = Callable[[str, int, int], object]

#: Steps that are held at once where only the scores of episodes are kept.
STEPS = 1 << 22


def as_world(env: WorldLike, horizon: int | None = None) -> World:
    """A world as it is; a Gymnasium environment as a `uqf.GymnasiumWorld`, with the same codebook every time.

    `horizon` is for environments that name none.
    """
    if isinstance(env, World):
        return env
    # Whoever has an environment of Gymnasium has imported it; nobody else should wait for it.
    gymnasium = sys.modules.get("gymnasium")
    if gymnasium is not None and isinstance(env, (gymnasium.Env, gymnasium.vector.VectorEnv)):
        from uqf.worlds.gymnasium.given import world_of

        return world_of(env, horizon)
    raise TypeError(
        f"env is {kind_of(env)}: give uqf.make(…), uqf.load_pomdp(…), a TabularPOMDP, a uqf.GymnasiumWorld or "
        "a gymnasium.Env"
    )


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
        return float(self.returns.mean())

    @property
    def stderr(self) -> float:
        """Standard error of the mean; infinite for a single episode."""
        return standard_error(self.returns)

    def plus(self, other: Score) -> Score:
        instance("other", other, Score, "what uqf.estimate_return gives")
        return Score(
            np.concatenate([self.returns, other.returns]), np.concatenate([self.lengths, other.lengths])
        )

    def __repr__(self) -> str:
        return f"Score({self.mean:.4g} ± {self.stderr:.2g}, {len(self.returns)} episodes)"


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
        Called now and then as ``progress("episodes", done, total)``.

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
    counted = _counted(progress, episodes)
    return world.play(
        policy,
        episodes=episodes,
        horizon=horizon,
        epsilon=epsilon,
        seed=seed,
        first=first,
        threads=threads,
        progress=counted,
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
    block = max(1, STEPS // world.schedule(policy, episodes, horizon, seed)["horizon"])
    weight = world.discount if discount is None else probability("discount", discount)
    counted = _counted(progress, episodes)
    scores = []
    for first in range(0, episodes, block):
        options: Record = {"first": first, "horizon": horizon, "seed": seed, "threads": threads}
        if counted is not None:
            options["progress"] = partial(_after, counted, first)
        played = world.play(policy, episodes=min(block, episodes - first), **options)
        scores.append((played.returns(weight), played.lengths))
    returns, lengths = map(np.concatenate, zip(*scores, strict=True))
    return Score(returns, lengths)


def _after(counted: Callable[[int], object], first: int, done: int) -> object:
    return counted(first + done)


def _counted(progress: Progress | None, episodes: int) -> Callable[[int], object] | None:
    """The callback as worlds call it: with the number of episodes done."""
    if progress is None:
        return None
    function("progress", progress, "stage, done and total")
    return lambda done: progress("episodes", done, episodes)
