"""Worlds that others wrote: the front door beside the tables that people would pick instead, from random logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sklearn.base import clone

from uqf.baselines import PBVI, MemorylessQ
from uqf.data.trajectories import Trajectories
from uqf.evaluate import estimate_return, rollout
from uqf.experiments.contest import SCORING_SEEDS, mean_and_error
from uqf.learn.context_q import ContextQ
from uqf.learn.fit import fit
from uqf.worlds.environments import TabularPOMDP
from uqf.worlds.pomdp_file import load_pomdp

#: Discount of the learners on worlds of Gymnasium, which name none; returns are reported undiscounted.
DISCOUNT = 0.99

#: Episodes and steps of a log of a `.pomdp` world, and episodes that score a policy.
LOGGED, STEPS, PLAYED = 1_000, 50, 1_000

#: Seconds that PBVI has for planning with the model in hand.
PLANNING = 20.0


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

    def score(self, policy: Any, seed: int) -> float:
        """Mean return of a policy (None: uniform)."""


@dataclass(frozen=True)
class GymnasiumPlace:
    """A world of Gymnasium, whose returns are not discounted."""

    name: str
    episodes: int
    steps: int
    played: int = 500
    discount: float = DISCOUNT

    def log(self, seed: int) -> Trajectories:
        """Episodes of the uniform policy, with what `reset` shows."""
        return self._play(None, self.episodes, seed)

    def score(self, policy: Any, seed: int) -> float:
        """Mean return."""
        return float(self._play(policy, self.played, SCORING_SEEDS + seed).returns(1.0).mean())

    def _play(self, policy: Any, episodes: int, seed: int) -> Trajectories:
        # From the top of the package, which says what to install where Gymnasium is missing.
        from uqf import from_gymnasium

        return from_gymnasium(_made(self.name), policy, episodes=episodes, horizon=self.steps, seed=seed)


def _made(name: str) -> Any:
    import gymnasium

    return gymnasium.make(name)


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

    def score(self, policy: Any, seed: int) -> float:
        """Mean return."""
        return estimate_return(
            self.world, policy, episodes=PLAYED, horizon=STEPS, seed=SCORING_SEEDS + seed
        ).mean


GYMNASIUM = (
    GymnasiumPlace("FrozenLake-v1", 2_000, 100),
    GymnasiumPlace("FrozenLake8x8-v1", 2_000, 200),
    GymnasiumPlace("CliffWalking-v1", 500, 200),
    GymnasiumPlace("Taxi-v4", 400, 200),
    GymnasiumPlace("Blackjack-v1", 20_000, 100, played=20_000),
)


def places(folder: Path | None) -> list[Place]:
    """The `.pomdp` files of a folder, or the worlds of Gymnasium."""
    if folder is None:
        return list(GYMNASIUM)
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
    learner: str = ""
    """The learner that the front door chose."""


def contest(place: Place, seeds: range) -> Iterator[Result]:
    """Every method on the log of every seed; chance and, if the model is known, PBVI are played as well."""
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
        yield Result(place.name, "chance", seed, place.score(None, seed))
        for method, table in tables.items():
            yield Result(place.name, method, seed, place.score(clone(table).fit(data).policy_, seed))
        chosen = fit(data, discount=place.discount, seed=seed)
        earned = place.score(chosen.policy_, seed)
        yield Result(place.name, "uqf.fit", seed, earned, type(chosen).__name__)
        if planned is not None:
            yield Result(place.name, "PBVI, given the model", seed, place.score(planned, seed))


def summary(results: list[Result]) -> dict[str, dict[str, tuple[float, float]]]:
    """(mean, standard error) by world and method."""
    found: dict[str, dict[str, list[float]]] = {}
    for result in results:
        found.setdefault(result.world, {}).setdefault(result.method, []).append(result.score)
    return {
        world: {method: mean_and_error(scores) for method, scores in methods.items()}
        for world, methods in found.items()
    }
