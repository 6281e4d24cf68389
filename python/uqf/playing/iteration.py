"""Policy iteration: play, learn, play better."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from uqf.curves import Curve
from uqf.episodes.checks import instance, one_of, positive, probability
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.estimator import clone
from uqf.evaluate import WorldLike, as_world
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.fit import fit
from uqf.learn.context_q import ContextQ
from uqf.learn.learner import Learner
from uqf.learn.uqf import UQF
from uqf.playing.game import Game
from uqf.playing.rounds import Round
from uqf.policies.policy import BeliefPolicy, CompiledPolicy, ContextPolicy, Policy
from uqf.reading.progress import Callback, Reporter
from uqf.reading.shards import Workers


@dataclass(frozen=True)
class PolicyIteration(Curve):
    """The policy, what every round scored (`to_frame()`, `plot()`), and all that is needed to go on.

    Attributes
    ----------
    policy : Policy
        The best one, or the last one of ``method="paper"``.
    rounds : list of Round
        Return, ε, episodes and seconds of every round.
    current : Policy
        What the next round would play.
    data : list of Trajectories
        The episodes of the rounds.

    Examples
    --------
    >>> import uqf
    >>> result = uqf.policy_iteration(uqf.make("tiger"), uqf.ContextQ(0.95), iterations=3, episodes=100)
    >>> result.rounds[0].kind
    'random'
    """

    policy: Policy
    rounds: list[Round]
    current: Policy | None = None
    data: list[Trajectories] = field(default_factory=list, repr=False)

    @property
    def best(self) -> float:
        """The highest return of a round that was not random play."""
        return max(r.mean for r in self.rounds if r.kind != "random" or len(self.rounds) == 1)


def policy_iteration(
    env: WorldLike,
    learner: Learner | str = "auto",
    *,
    iterations: int,
    episodes: int,
    start: ContextPolicy | BeliefPolicy | None = None,
    epsilon: float | None = None,
    final: Learner | None = None,
    horizon: int | None = None,
    seed: int = 0,
    method: str = "improved",
    resume: PolicyIteration | None = None,
    threads: int | None = None,
    executor: Workers = None,
    progress: Callback | None = None,
) -> PolicyIteration:
    """Alternates between playing and learning, `iterations` rounds of `episodes` episodes.

    method="improved": the first round plays `start`, or at random. After each round
    `learner.improve(data, policy, temperature)` makes the policy played better by that round's own episodes: old rounds
    live on in its values, so what was learned to be bad is not tried again. Half of the last round is played as the
    rounds before; `final` is then fitted to all episodes so far and plays the other half. The policy whose own episodes
    scored best is returned.

    method="paper": the paper's third algorithm. Every round plays ε-greedily and fits the learner anew to that round's
    episodes alone; ε is halved after every round; the last policy is returned, whatever it scored. There
    is no first policy here, so ε begins at 1, as its footnote has it. Not monotone.

    Parameters
    ----------
    env : Environment, `uqf.GymnasiumWorld` or gymnasium.Env
        Where episodes are played.
    learner : a learner, or "auto"
        For "improved" one with `improve`: `uqf.ContextQ` or `uqf.BeliefQ`, whose models are those of the first round.
        "auto" is `BeliefQ` where `uqf.fit` takes it for the first round, and else `ContextQ`. For "paper" any, such as
        `uqf.UQF`.
    iterations, episodes : int
        Rounds, and episodes of a round.
    start : ContextPolicy or BeliefPolicy, optional ("improved" only)
        What the first round plays: a policy that `learner.improve` adds to, in units of its temperature.
    epsilon : float
        Share of uniform actions while playing: 0.02 for "improved"; for "paper" 1 in the first round, then halved.
    final : a learner, optional ("improved" only)
        By default a clone of `learner`; ``uqf.BeliefQ(…)`` often makes more of the pooled episodes.
    horizon, seed : int
        Longest episode, the environment's own by default; the same seed gives the same bits.
    method : "improved" or "paper"
        See above.
    resume : PolicyIteration, optional
        Go on from an earlier result of the same method with as many rounds again.
    threads : int, optional
        All cores by default.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where episodes are played, in blocks; every episode has its own random numbers, so the bits are the same.
    progress : callable, optional
        Called as ``progress("episodes", done, total)`` before the first round and after each; see `uqf.CsvLines`.

    Returns
    -------
    PolicyIteration
        The policy and the rounds.

    Raises
    ------
    TypeError
        If "improved" gets a learner without `improve`, or a policy to start with that nothing can be added to.
    ValueError
        If a number is out of range, or an argument belongs to the other method.

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("tiger")
    >>> result = uqf.policy_iteration(env, uqf.ContextQ(0.95), iterations=4, episodes=200, seed=0)
    >>> result.best > result.rounds[0].mean
    True
    """
    positive("iterations", iterations)
    positive("episodes", episodes)
    one_of("method", method, ("improved", "paper"))
    usual = 0.02 if method == "improved" else 1.0
    exploration = probability("epsilon", usual if epsilon is None else epsilon)
    if resume is not None:
        instance("resume", resume, PolicyIteration, "what uqf.policy_iteration returned")
    world = as_world(env, horizon)
    parts, rounds = ([], []) if resume is None else (list(resume.data), list(resume.rounds))
    total = sum(map(len, parts)) + iterations * episodes
    game = Game(
        *(world, world.discount, total, seed, Reporter(progress), executor, horizon, threads, parts, rounds)
    )
    game.reporter.enter("episodes", iterations * episodes)
    if method == "paper":
        for name, given in (("start", start), ("final", final)):
            if given is not None:
                raise ValueError(
                    f"{name} = {given!r}: method='paper' begins at random and returns the last policy"
                )
        if isinstance(learner, str):
            raise ValueError(f"learner = {learner!r}: method='paper' needs a learner, such as uqf.UQF(…)")
        return _as_printed(game, learner, iterations, episodes, exploration, resume)
    if isinstance(learner, str) and learner != "auto":
        raise ValueError(f"learner = {learner!r}: give 'auto' or a learner, such as uqf.ContextQ(…)")
    improver = _Automatic(world.discount, seed) if isinstance(learner, str) else learner
    if not callable(getattr(improver, "improve", None)):
        raise TypeError(
            f"learner is {kind_of(learner)} without improve(): give uqf.ContextQ(…) or 'auto', perhaps with "
            f"final={type(learner).__name__}(…), or use method='paper'"
        )
    if start is not None:
        _check_start(start, improver, resume)
        resume = PolicyIteration(start, [], start)
    return _improved(game, improver, final or improver, iterations, episodes, exploration, resume)


def _check_start(
    start: ContextPolicy | BeliefPolicy, learner: Learner | _Automatic, resume: PolicyIteration | None
) -> None:
    kind = BeliefPolicy if isinstance(learner, BeliefQ) else ContextPolicy
    if not isinstance(start, kind):
        raise TypeError(
            f"start is {kind_of(start)}: give a uqf.{kind.__name__}, to whose values advantages can be added"
        )
    if start.temperature == 0.0:
        raise ValueError("start acts greedily: give start.with_temperature(…), the unit of its values")
    if resume is not None:
        raise ValueError("start and resume are both given: what is resumed has a policy to go on with")


class _Automatic:
    """Improves on beliefs where `uqf.fit` takes `BeliefQ` for the first round, and on contexts elsewhere."""

    def __init__(self, discount: float, seed: int) -> None:
        self.discount, self.seed = discount, seed
        self.learner: Learner | None = None

    def improve(self, data: Trajectories, base: Policy | None, temperature: float) -> CompiledPolicy:
        """As that of the learner that was taken."""
        improver: ContextQ | BeliefQ = ContextQ(self.discount)
        if isinstance(base, BeliefPolicy):
            improver = BeliefQ(self.discount)
        elif base is None:
            self.learner = fit(data, discount=self.discount, seed=self.seed)
            if isinstance(self.learner, BeliefQ):
                return self.learner.improve(data, self.learner.uninformed(), temperature)
        return improver.improve(data, base, temperature)  # type: ignore[arg-type]

    def __sklearn_clone__(self) -> Learner:
        """What fits all episodes in the end: the learner that was taken."""
        taken: Learner = ContextQ(self.discount) if self.learner is None else clone(self.learner)
        return taken


def _temperature(turn: int, turns: int, first: float = 0.3, last: float = 0.1) -> float:
    """Temperature of the step after round `turn`, falling from `first` to `last`, in units of the spread of returns.

    A policy that commits itself early never finds out what it misses.
    """
    return float(first * (last / first) ** min(turn / max(1, turns - 2), 1.0))


def _improved(
    game: Game,
    learner: Learner | _Automatic,
    final: Learner | _Automatic,
    iterations: int,
    episodes: int,
    epsilon: float,
    resume: PolicyIteration | None,
) -> PolicyIteration:
    """Steps of improvement with a falling temperature, then a fit to all episodes; the best of them is returned."""
    current = None if resume is None else resume.current
    best: tuple[float, Policy | None] = (-np.inf, None)
    if resume is not None and resume.rounds:
        best = resume.best, resume.policy
    for turn in range(iterations):
        judging = turn == iterations - 1 and turn > 0
        share = episodes - episodes // 2 if judging else episodes
        kind = "random" if current is None else "steps"
        played, score = game.play(current, share, kind, epsilon=0.0 if current is None else epsilon)
        if current is not None:
            best = max(best, (score.mean, current), key=lambda pair: pair[0])
        if judging:
            fitted = clone(final).fit(game.data).policy_
            score = game.play(fitted, max(1, episodes // 2), "fit")[1]
            best = max(best, (score.mean, fitted), key=lambda pair: pair[0])
        current = learner.improve(played, current, _temperature(turn, iterations))
    # A single round at random has no policy of its own to return.
    policy = best[1] if best[1] is not None else clone(final).fit(game.parts[-1]).policy_
    return PolicyIteration(policy, game.rounds, current, game.parts)


def _as_printed(
    game: Game,
    learner: Learner,
    iterations: int,
    episodes: int,
    epsilon: float,
    resume: PolicyIteration | None,
) -> PolicyIteration:
    """The paper's third algorithm, line by line."""
    policy = None if resume is None else resume.current
    if resume is not None:
        epsilon = resume.rounds[-1].epsilon / 2.0
    for _ in range(iterations):
        # 1. and 2. The policy becomes ε-greedy and plays.
        played, _ = game.play(policy, episodes, "paper", epsilon=epsilon)
        # 3. A new policy is learned from these episodes, divided by the probabilities of the old one.
        fresh = clone(learner)
        if policy is not None and isinstance(fresh, UQF):
            fresh.set_params(behavior=(policy, epsilon))
        # 4. It takes the place of the old one, with a smaller ε.
        policy, epsilon = fresh.fit(played).policy_, epsilon / 2.0
    assert policy is not None, "there is at least one iteration"
    return PolicyIteration(policy, game.rounds, policy, game.parts)
