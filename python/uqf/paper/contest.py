"""What both experiments do with a learner: choose, fit, score, and play one episode to look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.estimator import clone
from uqf.evaluate import estimate_return, rollout
from uqf.frames import play
from uqf.learn.choose.candidates import Settings
from uqf.learn.choose.selection import Grid, Judge, JudgeOf, by_playing, select
from uqf.learn.learner import Learner
from uqf.paper.cells import Cell, Result
from uqf.policies.policy import Policy
from uqf.reading.progress import Callback
from uqf.types import Raw, Record
from uqf.worlds.environments import Environment

#: Seeds of scoring: away from those of training data, which are small numbers.
SCORING_SEEDS = 1_000_000


@dataclass(frozen=True)
class Size:
    """How much of an experiment to run.

    What is slow sees the first `slow_seeds` seeds only. On S-PocMan fitted-Q goes through all `rounds` on the first
    `long_seeds` seeds and leaves out the most on the others.
    """

    episodes: tuple[int, ...]
    seeds: int
    slow_seeds: int
    scoring: int
    rounds: tuple[int, ...]
    trees: int = 30
    long_seeds: int = 0
    planning: int = 0
    """Iterations of PBVI."""
    turns: int = 0
    """Rounds of policy iteration."""
    simulations: int = 0
    """Of POMCP before every action."""
    searched: int = 0
    """Episodes that POMCP plays."""
    judge: str = "models"
    """How `select` judges: "gain", or by play in "models"; less of it in "quick models"."""
    cut: Record = field(default_factory=dict)
    """Parameters of BeliefQ that are cut short."""
    ranks: tuple[int, ...] = (20, 40, 80)
    """Sizes of the state that UQF chooses among."""
    words: int = 4
    """Longest prefixes and suffixes of UQF in the grid world: more data bear longer ones."""
    slow_episodes: tuple[int, ...] = ()
    """Training episodes that the slow rivals see; all by default."""
    fewer_seeds: Mapping[str, int] = field(default_factory=dict)
    """Of methods that are neither quick nor rivals."""
    last_seeds: int | None = None
    """Seeds with the most training episodes, where a cell takes a minute; all by default."""

    def seeds_of(self, method: str, episodes: int, *, slow: bool) -> int:
        """How many seeds a learner sees with so many training episodes."""
        seeds = self.last_seeds if episodes == self.episodes[-1] and self.last_seeds else self.seeds
        seeds = min(seeds, self.fewer_seeds.get(method, seeds))
        if not slow:
            return seeds
        return min(seeds, self.slow_seeds) if episodes in (self.slow_episodes or self.episodes) else 0

    @property
    def quick(self) -> Record:
        """Fitted-Q while its settings are chosen."""
        return {"iterations": min(5, *self.rounds, 5), "trees": min(10, self.trees)}

    def choosing(self, episodes: int) -> Record:
        """What a result depends on beside the learner."""
        return {
            "episodes": episodes,
            "scoring": self.scoring,
            "judge": self.judge,
        }


@dataclass(frozen=True)
class Contestant:
    """A learner, the settings that `select` may choose among, and what is set afterwards.

    `final` holds what costs time but is no choice, such as the full number of rounds of fitted-Q.
    """

    learner: Learner
    grid: Grid | Sequence[Grid] = ()
    final: Mapping[str, Raw] = field(default_factory=dict)

    def setting(self) -> Record:
        """Everything that makes this contestant what it is, in JSON types."""
        grids = [self.grid] if isinstance(self.grid, Mapping) else self.grid
        grid = [{name: list(values) for name, values in one.items()} for one in grids]
        return {"learner": " ".join(repr(self.learner).split()), "grid": grid, "final": dict(self.final)}


#: How many steps "models" and "quick models" play in each model to judge a policy, and how many episodes at most.
PLAYED = {"models": Settings(), "quick models": Settings(played_episodes=(100, 200), played_steps=20_000)}


class SharedModels:
    """Judges by play in models (`uqf.select`) and keeps the last models: learners of one log are judged alike."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._kept: tuple[object, Judge] | None = None

    def __call__(self, train: Trajectories, test: Trajectories, discount: float, seed: int) -> Judge:
        """What `by_playing` returns for these episodes."""
        key = fingerprint(test), discount, seed
        if self._kept is None or self._kept[0] != key:
            self._kept = key, by_playing(train, test, discount, seed, self.settings)
        return self._kept[1]


