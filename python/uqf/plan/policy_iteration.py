"""Policy iteration: play, learn, play better."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from uqf.environments import Environment
from uqf.plan.rollouts import rollout_on
from uqf.trajectories import Trajectories, concatenate

#: Temperature of the first and of the last step, in units of the spread of returns. A policy that commits
#: itself early never finds out what it misses: starting from a sharp one costs half of the final return.
FIRST_TEMPERATURE = 0.3
LAST_TEMPERATURE = 0.1

#: Streams of the rounds under one seed.
ROUND_SEEDS = 1_000_003


@dataclass(frozen=True)
class Round:
    """One round: the return of the policy that was played, and what it took."""

    number: int
    kind: str
    mean: float
    stderr: float
    epsilon: float
    episodes: int
    seconds: float


@dataclass(frozen=True)
class PolicyIteration:
    """The best policy found, what every round scored, and all that is needed to go on."""

    policy: Any
    rounds: list[Round]
    current: Any = None
    data: list[Trajectories] = field(default_factory=list, repr=False)

    @property
    def best(self) -> float:
        """Measured return of `policy`."""
        return max(r.mean for r in self.rounds if r.kind != "random" or len(self.rounds) == 1)


def policy_iteration(
    env: Environment,
    learner: Any,
    *,
    iterations: int,
    episodes: int,
    epsilon: float = 0.02,
    decay: float = 2.0,
    horizon: int | None = None,
    seed: int = 0,
    method: str = "improved",
    patience: int | None = None,
    resume: PolicyIteration | None = None,
    threads: int | None = None,
    executor: Any = None,
    progress: Callable[[Round], object] | None = None,
) -> PolicyIteration:
    """Alternates between playing and learning, `iterations` rounds of `episodes` episodes.

    method="improved": the first round plays at random. After each round, the advantages of every action, from
    that round's own episodes, are added to the values of the policy played (`learner.step`): old rounds live
    on in the values, so what was learned to be bad is not tried again. Before the last round, `learner` is
    also fitted to all episodes so far, and the last round's episodes are shared between the two policies. The
    policy whose own episodes scored best is returned, so the result is never worse than the first policy
    beyond noise. `epsilon` is the share of uniform actions while playing.

    method="paper": Algorithm 3 as written. The learner is fitted anew to each round's episodes, which are
    played ε-greedily with ε = 1, then `epsilon`, then divided by `decay` every round. Not monotone.

    Parameters
    ----------
    patience : int, optional
        Stop when so many rounds in a row brought nothing better.
    resume : PolicyIteration, optional
        Go on from an earlier result with as many rounds again.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where episodes are played, in blocks; every episode has its own luck, so the result has the same bits.
    progress : callable, optional
        Called with every finished `Round`.
    """
    for name, value in (("iterations", iterations), ("episodes", episodes)):
        if value < 1:
            raise ValueError(f"{name} = {value}: give at least 1")
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon = {epsilon}: give a probability in [0, 1]")
    if method not in ("improved", "paper"):
        raise ValueError(f"method = {method!r}: choose 'improved' or 'paper'")
    if method == "paper" and not decay > 1.0:
        raise ValueError(f"decay = {decay}: give a number above 1")
    if method == "improved" and not hasattr(learner, "step"):
        raise TypeError(f"learner is a {type(learner).__name__} without step(); use method='paper'")
    driver = _Driver(
        env, learner, iterations, episodes, epsilon, horizon, seed, patience, threads, executor, progress
    )
    return driver.as_written(decay) if method == "paper" else driver.improved(resume)


@dataclass
class _Driver:
    env: Environment
    learner: Any
    iterations: int
    episodes: int
    epsilon: float
    horizon: int | None
    seed: int
    patience: int | None
    threads: int | None
    executor: Any
    progress: Callable[[Round], object] | None
    rounds: list[Round] = field(default_factory=list)

    def improved(self, resume: PolicyIteration | None) -> PolicyIteration:
        current, data, best = None, [], (-np.inf, None)
        if resume is not None:
            self.rounds, data, current = list(resume.rounds), list(resume.data), resume.current
            best = (resume.best, resume.policy)
        first = len(self.rounds)
        for turn in range(self.iterations):
            judging = turn == self.iterations - 1 and turn > 0
            share = self.episodes - self.episodes // 2 if judging else self.episodes
            kind = "random" if current is None else "steps"
            played = self._play(current, self.epsilon if current is not None else 0.0, share, kind)
            if current is not None:
                best = max(best, (self.rounds[-1].mean, current), key=lambda pair: pair[0])
            if judging:
                fitted = clone(self.learner).fit(concatenate([*data, played])).policy_
                self._play(fitted, 0.0, max(1, self.episodes // 2), "fit")
                best = max(best, (self.rounds[-1].mean, fitted), key=lambda pair: pair[0])
            data.append(played)
            if self._stale(first):
                break
            cooling = turn / max(1, self.iterations - 2)
            temperature = FIRST_TEMPERATURE * (LAST_TEMPERATURE / FIRST_TEMPERATURE) ** min(cooling, 1.0)
            current = self.learner.step(played, current, temperature)
        # A single round has played nothing but chance: what it learned is all there is.
        policy = best[1] if best[1] is not None else clone(self.learner).fit(data[-1]).policy_
        return PolicyIteration(policy, self.rounds, current, data)

    def as_written(self, decay: float) -> PolicyIteration:
        current, epsilon, behavior = None, 1.0, None
        best: tuple[float, Any] = (-np.inf, None)
        for turn in range(self.iterations):
            played = self._play(current, epsilon if current is not None else 0.0, self.episodes, "paper")
            if current is not None:
                best = max(best, (self.rounds[-1].mean, current), key=lambda pair: pair[0])
            learner = clone(self.learner)
            if behavior is not None and "behavior" in learner.get_params():
                learner.set_params(behavior=behavior)
            current = learner.fit(played).policy_
            epsilon = self.epsilon if turn == 0 else epsilon / decay
            behavior = (current, epsilon)
        return PolicyIteration(best[1] if best[1] is not None else current, self.rounds, current)

    def _play(self, policy: Any, epsilon: float, episodes: int, kind: str) -> Trajectories:
        start = time.perf_counter()
        number = len(self.rounds)
        data = rollout_on(
            self.executor,
            self.env,
            policy,
            episodes=episodes,
            horizon=self.horizon,
            epsilon=epsilon,
            seed=(self.seed * ROUND_SEEDS + number) % 2**64,
            threads=self.threads,
        )
        returns = data.returns(self.env.discount)
        stderr = float(returns.std(ddof=1) / np.sqrt(episodes)) if episodes > 1 else float("inf")
        played = Round(number, kind, float(returns.mean()), stderr, epsilon, episodes, 0.0)
        self.rounds.append(replace(played, seconds=time.perf_counter() - start))
        if self.progress is not None:
            self.progress(self.rounds[-1])
        return data

    def _stale(self, first: int) -> bool:
        means = [r.mean for r in self.rounds[first:]]
        return self.patience is not None and len(means) - 1 - int(np.argmax(means)) >= self.patience
