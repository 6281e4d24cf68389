"""A game from the opening to the choice: lineages race, those that are behind are given up, fresh episodes judge."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import Score
from uqf.learn.choose.fit import without_models
from uqf.learn.choose.markov_test import MarkovTest, markov_test
from uqf.learn.context_q import ContextQ
from uqf.playing.game import Game
from uqf.playing.lineages import (
    Drawn,
    Finalist,
    Fitted,
    Lineage,
    Planned,
    Steps,
    fitted,
    persistent,
    random_play,
    soft_and_greedy,
)
from uqf.playing.played import Played
from uqf.playing.settings import Settings

SETTINGS = Settings()


@dataclass
class Race:
    """One game from the opening to the choice."""

    game: Game
    episodes: int
    seconds: float | None
    earlier: Played | None
    settings: Settings = SETTINGS
    given_up: list[str] = field(default_factory=list)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and self.game.reporter.seconds > self.seconds

    def run(self) -> Played:
        """Plays, and chooses."""
        game, settings = self.game, self.settings
        game.reporter.enter("episodes", self.episodes)
        opened = random_play(game, settings, round(settings.opening * self.episodes))
        test = markov_test(game.data, seed=game.seed)
        lineages = self.begun(opened, test)
        last = max(2, round(settings.last * self.episodes))
        size, begun = max(1, round(settings.round * self.episodes)), game.played
        cooling = max(1.0, settings.cooling * (game.left - last))
        tested = begun
        while game.left > last and lineages and not self.late:
            gone = min(1.0, (game.played - begun) / cooling)
            first, final = settings.temperatures
            for lineage in self.turns(lineages, game.left - last):
                if game.left > last:
                    episodes = min(round(lineage.size * size), game.left - last)
                    lineage.play(game, episodes, first * (final / first) ** gone)
            lineages = self.survivors(lineages, game.left - last)
            if not test.findings and game.played >= 2 * tested:
                # The opening was too short to see whether observations are states.
                test, tested = markov_test(game.data, seed=game.seed), game.played
                lineages = self.beside(lineages, opened) if refuted(test) else lineages
        finalists = self.finalists(lineages)
        name, scores = judged(game, finalists)
        game.reporter.finish()
        steps = {
            one.name: one.policy for one in lineages if isinstance(one, Steps) and one.policy is not None
        }
        why = self.why(name, scores, test)
        policy, env = finalists[name].policy, finalists[name].env or game.env
        return Played(
            policy, game.rounds, env.recoded(game.data), why, env, name, scores, game.discount, steps
        )

    def turns(self, lineages: list[Lineage], episodes: int) -> list[Lineage]:
        """Who plays next, when so many episodes are left to be played before the judging."""
        new = [one for one in lineages if not one.curve]
        learning = [one for one in lineages if one.learns]
        if not new and (not learning or episodes <= self.settings.closing * self.episodes):
            return [max(lineages, key=lambda one: one.earned)]
        return [one for one in lineages if one in new or one in learning]

    def begun(self, opened: list[Trajectories], test: MarkovTest) -> list[Lineage]:
        """The lineages, cheap ones first."""
        game, settings = self.game, self.settings
        drawn: list[Lineage] = []
        if game.env.learns_codes:
            explorer = Drawn(game, settings)
            explorer.play(game, round(settings.exploring * self.episodes), 0.0)
            game.recode(game.env.relearned(game.data, seed=game.seed))
            opened = [game.env.recoded(data) for data in opened]
            drawn = [explorer]
        elif game.env.n_observations <= settings.max_states and not refuted(test):
            drawn = [Drawn(game, settings)]
            if certain(test) or not test.findings:
                return drawn
        return self.beside(drawn, opened)

    def beside(self, drawn: list[Lineage], opened: list[Trajectories]) -> list[Lineage]:
        """Drawn plans, which are judged from now on, and their rivals."""
        for one in drawn:
            if isinstance(one, Drawn):
                one.judged = True
        return [*drawn, *self.rivals(opened)]

    def rivals(self, opened: list[Trajectories]) -> list[Lineage]:
        """Lineages that remember more than the last observation."""
        game, settings, earlier = self.game, self.settings, self.earlier
        lineages: list[Lineage] = []
        learner = ContextQ(game.discount)
        if earlier is None or game.env.learns_codes:
            for repeat in settings.starts:
                data = opened[settings.repeats.index(repeat)]
                name = f"contexts, repeating {repeat:g}" if repeat else "contexts"
                lineages.append(Steps(name, learner, persistent(game, repeat), data))
        else:
            lineages += [Steps(name, learner, policy, None) for name, policy in earlier.lineages.items()]
        if not self.late:
            lineages.append(Fitted(game, settings))
            if without_models(game.data) is None:
                lineages.append(Planned(game, settings))
        return lineages

    def survivors(self, lineages: list[Lineage], episodes: int) -> list[Lineage]:
        """Without those that would not reach the leader in their share of so many episodes."""
        size = max(1, round(self.settings.round * self.episodes)) * sum(
            one.size for one in lineages if one.learns
        )
        leader = max(lineages, key=lambda one: one.earned)
        kept = []
        for one in lineages:
            if one.behind(leader, self.settings.behind, max(0, episodes) / max(1.0, size)):
                assert one.best is not None, "who has not played is not behind"
                beside = f"{leader.earned:.4g} of {leader.name}"
                self.given_up.append(f"{one.name} ({_figures(one.best[0])} beside {beside})")
            else:
                kept.append(one)
        return kept

    def finalists(self, lineages: list[Lineage]) -> dict[str, Finalist]:
        """Policies by name: a fit to all episodes, those of the survivors, and the one that was resumed."""
        game, policies = self.game, dict[str, Finalist]()
        for lineage in lineages:
            policies |= lineage.finalists()
        if self.earlier is not None:
            policies["as before"] = Finalist(self.earlier.policy, self.earlier.env)
        alone = any(isinstance(one, Drawn) and not one.judged for one in lineages)
        if not policies or not (alone or self.late):
            # What good play saw gets cells of its own.
            env = game.env.relearned(game.data, seed=game.seed) if game.env.learns_codes else game.env
            policies |= soft_and_greedy("fit on all", fitted(game, env), env, of_all=True)
        # Those of all episodes first: in a short game there are not enough episodes to judge everybody.
        return dict(sorted(policies.items(), key=lambda pair: not pair[1].of_all))

    def why(self, name: str, scores: dict[str, Score], test: MarkovTest) -> str:
        """The choice in plain words."""
        text = f"In fresh episodes {name} earned {_figures(scores[name])}"
        others = sorted((one for one in scores if one != name), key=lambda one: -scores[one].mean)
        if others:
            text += f"; next, {others[0]} earned {_figures(scores[others[0]])}"
        gone = f" Given up: {'; '.join(self.given_up)}." if self.given_up else ""
        return f"{text}.{gone} {test.verdict}"


def certain(test: MarkovTest) -> bool:
    """Whether the last observation is a state as far as the data show: nothing else is played then, so no doubt may be
    left, however small. In hallway and in Tiger it is "nearly" one in few episodes.
    """
    return test.markov and not test.doubted


def refuted(test: MarkovTest) -> bool:
    """Whether the past was seen to matter, so that the last observation is no state."""
    return any(one.matters for one in test.findings)


def _figures(score: Score) -> str:
    error = f" ± {score.stderr:.2g}" if np.isfinite(score.stderr) else ""
    count = len(score.returns)
    return f"{score.mean:.4g}{error} in {count:,} episode{'s' if count > 1 else ''}"


def judged(game: Game, finalists: dict[str, Finalist]) -> tuple[str, dict[str, Score]]:
    """(the best, fresh scores): all share one half of the episodes that are left, the two best the other.

    The better one of these two is taken, even if somebody who was given up has a higher mean in fewer episodes. A
    single finalist plays them too: what it earns is reported.
    """
    scores: dict[str, Score] = {}
    contenders = list(finalists)
    for part in (2, 1):
        share = game.left // part
        for turn, name in enumerate(contenders):
            # What division leaves over is played by the first.
            each = max(1, -(-share // (len(contenders) - turn)))
            share -= each
            if game.left > 0:
                score = game.play(finalists[name].policy, each, f"judged: {name}", env=finalists[name].env)[1]
                scores[name] = scores[name].plus(score) if name in scores else score
        played = [name for name in contenders if name in scores]
        contenders = ordered(played, finalists, scores)[:2]
    return contenders[0], scores


def ordered(names: list[str], finalists: dict[str, Finalist], scores: dict[str, Score]) -> list[str]:
    """The best first. Who learned from all episodes goes before those who are not ahead by a standard error of the
    difference, if it is known: so much is chance, and more data rarely make a policy worse.
    """

    def level(name: str) -> bool:
        mine, others = scores[name], [scores[one] for one in names if not finalists[one].of_all]
        errors = [float(np.hypot(one.stderr, mine.stderr)) for one in others]
        leads = [one.mean - mine.mean for one in others]
        return all(lead <= error < np.inf for lead, error in zip(leads, errors, strict=True))

    return sorted(names, key=lambda name: (not (finalists[name].of_all and level(name)), -scores[name].mean))
