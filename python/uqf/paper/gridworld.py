"""The paper's figure: return against the number of training episodes, from three starts."""

from __future__ import annotations

import time

from uqf.baselines import CPSR, PBVI, TPSR, FittedQ, MemorylessQ, OneStepBelief, ValueIteration
from uqf.learn.belief_q import BeliefQ
from uqf.learn.spectral_q import SpectralQ
from uqf.learn.uqf import UQF
from uqf.paper.cells import Cell, Result
from uqf.paper.contest import Contestant, Size, run_learner, score
from uqf.policies.policy import Policy
from uqf.types import Raw, Record
from uqf.worlds.named import make

EXPERIMENT = "gridworld"
STARTS = ("near", "mid", "far")

#: Learners that see fewer seeds: rivals that take most of the hours, and variants of ours that take long to choose.
SLOW = ("tpsr-fitted-q", "cpsr-fitted-q", "uqf-start")

#: What needs a model instead of data, drawn as a level line.
REFERENCES = {
    "random": "random",
    "one-step-belief": "exact belief, one step",
    "pbvi": "PBVI",
    "optimum": "fully observable optimum",
}

LABELS = {
    "belief-q": "BeliefQ",
    "spectral-q": "SpectralQ",
    "uqf": "UQF, rewards",
    "uqf-returns": "UQF, returns",
    "uqf-start": "UQF, words from the first step",
    "tpsr-fitted-q": "TPSR + fitted-Q",
    "cpsr-fitted-q": "CPSR + fitted-Q",
    "memoryless": "memoryless",
} | REFERENCES


SIZES = {
    "smallest": Size(
        (40,), 1, 1, 50, (2,), 2, planning=2, judge="gain", cut={"models": 1, "states": 4}, ranks=(2,), words=3
    ),
    "demo": Size(
        (25, 50, 100, 200, 400), 10, 2, 1_000, (10,), planning=200, judge="quick models", ranks=(5, 20), words=3,
        slow_episodes=(50, 200), fewer_seeds={"belief-q": 4},
    ),
    "full": Size(
        (100, 400, 1_600, 6_400, 25_600), 10, 2, 2_000, (20,), planning=2_000, slow_episodes=(100, 400, 1_600),
        last_seeds=3,
    ),
}  # fmt: skip


def contestants(size: Size, discount: float) -> dict[str, Contestant]:
    """The learners; all but BeliefQ and SpectralQ, which choose for themselves, choose by the same models of the log.

    UQF counts words anywhere in an episode; with returns it acts on the last three or six symbols,
    since errors of operators add up. Where words are counted from the first step they must be long, since the goal is
    far, so they are hashed rather than listed.
    Fitted-Q acts greedily, as published, and then walks in circles for ever where it mistakes the place.
    """
    quick: Record = size.quick | {"discount": discount}
    final = {"iterations": max(size.rounds), "trees": size.trees}
    ranks, discounts = (5, 20), (0.9, 0.99)
    own = {"rank": ranks, "discount": discounts}
    below = {"representation__rank": ranks, "discount": discounts}
    long_words: Record = {"prefix_dim": 300, "suffix_dim": 300, "max_prefix": 40, "max_suffix": 20}
    words: Record = {"discount": discount, "max_prefix": size.words, "max_suffix": size.words}
    shared = {"rank": size.ranks, "discount": (0.9, 0.95)}
    learners: dict[str, tuple[Raw, ...]] = {
        "belief-q": (BeliefQ(discount, **size.cut),),
        "spectral-q": (SpectralQ(discount),),
        "uqf": (UQF(**words), shared),
        "uqf-returns": (UQF(**words, target="return"), shared | {"window": (3, 6)}),
        "uqf-start": (UQF(discount=discount, occurrences="start", projection="hashed", **long_words), own),
        "tpsr-fitted-q": (FittedQ(TPSR(n_prefixes=300, n_suffixes=300), **quick), below, final),
        "cpsr-fitted-q": (FittedQ(CPSR(), **quick), below, final),
        "memoryless": (MemorylessQ(discount=discount), {"k": (1, 3), "discount": discounts}),
    }
    return {method: Contestant(*parts) for method, parts in learners.items()}


class GridWorld:
    """The cells of one size and how to run them."""

    def __init__(self, size: str) -> None:
        self.size = SIZES[size]
        self.contestants = contestants(self.size, make("gridworld-near").discount)

    def cells(self) -> list[Cell]:
        """References first, then all learners seed by seed, so that an early look sees every curve."""
        size = self.size
        planned = {"scoring": size.scoring, "planning": size.planning}
        references = [
            Cell(EXPERIMENT, method, {"world": f"gridworld-{start}", **planned}, 0)
            for start in STARTS
            for method in REFERENCES
        ]
        learners = [
            Cell(
                EXPERIMENT,
                method,
                {"world": f"gridworld-{start}", **size.choosing(episodes), **contestant.setting()},
                seed,
            )
            for seed in range(size.seeds)
            for episodes in size.episodes
            for start in STARTS
            for method, contestant in self.contestants.items()
            if seed < size.seeds_of(method, episodes, slow=method in SLOW)
        ]
        return references + learners

    def work(self, cell: Cell) -> Result:
        env = make(cell.setting["world"])
        if cell.method not in REFERENCES:
            return run_learner(env, self.contestants[cell.method], cell)
        began = time.process_time()
        policy: Policy | None = None
        if cell.method == "optimum":
            # A bound, not a policy: nobody sees the state.
            bound = ValueIteration(horizon=env.horizon).solve(env.tabular()).upper_bound_
            return {"seconds": time.process_time() - began, "return": bound, "stderr": 0.0}
        if cell.method == "one-step-belief":
            policy = OneStepBelief().solve(env.tabular()).policy_
        if cell.method == "pbvi":
            planner = PBVI(tolerance=0.01, iterations=cell.setting["planning"], seconds=600.0)
            policy = planner.solve(env.tabular()).policy_
        seconds = time.process_time() - began
        return {"seconds": seconds} | score(env, policy, episodes=cell.setting["scoring"], seed=cell.seed)
