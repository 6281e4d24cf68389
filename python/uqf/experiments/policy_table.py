"""What BeliefQ reaches on every task, beside a memoryless table on the same data.

Run ``python -m uqf.experiments.policy_table TASK … [--seeds 10] [--first 0]``; every seed prints one line as it
is finished, and every task a line with mean and standard error.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uqf.evaluate import estimate_return, rollout
from uqf.experiments.contest import mean_and_error
from uqf.iteration import policy_iteration
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.learner import Learner
from uqf.policies.policy import Policy
from uqf.types import Record
from uqf.worlds.environments import Environment
from uqf.worlds.named import make

#: Discounted return of chance and of the fully observable optimum, for normalised scores.
RANDOM_AND_OPTIMUM = {
    "gridworld-near": (0.2306, 0.9368),
    "gridworld-mid": (0.1524, 0.9233),
    "gridworld-far": (0.0839, 0.8702),
}

EVALUATION_SEED = 10**9


@dataclass(frozen=True)
class Task:
    """A world, how it is learned, and how much of it is played: one fit, or rounds of policy iteration."""

    make: Callable[[], Environment]
    episodes: int
    rounds: int = 1
    scored: int = 2000
    """Fresh episodes on which a policy is scored."""


TASKS: dict[str, Task] = {
    f"{start}-{episodes}": Task(lambda start=start: make(f"gridworld-{start}"), episodes)  # type: ignore[misc]
    for episodes in (100, 800, 10_000)
    for start in ("near", "mid", "far")
} | {
    "far-iteration": Task(lambda: make("gridworld-far"), 200, 10),
    # Returns of Tiger are so noisy that the mean of 2,000 is off by half a unit.
    "tiger": Task(lambda: make("tiger"), 5000, scored=50_000),
    "spocman": Task(lambda: make("spocman"), 500),
    "spocman-iteration": Task(lambda: make("spocman"), 500, 10),
    "chasing-iteration": Task(lambda: make("spocman", ghosts="chasing"), 500, 10),
    "pocman-iteration": Task(lambda: make("pocman"), 1000, 10),
}


def learned_policy(task: Task, learner: Learner, env: Environment, seed: int) -> Policy:
    """The policy that `learner` comes to on this task; policy iteration ends with it."""
    if task.rounds == 1:
        return learner.fit(rollout(env, episodes=task.episodes, seed=seed)).policy_
    steps = learner if isinstance(learner, ContextQ) else ContextQ(env.discount)
    amount: Record = {"iterations": task.rounds, "episodes": task.episodes}
    return policy_iteration(env, steps, final=learner, seed=seed, **amount).policy


def score(env: Environment, policy: Policy | None, seed: int, episodes: int) -> float:
    """Mean return over so many fresh episodes, normalised on grid worlds."""
    mean = estimate_return(env, policy, episodes=episodes, seed=EVALUATION_SEED + seed).mean
    low, high = RANDOM_AND_OPTIMUM.get(env.name, (0.0, 1.0))
    return (mean - low) / (high - low)


def run(name: str, first: int, seeds: int) -> None:
    """One task, seed by seed."""
    task = TASKS[name]
    env = task.make()
    learners: dict[str, Callable[[int], Learner]] = {
        "BeliefQ": lambda seed: BeliefQ(env.discount, seed=seed),
        "memoryless": lambda seed: ContextQ(env.discount, depth=1),
    }
    scores: dict[str, list[float]] = {method: [] for method in learners}
    seconds: dict[str, list[float]] = {method: [] for method in learners}
    for seed in range(first, first + seeds):
        for method, learner in learners.items():
            begin = time.perf_counter()
            policy = learned_policy(task, learner(seed), env, seed)
            seconds[method].append(time.perf_counter() - begin)
            scores[method].append(score(env, policy, seed, task.scored))
        shown = ", ".join(f"{method} {values[-1]:.3f}" for method, values in scores.items())
        print(f"{name} seed {seed}: {shown}", flush=True)
    for method, values in scores.items():
        mean, stderr = mean_and_error(values)
        mean_seconds = np.mean(seconds[method])
        print(f"== {name} {method}: {mean:.3f} ± {stderr:.3f} ({seeds} seeds, {mean_seconds:.1f} s each)")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m uqf.experiments.policy_table", description=__doc__)
    parser.add_argument("tasks", nargs="+", choices=sorted(TASKS), metavar="TASK")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.tasks:
        run(name, arguments.first, arguments.seeds)


if __name__ == "__main__":
    main()
