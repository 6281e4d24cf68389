"""Would a plan be better than the policy at hand? Both are played in models of episodes that taught neither.

Held-out episodes of the log say little about a policy that goes far from the log, and one model is easily wrong in just
the way that its own plan makes use of. Models of other episodes are wrong in other ways. So the episodes are cut in
halves; the plan of each half's models is played in all models of the other half, against the policy of the same half. A
plan is believed only if it wins in every single one of them, and by much more than they differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uqf import _core
from uqf.data.checks import FloatArray
from uqf.evaluate import estimate_return
from uqf.learn.belief_q import BeliefQ
from uqf.learn.model_q import ModelQ
from uqf.worlds.environments import TabularPOMDP

#: The plan must win by so many standard errors of the difference between models.
MIN_EVIDENCE = 6.0

#: And by this share of what the policy earns more than chance: small wins are found everywhere by whoever plans.
MIN_SHARE = 0.07

#: Episodes that are played in a model, by the plan and by the policy.
PLAYED = 200

#: Largest model that is played in: numbers of its transitions or observations.
MAX_CELLS = 5_000_000


@dataclass(frozen=True)
class Rehearsal:
    """What the plan earned more than the policy, in every model of either half: (models,), in units of return."""

    differences: FloatArray
    over_chance: float = 0.0
    """What the policy earned more than chance, on average over all models."""

    @property
    def evidence(self) -> float:
        """Mean difference in standard errors; 0 if there is none."""
        if len(self.differences) < 2:
            return 0.0
        stderr = self.differences.std(ddof=1) / np.sqrt(len(self.differences))
        return float(self.differences.mean() / stderr) if stderr > 0.0 else 0.0

    @property
    def convinces(self) -> bool:
        """Whether the plan won everywhere, and clearly."""
        everywhere = bool((self.differences > 0.0).all()) and self.evidence > MIN_EVIDENCE
        return everywhere and float(self.differences.mean()) > MIN_SHARE * self.over_chance

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for `diagnostics_`."""
        return {
            "models": len(self.differences),
            "won": int((self.differences > 0.0).sum()),
            "difference": float(self.differences.mean()) if len(self.differences) else 0.0,
            "evidence": self.evidence,
        }


def rehearse(plans: tuple[ModelQ, ModelQ], policies: tuple[Any, Any], horizon: int, seed: int) -> Rehearsal:
    """Plays plans and policies, each pair taught by one half of the episodes, in the models of the other half."""
    differences, over_chance = [], []
    for own, other in ((0, 1), (1, 0)):
        worlds = worlds_of(plans[other], horizon)
        if not worlds:
            return Rehearsal(np.zeros(0))
        planned, improved, chance = (
            played_in(worlds, policy, seed) for policy in (plans[own].policy_, policies[own], None)
        )
        differences.append(planned - improved)
        over_chance.append(improved - chance)
    return Rehearsal(np.concatenate(differences), float(np.concatenate(over_chance).mean()))


def played_in(worlds: list[TabularPOMDP], policy: Any, seed: int) -> FloatArray:
    """Mean return of a policy in every world; None acts by chance."""
    return np.array([estimate_return(world, policy, episodes=PLAYED, seed=seed).mean for world in worlds])


def worlds_of(learner: BeliefQ, horizon: int) -> list[TabularPOMDP]:
    """All models of a learner as worlds to play in; none if one is too large."""
    policy, worlds = learner.policy_, []
    for family in learner.families_:
        states = family.n_features // len(family) + 1
        if policy.n_actions * states * max(states, policy.n_observations) > MAX_CELLS:
            return []
        for index in range(len(family)):
            worlds.append(as_world(family, index, policy.n_observations, learner.discount, horizon))
    return worlds


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
    observations = np.zeros((n_actions, states + 1, n_observations))
    for observation, (low, high) in enumerate(model["ranges"]):
        if high - low < states:
            observations[:, low:high, observation] = 1.0
    observations[:, states, 0] = 1.0
    shown = observations.sum(axis=2, keepdims=True)
    observations = np.where(shown > 0.0, observations, 1.0) / np.where(shown > 0.0, shown, n_observations)
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
