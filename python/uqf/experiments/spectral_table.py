"""What the spectral learners reach, with the settings of both experiments, on seeds of your choice.

Run ``python -m uqf.experiments.spectral_table [near-100 … spocman] [--methods uqf …] [--seeds 10] [--first 0]``; every
line is a task and a method, with mean and standard error over seeds of training data.
"""

from __future__ import annotations

import argparse

import numpy as np

from uqf.evaluate import rollout
from uqf.experiments import gridworld, spocman
from uqf.experiments.contest import Contestant, mean_and_error, score, train
from uqf.experiments.policy_table import RANDOM_AND_OPTIMUM
from uqf.worlds.named import make

METHODS = ("spectral-q", "uqf", "uqf-played", "uqf-start")
EPISODES = (100, 800, 6_400)


def contestants(task: str) -> tuple[str, int, dict[str, Contestant]]:
    """(world, episodes, learners by method) of a task such as ``far-100`` or ``spocman``."""
    if task == "spocman":
        world = make("spocman")
        return "spocman", 500, spocman.contestants(spocman.SIZES["full"], world.discount)
    start, _, episodes = task.partition("-")
    world = make(f"gridworld-{start}")
    return world.name, int(episodes), gridworld.contestants(gridworld.SIZES["full"], world.discount)


def line(task: str, method: str, seeds: range) -> str:
    """The figures of a method on a task."""
    world, episodes, learners = contestants(task)
    env, results = make(world), []
    for seed in seeds:
        data = rollout(env, episodes=episodes, seed=seed)
        trained = train(learners[method], data, folds=2, seed=seed)
        results.append(trained.figures | score(env, trained.policy, episodes=2_000, seed=seed))
    returns = np.array([result["return"] for result in results])
    seconds = np.mean([result.get("cpu_seconds", np.nan) for result in results])
    mean, error = mean_and_error(returns)
    text = f"{task:10} {method:11} return {mean:8.3f} ± {error:.3f}, training {seconds:.3f} CPU s"
    if world in RANDOM_AND_OPTIMUM:
        chance, best = RANDOM_AND_OPTIMUM[world]
        text += f", normalised {(mean - chance) / (best - chance):.3f} ± {error / (best - chance):.3f}"
    return text


def main() -> None:
    """Prints the lines that were asked for."""
    tasks = [f"{start}-{episodes}" for episodes in EPISODES for start in gridworld.STARTS] + ["spocman"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", choices=[*tasks, []], default=tasks)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    for task in arguments.tasks:
        for method in arguments.methods:
            print(line(task, method, range(arguments.first, arguments.first + arguments.seeds)), flush=True)


if __name__ == "__main__":
    main()
