"""Would a plan be better than the policy at hand? Both are played in models of episodes that taught neither.

Held-out episodes of the log say little about a policy that goes far from the log, and one model is easily wrong in just
the way that its own plan makes use of. Models of other episodes are wrong in other ways. So the episodes are cut in
halves; the plan of each half is played in all models of the other half, against the policy of the same half. A plan is
believed only if it wins in every single one of them, and by much more than they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.evaluate import Score, estimate_return
from uqf.learn.learner import Learner
from uqf.policies.policy import Policy, shown_by_states
from uqf.types import Record
from uqf.worlds.environments import TabularPOMDP

#: The learner of either half of some episodes, 0 or 1.
Taught = Callable[[int], Learner]

#: The plan must win by so many standard errors of the difference between models.
MIN_EVIDENCE = 6.0

#: And by this share of what the policy earns more than chance, or by a standard deviation of what it earns in an
#: episode: small wins are found everywhere by whoever plans.
MIN_SHARE = 0.07

#: And by so many standard errors of the mean return of one half of the log. Models of few episodes agree on what these
#: episodes happened to earn.
MIN_RESOLVED = 2.0

#: Models that were trained in haste are believed if the plan convinces in them, and wins by so many times what is asked
#: for. A plan that wins by less than is asked for is not worth better models: none of 16 such was believed in them.
CLEARLY = 1.5

#: Episodes that are played in a model, by the plan and by the policy, and more if they are short: about so many steps.
PLAYED = 200
MAX_PLAYED = 1_000
PLAYED_STEPS = 100_000

#: Largest model that is played in: numbers of its transitions or observations.
MAX_CELLS = 5_000_000


@dataclass(frozen=True)
class Rehearsal:
    """What the plan earned more than the policy, in every model of either half: (models,), in units of return."""

    differences: FloatArray
    over_chance: float = 0.0
    """What the policy earned more than chance, on average over all models."""
    spread: float = np.inf
    """Standard deviation of what the policy earns in an episode."""
    unsure: float = 0.0
    """Standard error of the mean return of one half of the log."""

    @property
    def mean(self) -> float:
        """What the plan earned more, on average; 0 if nothing was played."""
        return float(self.differences.mean()) if len(self.differences) else 0.0

    @property
    def evidence(self) -> float:
        """Mean difference in standard errors; 0 if there is none."""
        if len(self.differences) < 2:
            return 0.0
        stderr = self.differences.std(ddof=1) / np.sqrt(len(self.differences))
        return float(self.mean / stderr) if stderr > 0.0 else 0.0

    @property
    def asked(self) -> float:
        """By how much a plan must win."""
        return max(min(MIN_SHARE * self.over_chance, self.spread), MIN_RESOLVED * self.unsure)

    @property
    def promises(self) -> bool:
        """Whether the plan won by enough on average."""
        return len(self.differences) > 0 and self.mean > self.asked

    @property
    def convinces(self) -> bool:
        """Whether the plan won by enough, and everywhere."""
        return self.promises and bool((self.differences > 0.0).all()) and self.evidence > MIN_EVIDENCE

    @property
    def settles(self) -> bool:
        """Whether the plan convinces even in models that were trained in haste."""
        return self.convinces and self.mean > CLEARLY * self.asked

    @property
    def resolved(self) -> bool:
        """Whether the log is long enough to tell returns that differ so much from one another."""
        return self.mean > MIN_RESOLVED * self.unsure

    def as_dict(self) -> Record:
        """Plain numbers, for `diagnostics_`."""
        return {
            "models": len(self.differences),
            "won": int((self.differences > 0.0).sum()),
            "difference": self.mean,
            "evidence": self.evidence,
        }


class Stage:
    """Where plans are played against the policy that is taken otherwise.

    taken : its learner; worlds : models of either half of the episodes, to play in; unsure : standard error of the mean
    return of one half
    """

    def __init__(
        self, taken: Taught, worlds: Callable[[int], list[TabularPOMDP]], unsure: float, seed: int
    ) -> None:
        self.unsure, self.seed = unsure, seed
        self._worlds = cache(worlds)
        self._earned = cache(
            lambda own: [_played(world, taken(own).policy_, seed) for world in self._worlds(1 - own)]
        )

    def rehearse(self, plan: Taught, *, everywhere: bool = True) -> Rehearsal:
        """Plays the plan of each half in the models of the other, against the policy of the same half.

        A plan that must win `everywhere` is played no further once it lost.
        """
        differences: list[float] = []
        for own in (0, 1):
            for number in range(len(self._worlds(1 - own))):
                differences.append(self._difference(plan, own, number))
                if everywhere and differences[-1] <= 0.0:
                    return Rehearsal(np.array(differences))
        return self._rehearsal(differences)

    def glance(self, plan: Taught) -> Rehearsal:
        """The same, as long as the plan wins on average: for models that were trained in haste."""
        differences: list[float] = []
        for own in (0, 1):
            differences += [
                self._difference(plan, own, number) for number in range(len(self._worlds(1 - own)))
            ]
            if np.mean(differences) <= 0.0:
                return Rehearsal(np.array(differences))
        return self._rehearsal(differences)

    def _difference(self, plan: Taught, own: int, number: int) -> float:
        """What the plan of a half earns more than its policy in one of the models of the other half."""
        played = _played(self._worlds(1 - own)[number], plan(own).policy_, self.seed)
        return played.mean - self._earned(own)[number].mean

    def _rehearsal(self, differences: list[float]) -> Rehearsal:
        return Rehearsal(np.array(differences), self._over_chance, self._spread, self.unsure)

    @cached_property
    def _over_chance(self) -> float:
        """What the policy earned more than chance, on average over all models."""
        worlds = [world for own in (0, 1) for world in self._worlds(1 - own)]
        earned = [score.mean for own in (0, 1) for score in self._earned(own)]
        return float(np.mean(earned - played_in(worlds, None, self.seed)))

    @cached_property
    def _spread(self) -> float:
        """Standard deviation of what the policy earns in an episode."""
        return float(np.sqrt(np.mean([score.returns.var() for own in (0, 1) for score in self._earned(own)])))


def played_in(worlds: list[TabularPOMDP], policy: Policy | None, seed: int) -> FloatArray:
    """Mean return of a policy in every world; None acts by chance."""
    return np.array([_played(world, policy, seed).mean for world in worlds])


def _played(world: TabularPOMDP, policy: Policy | None, seed: int) -> Score:
    episodes = min(max(PLAYED, PLAYED_STEPS // world.horizon), MAX_PLAYED)
    return estimate_return(world, policy, episodes=episodes, seed=seed)


def playable(families: Sequence[_core.CloneModels], n_observations: int) -> bool:
    """Whether all of these models are small enough to be played in."""
    largest = 1 + max(family.n_features // len(family) for family in families)
    return len(families[0].filters()["kinds"]) * largest * max(largest, n_observations) <= MAX_CELLS


def worlds_of(
    families: Sequence[_core.CloneModels], n_observations: int, discount: float, horizon: int
) -> list[TabularPOMDP]:
    """All models of some families as worlds to play in; none if one is too large."""
    if not playable(families, n_observations):
        return []
    return [
        as_world(family, index, n_observations, discount, horizon)
        for family in families
        for index in range(len(family))
    ]


def as_world(
    family: _core.CloneModels, index: int, n_observations: int, discount: float, horizon: int
) -> TabularPOMDP:
    """One model as a world to play in; one more state is the end."""
    model, kinds = family.model(index), family.filters()["kinds"]
    ends, rewards = (model[name].astype(np.float64)[kinds] for name in ("ends", "rewards"))
    known = model["transitions"].astype(np.float64)[kinds]
    n_actions, states = ends.shape
    transitions = np.zeros((n_actions, states + 1, states + 1))
    # A state in which an action was never seen to lead anywhere is an end.
    totals = known.sum(axis=2, keepdims=True)
    going = (
        np.divide(known, totals, out=np.zeros_like(known), where=totals > 0.0)
        * (1.0 - ends)[:, :, np.newaxis]
    )
    transitions[:, :states, :states] = going
    transitions[:, :states, states] = 1.0 - going.sum(axis=2)
    transitions[:, states, states] = 1.0
    (shown, *_) = shown_by_states(family.cut(index, index + 1).filters())
    never = (shown == 1.0).all(axis=1)  # nothing is known of these observations
    observations = np.zeros((n_actions, states + 1, n_observations))
    observations[:, :states] = np.where(never[:, np.newaxis], 0.0, shown).T
    observations[:, states, 0] = 1.0
    total = observations.sum(axis=2, keepdims=True)
    observations = np.where(total > 0.0, observations, 1.0) / np.where(total > 0.0, total, n_observations)
    start = np.append(model["start"].astype(np.float64), 0.0)
    return TabularPOMDP(
        np.maximum(transitions, 0.0),
        observations,
        np.concatenate([rewards, np.zeros((n_actions, 1))], axis=1),
        start / start.sum(),
        discount,
        terminal=np.arange(states + 1) == states,
        horizon=horizon,
    )
