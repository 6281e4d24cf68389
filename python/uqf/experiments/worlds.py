"""Worlds that others wrote: the front door beside the tables that people would pick instead, from random logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone

from uqf.baselines import PBVI, MemorylessQ
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import estimate_return, rollout
from uqf.experiments.contest import SCORING_SEEDS, mean_and_error
from uqf.experiments.gymnasium_places import GymnasiumPlace, gymnasium_places
from uqf.iteration import PolicyIteration
from uqf.learn.choose.fit import fit
from uqf.learn.context_q import ContextQ
from uqf.learn.learner import Learner
from uqf.policies.policy import Policy
from uqf.worlds.environments import TabularPOMDP
from uqf.worlds.pomdp_file import load_pomdp

#: Episodes and steps of a log of a `.pomdp` world, and episodes that score a policy.
LOGGED, STEPS, PLAYED = 1_000, 50, 1_000

#: Seconds that PBVI has for planning with the model in hand.
PLANNING = 20.0

#: The rival that plays itself, for as many steps as `policy_iteration`.
RECURRENT_PPO = "RecurrentPPO, online"


class Place(Protocol):
    """A world with a log of random episodes and a score for policies."""

    @property
    def name(self) -> str:
        """How it is called in tables."""

    @property
    def discount(self) -> float:
        """Of the learners."""

    def log(self, seed: int) -> Trajectories:
        """Episodes of the uniform policy."""

    def score(self, policy: Policy | None, seed: int) -> float:
        """Mean return of a policy (None: uniform)."""


@runtime_checkable
class Player(Protocol):
    """Somebody who learned from raw observations, and plays with them."""

    def score_in(self, place: GymnasiumPlace, seed: int) -> float:
        """Mean return in the episodes that the place plays."""


@dataclass(frozen=True)
class PomdpPlace:
    """A `.pomdp` file, whose returns are discounted as it says."""

    name: str
    world: TabularPOMDP

    @property
    def discount(self) -> float:
        """That of the file."""
        return self.world.discount

    def log(self, seed: int) -> Trajectories:
        """Episodes of the uniform policy."""
        return rollout(self.world, episodes=LOGGED, horizon=STEPS, seed=seed)

    def score(self, policy: Policy | None, seed: int) -> float:
        """Mean return."""
        return estimate_return(
            self.world, policy, episodes=PLAYED, horizon=STEPS, seed=SCORING_SEEDS + seed
        ).mean


def places(folder: Path | None) -> list[Place]:
    """The `.pomdp` files of a folder, or the worlds of Gymnasium and POPGym."""
    if folder is None:
        return list(gymnasium_places())
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".pomdp")
    if not files:
        raise FileNotFoundError(f"{folder} has no .pomdp file")
    return [PomdpPlace(path.stem, load_pomdp(path)) for path in files]


@dataclass(frozen=True)
class Result:
    """What a method earned in a world from the log of one seed."""

    world: str
    method: str
    seed: int
    score: float
    seconds: float
    """CPU time of learning."""
    learner: str = ""
    """The learner that the front door chose."""


def contest(place: Place, seeds: range, online: bool = False, rivals: bool = False) -> Iterator[Result]:
    """Every method on the log of every seed; chance and, if the model is known, PBVI are played as well.

    `online` adds `policy_iteration`, which plays as many episodes as the log has, in worlds of Gymnasium.
    `rivals` adds learners of others there: d3rlpy's on the same log, and with `online` RecurrentPPO for as many steps.
    """
    planned = None
    if isinstance(place, PomdpPlace) and place.discount < 1.0:
        planned = PBVI(seconds=PLANNING).solve(place.world).policy_
    tables = {
        "memoryless Monte Carlo": MemorylessQ(discount=place.discount),
        "memoryless Q-learning": MemorylessQ(target="q-learning", discount=place.discount),
        "ContextQ": ContextQ(place.discount),
    }
    for seed in seeds:
        data = place.log(seed)
        methods: dict[str, Callable[..., Learner | Policy | PolicyIteration | Player | None]]
        methods = {"chance": lambda: None}
        methods |= {method: partial(_taught, table, data) for method, table in tables.items()}
        methods["uqf.fit"] = partial(fit, data, discount=place.discount, seed=seed)
        if planned is not None:
            methods["PBVI, given the model"] = partial(_known, planned)
        if online and isinstance(place, GymnasiumPlace):
            methods["policy_iteration, online"] = partial(place.iterated, seed)
        if rivals and isinstance(place, GymnasiumPlace):
            methods |= _rivals(place, seed, online)
        steps = 0
        for method, learn in methods.items():
            begin = time.process_time()
            found = learn(steps) if method == RECURRENT_PPO else learn()
            seconds = time.process_time() - begin
            if isinstance(found, PolicyIteration):
                steps, found = sum(part.n_steps for part in found.data), found.policy
            if isinstance(found, Player):
                assert isinstance(place, GymnasiumPlace)
                earned = found.score_in(place, seed)
            else:
                earned = place.score(found.policy_ if isinstance(found, Learner) else found, seed)
            learner = type(found).__name__ if method == "uqf.fit" else ""
            yield Result(place.name, method, seed, earned, seconds, learner)


def _rivals(place: GymnasiumPlace, seed: int, online: bool) -> dict[str, Callable[..., Player]]:
    missing = [name for name in ("gymnasium", "d3rlpy", "sb3_contrib") if find_spec(name) is None]
    if missing:
        raise ImportError(f"the rivals need {', '.join(missing)}: pip install 'uqf[rivals]'")
    from uqf.experiments.recurrent_ppo import recurrent_ppo
    from uqf.experiments.rival_settings import SETTINGS
    from uqf.experiments.rivals import RawLog, offline

    log, setting = RawLog.of(place, seed), SETTINGS[place.name]
    found: dict[str, Callable[..., Player]] = {
        "DiscreteCQL": partial(offline, log, setting),
        "behaviour cloning": partial(offline, log, setting, cloning=True),
    }
    return found | ({RECURRENT_PPO: partial(recurrent_ppo, place, seed)} if online else {})


def _taught(learner: Learner, data: Trajectories) -> Learner:
    fitted: Learner = clone(learner).fit(data)
    return fitted


def _known(policy: Policy) -> Policy:
    return policy


def summary(results: list[Result]) -> dict[str, dict[str, tuple[float, float, float]]]:
    """(mean, standard error, mean CPU seconds) by world and method."""
    found: dict[str, dict[str, list[Result]]] = {}
    for result in results:
        found.setdefault(result.world, {}).setdefault(result.method, []).append(result)
    return {
        world: {
            method: (
                *mean_and_error([one.score for one in same]),
                float(np.mean([one.seconds for one in same])),
            )
            for method, same in methods.items()
        }
        for world, methods in found.items()
    }
