"""Methods by name: what each of them makes of a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol

import uqf
from experiments.worlds import Trial, World
from uqf.baselines import PBVI, MemorylessQ
from uqf.learn.learner import Learner
from uqf.paper import gridworld, spocman
from uqf.paper.contest import train
from uqf.worlds.environments import Environment

#: Seconds that PBVI has for planning with the model in hand.
PLANNING = 20.0


class Player(Protocol):
    """Somebody who learned from raw observations, and plays with them."""

    def score_in(self, trial: Trial) -> float:
        """Mean return in the episodes that `trial.score` plays."""


Learned = Learner | uqf.Policy | uqf.PolicyIteration | uqf.Played | Player | None


@dataclass(frozen=True)
class Method:
    """`learn` has the log of the trial, or plays as many episodes in its world; None is chance."""

    learn: Callable[[Trial], Learned]
    plays: bool = False
    suits: Callable[[World], bool] = lambda world: True
    """Worlds where it can be tried."""


def offline(learner: Callable[[float, int], Learner]) -> Method:
    """A learner, made of discount and seed, that is fitted to the log."""
    return Method(lambda trial: learner(trial.env.discount, trial.seed).fit(trial.data))


def iterated(rounds: int, final: Callable[[float, int], Learner]) -> Method:
    """Policy iteration with `ContextQ` that plays as many episodes as the log would have; `final` learns from all."""

    def learn(trial: Trial) -> uqf.PolicyIteration:
        return uqf.policy_iteration(
            trial.env,
            uqf.ContextQ(trial.env.discount),
            final=final(trial.env.discount, trial.seed),
            iterations=rounds,
            episodes=max(1, trial.world.episodes // rounds),
            seed=trial.seed,
        )

    return Method(learn, plays=True)


def of_paper(method: str) -> Method:
    """A learner of the paper's experiments with its settings there; `select` chooses among them."""

    def learn(trial: Trial) -> Learned:
        paper = spocman if trial.world.name.startswith("spocman") else gridworld
        contestant = paper.contestants(paper.SIZES["full"], trial.env.discount)[method]
        return train(contestant, trial.data, seed=trial.seed).policy

    own = ("gridworld", "spocman")
    return Method(learn, suits=lambda world: world.name.startswith(own))


@cache
def planned(world: World) -> uqf.Policy:
    """What PBVI finds with the model in hand."""
    env = world.make(0)
    assert isinstance(env, Environment)
    policy: uqf.Policy = PBVI(seconds=PLANNING).solve(env.tabular()).policy_
    return policy


def _has_model(world: World) -> bool:
    return world.source is None and world.make(0).discount < 1.0


def cloning(trial: Trial, *, conservative: bool) -> Player:
    """DiscreteCQL or behaviour cloning of d3rlpy with the settings of the world."""
    from experiments.deep_offline import RawLog, learned
    from experiments.rival_settings import SETTINGS, Setting

    setting = SETTINGS.get(trial.world.name.partition("@")[0], Setting())
    return learned(RawLog.of(trial), setting, cloning=not conservative)


def recurrent_ppo(trial: Trial) -> Player:
    """RecurrentPPO of sb3-contrib."""
    from experiments.recurrent_ppo import played

    return played(trial)


def _in_gymnasium(world: World) -> bool:
    return world.source is not None


METHODS = {
    "chance": Method(lambda trial: None),
    "memoryless Monte Carlo": offline(lambda discount, seed: MemorylessQ(discount=discount)),
    "memoryless Q-learning": offline(
        lambda discount, seed: MemorylessQ(target="q-learning", discount=discount)
    ),
    "memoryless": offline(lambda discount, seed: uqf.ContextQ(discount, depth=1)),
    "ContextQ": offline(lambda discount, seed: uqf.ContextQ(discount)),
    "SpectralQ": offline(lambda discount, seed: uqf.SpectralQ(discount)),
    "BeliefQ": offline(lambda discount, seed: uqf.BeliefQ(discount, seed=seed)),
    "SummaryQ": offline(lambda discount, seed: uqf.SummaryQ(discount, seed=seed)),
    "TableQ": offline(lambda discount, seed: uqf.TableQ(discount)),
    "ModelQ": offline(lambda discount, seed: uqf.ModelQ(discount, seed=seed)),
    "uqf.fit": Method(lambda trial: uqf.fit(trial.data, discount=trial.env.discount, seed=trial.seed)),
    "PBVI, given the model": Method(lambda trial: planned(trial.world), plays=True, suits=_has_model),
    "UQF, chosen from data": of_paper("uqf"),
    "UQF, words from the first step": of_paper("uqf-start"),
    "uqf.play": Method(
        lambda trial: uqf.play(trial.env, episodes=trial.world.episodes, seed=trial.seed), plays=True
    ),
    "policy_iteration": iterated(5, lambda discount, seed: uqf.BeliefQ(discount, seed=seed)),
    "policy_iteration, 10 rounds": iterated(10, lambda discount, seed: uqf.BeliefQ(discount, seed=seed)),
    "policy_iteration, 10 rounds, memoryless": iterated(
        10, lambda discount, seed: uqf.ContextQ(discount, depth=1)
    ),
    "DiscreteCQL": Method(partial(cloning, conservative=True), suits=_in_gymnasium),
    "behaviour cloning": Method(partial(cloning, conservative=False), suits=_in_gymnasium),
    "RecurrentPPO": Method(recurrent_ppo, plays=True, suits=_in_gymnasium),
}
