"""Worlds by name, each with a log of random episodes and a score for policies.

A name is that of a world of the package (``gridworld-far``), of a `.pomdp` file of the folder that is given, of
Gymnasium or POPGym (``CartPole-v1``), ``CartPole-positions``, ``tmaze-N`` with a corridor of N cells, ``cue``, or
``deep-sea-N`` of N rows, or ``unseen-N``, drawn from a seed. ``persistent-NAME`` is logged by chance that repeats its
last action; in ``noisy-NAME`` a tenth of the observations is drawn evenly. ``NAME@EPISODES`` changes how many episodes
are logged or played, ``NAME@EPISODESxSTEPS`` also how long they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import uqf
from uqf.paper.contest import SCORING_SEEDS
from uqf.types import Record
from uqf.worlds.world import World as Env

if TYPE_CHECKING:
    from uqf.worlds.gymnasium.envs import Env as GymnasiumEnv
    from uqf.worlds.gymnasium.envs import Source


@dataclass(frozen=True)
class World:
    """A world, how many random episodes of it are logged, and how policies are scored in it."""

    name: str
    make: Callable[[int], Env]
    """The world for the log of a seed: codebooks are learned from random play with that seed."""
    episodes: int = 1_000
    scored: int = 1_000
    horizon: int | None = None
    """None is the world's own."""
    weight: float | None = None
    """Discount of scores; None is the world's own."""
    source: Source | None = None
    """What makes an environment of Gymnasium; None elsewhere."""
    bounds: tuple[float, float] | None = None
    """Return of chance and of the optimum, for normalised scores."""
    repeat: float = 0.0
    """Probability with which the log repeats its last action."""

    @property
    def setting(self) -> Record:
        """What a result depends on, in JSON types."""
        shown = ("episodes", "scored", "horizon", "weight")
        return {"world": self.name} | {name: getattr(self, name) for name in shown}


@dataclass(frozen=True)
class Trial:
    """A world and a seed: the same log for every method."""

    world: World
    seed: int

    @cached_property
    def env(self) -> Env:
        """The world, with the codebook of this seed."""
        env = self.world.make(self.seed)
        env.horizon = self.world.horizon or env.horizon
        return env

    @property
    def behavior(self) -> uqf.Policy | None:
        """Who logs: chance, uniform (None) or persistent."""
        env, repeat = self.env, self.world.repeat
        return uqf.Persistent(repeat, env.n_actions, env.n_observations) if repeat else None

    @cached_property
    def data(self) -> uqf.Trajectories:
        options: Record = {"episodes": self.world.episodes, "horizon": self.world.horizon}
        return uqf.rollout(self.env, self.behavior, seed=self.seed, **options)

    def score(self, policy: uqf.Policy | None, env: Env | None = None) -> float:
        """Mean return in fresh episodes, the same for every method; None plays uniformly.

        `env` is the world with the codes that the policy knows, if they are others than those of the trial.
        """
        options: Record = {"episodes": self.world.scored, "horizon": self.world.horizon}
        options |= {"discount": self.world.weight, "seed": SCORING_SEEDS + self.seed}
        return uqf.estimate_return(env or self.env, policy, **options).mean


#: Discounted return of chance and of whoever sees the state.
BOUNDS = {
    "gridworld-near": (0.2306, 0.9368),
    "gridworld-mid": (0.1524, 0.9233),
    "gridworld-far": (0.0839, 0.8702),
}

#: Worlds of the package: (episodes, scored). The mean of 2,000 returns of Tiger is off by half a unit.
OWN = {
    "tiger": (5_000, 50_000),
    "pocman": (10_000, 2_000),
    "spocman": (500, 2_000),
    "spocman-chasing": (500, 2_000),
}

#: Worlds of Gymnasium: (episodes, longest episode, scored).
GYMNASIUM = {
    "FrozenLake-v1": (2_000, 100, 500),
    "FrozenLake8x8-v1": (2_000, 200, 500),
    "CliffWalking-v1": (500, 200, 500),
    "Taxi-v4": (400, 200, 500),
    "Blackjack-v1": (20_000, 100, 20_000),
    "CartPole-positions": (1_000, 200, 100),
    "CartPole-v1": (1_000, 200, 100),
    "MountainCar-v0": (500, 200, 100),
    "Acrobot-v1": (200, 500, 50),
}

#: Worlds of POPGym.
POPGYM = {
    "popgym-RepeatFirstEasy-v0": (1_000, 52, 200),
    "popgym-RepeatPreviousEasy-v0": (1_000, 52, 200),
    "popgym-CountRecallEasy-v0": (1_000, 52, 200),
    "popgym-HigherLowerEasy-v0": (1_000, 52, 200),
    "popgym-MultiarmedBanditEasy-v0": (500, 200, 200),
}

#: Steps of an episode of a `.pomdp` world, which has no end of its own.
POMDP_STEPS = 50


