"""Worlds of Gymnasium and POPGym with logs of random episodes, for `uqf worlds`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import estimate_return, rollout
from uqf.experiments.contest import SCORING_SEEDS
from uqf.iteration import PolicyIteration, policy_iteration
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.policies.policy import Policy
from uqf.types import Record

if TYPE_CHECKING:
    from uqf.worlds.gymnasium.envs import Env, Source
    from uqf.worlds.gymnasium.world import GymnasiumWorld

#: Discount of the learners, since Gymnasium names none; returns are reported undiscounted.
DISCOUNT = 0.99

#: Rounds of `policy_iteration`; each plays a fifth of the episodes of the log, so that all play as many as the log has.
ROUNDS = 5


@dataclass(frozen=True)
class GymnasiumPlace:
    """A world of Gymnasium, whose returns are not discounted."""

    name: str
    episodes: int
    steps: int
    played: int = 500
    discount: float = DISCOUNT

    @property
    def source(self) -> Source:
        """What makes the environment."""
        if self.name.startswith("popgym"):
            import popgym  # noqa: F401  (registers its worlds)
        return position_only_cart_pole if self.name == POSITION_ONLY else registered(self.name)

    def world(self, seed: int) -> GymnasiumWorld:
        """With the codebook of the log of this seed, if it needs one."""
        return _world(self, seed)

    def log(self, seed: int) -> Trajectories:
        """Episodes of the uniform policy, with what `reset` shows."""
        return rollout(self.world(seed), episodes=self.episodes, seed=seed)

    def score(self, policy: Policy | None, seed: int) -> float:
        """Mean return."""
        options: Record = {"episodes": self.played, "discount": 1.0, "seed": SCORING_SEEDS + seed}
        return estimate_return(self.world(seed), policy, **options).mean

    def iterated(self, seed: int) -> PolicyIteration:
        """Rounds of playing and learning, which begin at random."""
        return policy_iteration(
            self.world(seed),
            ContextQ(self.discount),
            final=BeliefQ(self.discount, seed=seed),
            iterations=ROUNDS,
            episodes=max(1, self.episodes // 5),
            seed=seed,
        )


@cache
def _world(place: GymnasiumPlace, seed: int) -> GymnasiumWorld:
    # From the top of the package, which says what to install where Gymnasium is missing.
    from uqf import GymnasiumWorld

    return GymnasiumWorld(place.source, horizon=place.steps, discount=place.discount, seed=seed)


def registered(name: str) -> str:
    """The name, or the newest version of it in an older Gymnasium, such as the one that d3rlpy asks for."""
    from gymnasium import registry

    if name in registry:
        return name
    older = [spec for spec in registry.values() if spec.name == name.rpartition("-v")[0]]
    return max(older, key=lambda spec: spec.version or 0).id if older else name


POSITION_ONLY = "CartPole, positions only"


def position_only_cart_pole() -> Env:
    """CartPole without its two velocities."""
    import gymnasium

    env = gymnasium.make("CartPole-v1", disable_env_checker=True)
    seen, whole = [0, 2], env.observation_space
    assert isinstance(whole, gymnasium.spaces.Box)
    space = gymnasium.spaces.Box(whole.low[seen], whole.high[seen])
    return gymnasium.wrappers.TransformObservation(env, lambda observation: observation[seen], space)


GYMNASIUM = (
    GymnasiumPlace("FrozenLake-v1", 2_000, 100),
    GymnasiumPlace("FrozenLake8x8-v1", 2_000, 200),
    GymnasiumPlace("CliffWalking-v1", 500, 200),
    GymnasiumPlace("Taxi-v4", 400, 200),
    GymnasiumPlace("Blackjack-v1", 20_000, 100, played=20_000),
    GymnasiumPlace(POSITION_ONLY, 1_000, 200, played=100),
    GymnasiumPlace("CartPole-v1", 1_000, 200, played=100),
    GymnasiumPlace("MountainCar-v0", 500, 200, played=100),
    GymnasiumPlace("Acrobot-v1", 200, 500, played=50),
)

POPGYM = (
    GymnasiumPlace("popgym-RepeatFirstEasy-v0", 1_000, 52, played=200),
    GymnasiumPlace("popgym-RepeatPreviousEasy-v0", 1_000, 52, played=200),
    GymnasiumPlace("popgym-CountRecallEasy-v0", 1_000, 52, played=200),
    GymnasiumPlace("popgym-HigherLowerEasy-v0", 1_000, 52, played=200),
    GymnasiumPlace("popgym-MultiarmedBanditEasy-v0", 500, 200, played=200),
)


def gymnasium_places() -> list[GymnasiumPlace]:
    """Those of Gymnasium, and those of POPGym where it is installed."""
    return [*GYMNASIUM, *(POPGYM if find_spec("popgym") is not None else ())]
