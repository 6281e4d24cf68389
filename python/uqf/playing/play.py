"""uqf.play: several ways to learn by playing race, and fresh episodes judge."""

from __future__ import annotations

import numpy as np

from uqf.episodes.checks import positive, probability
from uqf.evaluate import Score, WorldLike, as_world
from uqf.learn.choose.fit import fit
from uqf.learn.choose.markov_test import markov_test
from uqf.learn.context_q import ContextQ
from uqf.playing.game import Game
from uqf.playing.lineages import Drawn, Fitted, Lineage, Steps, open_with
from uqf.playing.played import Played
from uqf.playing.settings import Settings
from uqf.policies.persistent import Persistent
from uqf.policies.policy import CompiledPolicy
from uqf.reading.progress import Callback, Reporter
from uqf.reading.shards import Workers


def play(
    env: WorldLike,
    *,
    episodes: int,
    discount: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    resume: Played | None = None,
    executor: Workers = None,
    progress: Callback | None = None,
    settings: Settings = Settings(),
) -> Played:
    positive("episodes", episodes)
    world = as_world(env)
    weight = world.discount if discount is None else probability("discount", discount)
    reporter = Reporter(progress)
    game = Game(world, weight, episodes, seed, executor, reporter)
    reporter.enter("episodes", episodes)
    opened = open_with(game, settings, round(episodes * sum(share for _, share in settings.opening)))
    test = markov_test(game.data, seed=seed)
    refuted = any(one.matters for one in test.findings)
    if not refuted and game.env.n_observations <= settings.max_states:
        lineages: list[Lineage] = [Drawn(game, settings)]
    else:
        lineages = []
        for (repeat, _), data in zip(settings.opening, opened, strict=True):
            policy = Persistent(repeat, world.n_actions, world.n_observations) if repeat else None
            name = f"contexts, repeating {repeat:g}" if repeat else "contexts"
            lineages.append(Steps(name, ContextQ(weight), policy, data))
        lineages.append(Fitted(fit(game.data, discount=weight, seed=seed), settings))
    last = round(settings.last * episodes)
    size, begun = max(1, round(settings.round * episodes)), game.played
    while game.left > last:
        gone = (game.played - begun) / max(1, 0.8 * (episodes - last - begun))
        first, final = settings.temperatures
        temperature = first * (final / first) ** min(1.0, gone)
        for lineage in lineages:
            if game.left > last:
                lineage.play(game, min(size, game.left - last), temperature)
        lineages = survivors(lineages, settings)
    finalists: dict[str, CompiledPolicy] = {}
    if not any(isinstance(one, Drawn) for one in lineages) or not test.markov:
        fitted = fit(game.data, discount=weight, seed=seed).policy_
        finalists |= {"fit on all": fitted, "fit on all, greedy": fitted.greedy()}
    for lineage in lineages:
        finalists |= lineage.finalists()
    name, scores = judged(game, finalists)
    why = f"{name} earned {scores[name]}"
    return Played(finalists[name], game.rounds, game.data, why, game.env)


def survivors(lineages: list[Lineage], settings: Settings) -> list[Lineage]:
    """Without those that are clearly behind."""
    known = [one for one in lineages if one.score is not None]
    best = max(known, key=lambda one: one.score.mean)
    return [
        one for one in lineages if one.rounds < settings.protected or not one.behind(best, settings.behind)
    ]


def judged(game: Game, finalists: dict[str, CompiledPolicy]) -> tuple[str, dict[str, Score]]:
    """(the best, fresh scores): all share one half of the episodes that are left, the two best the other."""
    returns: dict[str, list[Score]] = {name: [] for name in finalists}
    mean = lambda name: float(np.concatenate([one.returns for one in returns[name]]).mean())  # noqa: E731
    contenders = list(finalists)
    if len(contenders) == 1:
        contenders = contenders[:1]
    for share in (0.5, 1.0):
        if game.left < len(contenders):
            break
        each = max(1, int(share * game.left) // len(contenders))
        for name in contenders:
            returns[name].append(game.play(finalists[name], each, f"judged: {name}")[1])
        contenders = sorted(contenders, key=mean, reverse=True)[:2]
    joined = {
        name: Score(np.concatenate([one.returns for one in given]), np.concatenate([one.lengths for one in given]))
        for name, given in returns.items() if given
    }
    return contenders[0] if len(contenders) == 1 else max(contenders, key=mean), joined