def world(name: str, folder: Path | None = None) -> World:
    """The world of a name; `.pomdp` files are looked for in the folder."""
    base, _, size = name.partition("@")
    known = _world(base, folder)
    count, _, steps = size.partition("x")
    longest = {"horizon": int(steps)} if steps else {}
    return replace(known, name=name, episodes=int(count), **longest) if count else known


def pomdp_files(folder: Path) -> list[str]:
    """Names of the worlds of a folder, those of its files without the ending."""
    files = sorted(path.stem for path in folder.iterdir() if path.suffix.lower() == ".pomdp")
    if not files:
        raise FileNotFoundError(f"{folder} has no .pomdp file")
    return files


def _world(name: str, folder: Path | None) -> World:
    if name.startswith("persistent-"):
        return replace(_world(name.removeprefix("persistent-"), folder), name=name, repeat=0.8)
    if folder is not None and name in pomdp_files(folder):
        path = next(one for one in folder.iterdir() if one.stem == name and one.suffix.lower() == ".pomdp")
        return World(name, lambda seed: uqf.load_pomdp(path), horizon=POMDP_STEPS)
    if name in (*uqf.environments(), "spocman-chasing"):
        base, _, ghosts = name.partition("-") if name == "spocman-chasing" else (name, "", "")
        episodes, scored = OWN.get(name, (800, 2_000))
        options: Record = {"ghosts": ghosts} if ghosts else {}
        return World(name, lambda seed: uqf.make(base, **options), episodes, scored, bounds=BOUNDS.get(name))
    if tmaze := re.fullmatch(r"tmaze-(\d+)", name):
        from experiments.cues import TMaze

        length = int(tmaze[1])
        return _gymnasium(name, partial(TMaze, length), 1_000, max(40, 6 * length), 400, 0.97)
    if sea := re.fullmatch(r"deep-sea-(\d+)", name):
        from experiments.deep_sea import DeepSea

        rows = int(sea[1])
        return _gymnasium(name, partial(DeepSea, rows), 10 * rows, rows, 10)
    if drawn := re.fullmatch(r"unseen-(\d+)", name):
        from experiments.unseen import unseen

        number = int(drawn[1])
        return World(name, lambda seed: unseen(number))
    if name.startswith("noisy-"):
        plain = name.removeprefix("noisy-")
        return _gymnasium(name, partial(erring, registered(plain)), *GYMNASIUM[plain])
    if name == "cue":
        from experiments.cues import Cue

        return _gymnasium(name, Cue, 600, Cue.STEPS, 400, 0.97, (0.25, 1.0))
    if name == "CartPole-positions":
        return _gymnasium(name, position_only_cart_pole, *GYMNASIUM[name])
    if re.search(r"-v\d+$", name):
        if name.startswith("popgym") and find_spec("popgym") is None:
            raise ImportError(f"{name} needs popgym: pip install 'uqf[rivals]'")
        return _gymnasium(name, registered(name), *(GYMNASIUM | POPGYM).get(name, (1_000, 200, 200)))
    raise ValueError(f"no world is called {name!r}.{(__doc__ or '').partition('.')[2]}")


def _gymnasium(
    name: str,
    source: Source,
    episodes: int,
    steps: int,
    scored: int,
    discount: float = 0.99,
    bounds: tuple[float, float] | None = None,
) -> World:
    """A world whose returns are not discounted when policies are scored."""

    def make(seed: int) -> Env:
        return uqf.GymnasiumWorld(source, horizon=steps, discount=discount, seed=seed)

    return World(name, make, episodes, scored, steps, 1.0, source, bounds)


def registered(name: str) -> str:
    """The name, or the newest version of it in an older Gymnasium, such as the one that d3rlpy asks for."""
    from gymnasium import registry

    if name.startswith("popgym"):
        import popgym  # noqa: F401  (registers its worlds)
    if name in registry:
        return name
    older = [spec for spec in registry.values() if spec.name == name.rpartition("-v")[0]]
    return max(older, key=lambda spec: spec.version or 0).id if older else name


def erring(name: str) -> GymnasiumEnv:
    """A world whose observations are numbered, a tenth of which is drawn evenly."""
    import gymnasium

    env = gymnasium.make(name, disable_env_checker=True)
    space = env.observation_space
    assert isinstance(space, gymnasium.spaces.Discrete)

    def seen(observation: int) -> int:
        chance = env.np_random
        return int(chance.integers(space.n)) if chance.random() < 0.1 else observation

    return gymnasium.wrappers.TransformObservation(env, seen, space)


def position_only_cart_pole() -> GymnasiumEnv:
    """CartPole without its two velocities."""
    import gymnasium

    env = gymnasium.make("CartPole-v1", disable_env_checker=True)
    seen, whole = [0, 2], env.observation_space
    assert isinstance(whole, gymnasium.spaces.Box)
    space = gymnasium.spaces.Box(whole.low[seen], whole.high[seen])
    return gymnasium.wrappers.TransformObservation(env, lambda observation: observation[seen], space)
