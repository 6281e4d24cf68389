"""The paper's table: return and training time on S-PocMan from 500 episodes of random play."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from uqf.baselines import CPSR, POMCP, FittedQ, MemorylessQ
from uqf.evaluate import rollout
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.learner import Learner
from uqf.learn.spectral_q import SpectralQ
from uqf.learn.uqf import UQF
from uqf.paper.cells import Cell, Result
from uqf.paper.contest import Contestant, Size, choosing, replay, run_learner, score, train
from uqf.playing.iteration import policy_iteration
from uqf.policies.policy import Policy, TablePolicy
from uqf.reading.progress import Callback
from uqf.types import Raw, Record
from uqf.worlds.environments import Environment
from uqf.worlds.named import make

EXPERIMENT = "spocman"

#: What sees fewer seeds: it takes most of the hours, or is a variant of ours that takes long to choose.
SLOW = ("cpsr-fitted-q", "policy-iteration", "pomcp", "uqf-returns", "uqf-start")

LABELS = {
    "context-q": "ContextQ",
    "belief-q": "BeliefQ",
    "spectral-q": "SpectralQ",
    "uqf": "UQF",
    "uqf-returns": "UQF, returns",
    "uqf-start": "UQF, words from the first step",
    "cpsr-fitted-q": "CPSR + fitted-Q",
    "memoryless": "memoryless",
    "random": "random",
    "wall-avoiding": "random, avoids walls",
    "policy-iteration": "ContextQ, policy iteration",
    "pomcp": "POMCP (knows the simulator)",
}


SIZES = {
    "smallest": Size(
        (30,), 1, 1, 30, (1, 2), 2, 1, turns=2, simulations=4, searched=2, judge="gain",
        cut={"models": 1, "states": 4},
    ),
    "demo": Size(
        (500,), 10, 2, 2_000, (10, 50), 30, 2, turns=10, simulations=64, searched=50, judge="quick models"
    ),
    "full": Size((500,), 10, 5, 2_000, (10, 50, 100, 400), 30, 2, turns=40, simulations=1_024, searched=50),
}  # fmt: skip


def contestants(size: Size, discount: float) -> dict[str, Contestant]:
    """The learners; those without a way of their own to choose get a few settings, judged by the same models.

    The settings are two sizes of the memory by two learning discounts: at the discount of the task itself,
    0.99999, noise over a hundred steps hides what one action does. UQF also chooses how much of the past it acts on.
    """
    quick: Record = size.quick | {"discount": discount}
    final = {"iterations": max(size.rounds), "trees": size.trees}
    ranks, discounts = (5, 20), (0.5, 0.9)
    own = {"rank": ranks, "discount": discounts}
    below = {"representation__rank": ranks, "discount": discounts}
    learners: dict[str, tuple[Raw, ...]] = {
        "context-q": (ContextQ(discount),),
        "belief-q": (BeliefQ(discount, **size.cut),),
        "spectral-q": (SpectralQ(discount),),
        "uqf": (UQF(discount=discount, max_prefix=1, max_suffix=1), own | {"window": (None, 1)}),
        "uqf-returns": (UQF(discount=discount, target="return", projection="hashed", window=3), own),
        "uqf-start": (UQF(discount=discount, occurrences="start", projection="hashed", max_prefix=10), own),
        "memoryless": (MemorylessQ(discount=discount), {"k": (1, 3), "discount": discounts}),
        "cpsr-fitted-q": (FittedQ(CPSR(), **quick), below, final),
    }
    return {method: Contestant(*parts) for method, parts in learners.items()}


def wall_avoiding(env: Environment) -> TablePolicy:
    """Uniform over the moves that meet no wall, as far as the last observation shows.

    Observations have wall bits in the order N, E, S, W; actions are N, E, W, S.
    """
    observation = np.arange(env.n_observations)[:, np.newaxis]
    free = (observation >> np.array([0, 1, 3, 2]) & 1) == 0
    free[~free.any(axis=1)] = True
    # The first cell has walls to the north and to the south.
    start = np.array([[False, True, True, False]])
    allowed = np.concatenate([np.tile(free, (env.n_actions, 1)), start]).astype(np.float64)
    return TablePolicy(allowed / allowed.sum(axis=1, keepdims=True), env.n_observations)


class SPocMan:
    """The cells of one size and how to run them."""

    def __init__(self, size: str) -> None:
        self.size = SIZES[size]
        self.contestants = contestants(self.size, make("spocman").discount)

    def cells(self) -> list[Cell]:
        """The quick rows first; fitted-Q, which takes most of the time, last."""
        return [
            Cell(EXPERIMENT, method, {"world": "spocman", "scoring": self.size.scoring} | setting, seed)
            for seed in range(self.size.seeds)
            for method, setting in self._settings(seed).items()
            if seed < self.size.slow_seeds or method not in SLOW
        ]

    def _settings(self, seed: int) -> dict[str, Record]:
        size, (episodes,) = self.size, self.size.episodes
        settings: dict[str, Record] = {
            "random": {},
            "wall-avoiding": {},
            "policy-iteration": {"turns": size.turns, "episodes": episodes},
            "pomcp": {"simulations": size.simulations, "scoring": size.searched},
        }
        for method, contestant in self.contestants.items():
            settings[method] = size.choosing(episodes) | contestant.setting()
        rounds = size.rounds if seed < size.long_seeds else size.rounds[:-1]
        shortened = self._shortened(max(rounds)).setting()
        settings["cpsr-fitted-q"] |= shortened | {"rounds": list(rounds)}
        return settings

    def _shortened(self, rounds: int) -> Contestant:
        """CPSR + fitted-Q with so many rounds."""
        contestant = self.contestants["cpsr-fitted-q"]
        return replace(contestant, final={**contestant.final, "iterations": rounds})

    def work(self, cell: Cell) -> Result:
        env, setting = make("spocman"), cell.setting
        if cell.method == "cpsr-fitted-q":
            return self._fitted_q(env, cell)
        if cell.method in self.contestants:
            return run_learner(env, self.contestants[cell.method], cell)
        began = time.process_time()
        policy: Policy | None = None
        if cell.method == "wall-avoiding":
            policy = wall_avoiding(env)
        if cell.method == "policy-iteration":
            rounds: Record = {"iterations": setting["turns"], "episodes": setting["episodes"]}
            policy = policy_iteration(env, ContextQ(env.discount), seed=cell.seed, **rounds).policy
        if cell.method == "pomcp":
            # Searching at the discount of the task itself would look a hundred steps ahead of every move.
            search: Record = {"simulations": setting["simulations"], "discount": 0.95, "seed": cell.seed}
            policy = POMCP(env, rollouts="preferred", **search)
        # Only this one learns; the others have nothing to train.
        learned = cell.method == "policy-iteration"
        result: Result = {"seconds": time.process_time() - began if learned else None}
        result |= score(env, policy, episodes=setting["scoring"], seed=cell.seed)
        if learned and cell.seed == 0:
            result["replay"] = replay(env, policy, seed=cell.seed)
        return result

    def _fitted_q(self, env: Environment, cell: Cell) -> Result:
        """One long fit with all cores, looked at after 10, 50, … rounds: a shorter fit is its beginning."""
        rounds = cell.setting["rounds"]
        kept: dict[int, tuple[Policy, float]] = {}

        def watch(learner: Learner) -> Callback:
            began = time.process_time()

            def progress(stage: str, done: int, total: int) -> None:
                if stage.endswith("rounds") and done in rounds and done not in kept:
                    kept[done] = (learner.policy_, time.process_time() - began)

            return progress

        data = rollout(env, episodes=cell.setting["episodes"], seed=cell.seed)
        trained = train(self._shortened(max(rounds)), data, **choosing(cell), progress=watch)
        scores = [
            {"rounds": done, "seconds": seconds}
            | score(env, policy, episodes=cell.setting["scoring"], seed=cell.seed)
            for done, (policy, seconds) in kept.items()
        ]
        return trained.figures | {"by_rounds": scores}