SHARED_MODELS = {name: SharedModels(settings) for name, settings in PLAYED.items()}


@dataclass(frozen=True)
class Trained:
    """A contestant after its training; `policy` is None (play uniformly) if the data were refused."""

    policy: Policy | None
    figures: Result


def train(
    contestant: Contestant,
    data: Trajectories,
    *,
    seed: int,
    judge: str = "models",
    progress: Callable[[Learner], Callback] | None = None,
) -> Trained:
    """Chooses by `select`, then fits once more under the clock.

    Figures: `seconds` of that fit alone, CPU seconds of all cores together; `selection_seconds`, without the models
    if another learner of the same log was judged by them before; what was `chosen`; `refused`, the reason, where the
    data allow no policy at all.
    """
    learner = clone(contestant.learner)
    if "seed" in learner.get_params():
        learner.set_params(seed=seed)
    chosen: Record = {}
    began = time.process_time()
    # Learners use all cores themselves; BLAS doing so as well made choosing ten times slower on two cores.
    with threadpool_limits(1, user_api="blas"):
        try:
            if contestant.grid:
                judging: str | JudgeOf = SHARED_MODELS.get(judge, judge)
                chosen = select(learner, data, contestant.grid, judge=judging, seed=seed).chosen
            learner.set_params(**chosen, **contestant.final)
            fitting = time.process_time()
            learner.fit(data, progress=progress and progress(learner))
        except UQFError as problem:
            return Trained(None, {"seconds": time.process_time() - began, "refused": str(problem)})
    figures: Result = {
        "seconds": time.process_time() - fitting,
        "selection_seconds": fitting - began,
        "chosen": chosen,
        "refused": None,
    }
    return Trained(learner.policy_, figures)


def run_learner(env: Environment, contestant: Contestant, cell: Cell) -> Result:
    """What a contestant makes of the data of a cell; of BeliefQ on the first seed an episode to look at."""
    data = rollout(env, episodes=cell.setting["episodes"], seed=cell.seed)
    trained = train(contestant, data, **choosing(cell))
    figures = trained.figures | score(env, trained.policy, episodes=cell.setting["scoring"], seed=cell.seed)
    if cell.method == "belief-q" and cell.seed == 0:
        figures["replay"] = replay(env, trained.policy, seed=cell.seed)
    return figures


def choosing(cell: Cell) -> Record:
    """How a learner is chosen in a cell."""
    return {"judge": cell.setting["judge"], "seed": cell.seed}


def mean_and_error(scores: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """Mean and its standard error; of a single score nobody knows an error (nan)."""
    error = np.std(scores, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
    return float(np.mean(scores)), float(error)


def score(env: Environment, policy: Policy | None, *, episodes: int, seed: int) -> Result:
    """Mean return over fresh episodes (`return`) and its standard error (`stderr`)."""
    earned = estimate_return(env, policy, episodes=episodes, seed=SCORING_SEEDS + seed)
    return {"return": earned.mean, "stderr": earned.stderr, "length": float(earned.lengths.mean())}


def replay(env: Environment, policy: Policy | None, *, seed: int) -> Result:
    """The first scoring episode as the report shows it."""
    frames = [
        {
            "picture": frame.picture,
            "q": frame.q_values and [round(value, 6) for value in frame.q_values],
            "action": frame.action,
            "reward": frame.reward,
        }
        for frame in play(env, policy, seed=SCORING_SEEDS + seed)
    ]
    return {"world": env.name, "actions": env.action_names, "frames": frames}
