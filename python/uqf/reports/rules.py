"""How the policy decides, as a few rules on what was seen last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.coding.tree import Tree, grown
from uqf.episodes.sums import episodes_within, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.gain import Gain
from uqf.policies.policy import probs_along
from uqf.reports.names import Names, Phrase
from uqf.reports.readings import Reading, last_readings, readings
from uqf.reports.situations import Condition, recent
from uqf.reports.study import Study

#: How places are called.
PLACES = {1: "the last {}", 2: "the {} before the last"}


@dataclass(frozen=True)
class Brevity:
    """How short a summary in rules is.

    `rules` are as many as a reader takes in at once, each for at least `min_share` of the steps. They look `depth`
    steps back and name the most frequent `codes` at each place. Of the last observation they ask about the raw columns
    instead, `readings` questions in all, where the log has them. They are learned from `steps` steps.
    """

    rules: int = 8
    min_share: float = 0.005
    depth: int = 3
    codes: int = 20
    readings: int = 200
    steps: int = 60_000


class Question(Condition):
    """What a rule looks at: what was seen or done some steps ago, or, of the kind "step", how far the episode is."""

    @property
    def subject(self) -> tuple[int, str]:
        """What it is about."""
        return self.ago, self.kind

    @property
    def bound(self) -> float | None:
        """The least that answers yes; None if only the code itself does."""
        return self.code if self.kind == "step" else None

    def phrase(self, names: Names, *, yes: bool = True) -> Phrase:
        """Such as: the last observation is “vibration high”, or is not."""
        if self.kind == "step":
            return [(f"at step {self.code} or later" if yes else f"before step {self.code}", False)]
        subject = PLACES.get(self.ago, "the {} {} steps ago").format(self.kind, self.ago)
        if self.code == -1:
            when = f"{self.kind} {self.ago} step{'s' * (self.ago > 1)} ago"
            return [(f"there was {'no' if yes else 'an'} {when}", False)]
        name = names.action(self.code) if self.kind == "action" else names.observation(self.code)
        return [(f"{subject} is {'' if yes else 'not '}", False), (name, True)]


@dataclass(frozen=True)
class Answer:
    """A question with its answer: a condition of a rule."""

    question: Question | Reading
    yes: bool

    def implies(self, other: Answer) -> bool:
        """Whether the other need not be said beside this one."""
        mine, theirs = self.question, other.question
        if mine.subject != theirs.subject:
            return False
        if mine.bound is None or theirs.bound is None:
            return self.yes and not other.yes
        beyond = mine.bound > theirs.bound if self.yes else mine.bound < theirs.bound
        return self.yes == other.yes and beyond


def in_words(conditions: list[Answer], names: Names) -> list[Phrase]:
    """One phrase a condition; two bounds of one number are a range."""
    phrases = list[Phrase]()
    low = {one.question.subject: one.question for one in conditions if one.yes}
    high = {one.question.subject: one.question for one in conditions if not one.yes}
    for one in conditions:
        question = one.question
        least, beyond = low.get(question.subject), high.get(question.subject)
        if isinstance(least, Reading) and isinstance(beyond, Reading) and least.bound is not None:
            phrases += [least.below(beyond)] if one.yes else []
        else:
            phrases.append(question.phrase(names, yes=one.yes))
    return phrases


@dataclass(frozen=True)
class Rule:
    """A node of the tree: a question with what follows from yes and no, or else an action; shares as in `Line`."""

    action: str
    share: float
    alike: float
    question: Question | Reading | None = None
    yes: Rule | None = None
    no: Rule | None = None

    @property
    def lines(self) -> list[tuple[list[Answer], Rule]]:
        """The same as a list: what must hold, and the leaf that follows.

        Lines are read from the top and the first that fits is followed, so a "no" above needs no mention below.
        """
        if self.yes is None or self.no is None or self.question is None:
            return [([], self)]
        short, long = sorted((self.yes, self.no), key=lambda rule: len(rule.lines))
        holds = Answer(self.question, short is self.yes)
        first = [
            ([holds] * (not any(one.implies(holds) for one in conditions)) + conditions, rule)
            for conditions, rule in short.lines
        ]
        return first + long.lines


@dataclass(frozen=True)
class Line:
    """A rule of the card."""

    conditions: list[Phrase]
    action: str
    share: float
    """Of all steps, those in which it is the first that fits."""
    alike: float
    """Of them, those in which the policy would take the action too."""


@dataclass(frozen=True)
class Rules:
    """A few rules in place of the policy, and what they are worth."""

    card: list[Line]
    """Read from the top; the first that fits holds."""
    decisions: float
    """Share of the held-out steps in which the rules choose the action that the policy thinks best."""
    value: float | None
    """Share of the policy's one-step gain that the rules reach; None if that gain is not clear."""
    value_stderr: float | None

    @classmethod
    def of(cls, study: Study, brevity: Brevity | None = None) -> Rules:
        """Rules are learned from the episodes that do not judge, and judged by those that are held out."""
        brevity = brevity or Brevity()
        training = study.training[: episodes_within(study.training, brevity.steps)]
        features = Features.of(training, brevity)
        choices = probs_along(study.policy, training).argmax(axis=1)
        fewest = max(1, round(brevity.min_share * len(choices)))
        taken = np.eye(training.n_actions)[choices]
        tree = grown(features.rows(training), taken, brevity.rules, fewest)
        rows, wanted = features.rows(study.held_out), study.probs.argmax(axis=1)
        chosen = tree.value[tree.apply(rows)].argmax(axis=1)
        best, ruled = (
            study.total(study.gains((actions == study.held_out.actions).astype(np.float64)))
            for actions in (wanted, chosen)
        )
        agrees = chosen == wanted
        root = _rule(tree, rows, agrees, features, study.names)
        card = [
            Line(in_words(conditions, study.names), rule.action, rule.share, rule.alike)
            for conditions, rule in root.lines
        ]
        return cls(card, float(agrees.mean()), *ratio(ruled, best))


@dataclass(frozen=True)
class Features:
    """Questions with yes or no, and the number of the step."""

    questions: list[Question | Reading]
    depth: int

    @classmethod
    def of(cls, data: Trajectories, brevity: Brevity) -> Features:
        """About the last readings, and the codes that occur most often at each place."""
        questions: list[Question | Reading] = [*readings(data, brevity.readings)]
        coded = recent(data, brevity.depth)
        if questions:
            del coded[1, "observation"]
        for (ago, kind), codes in coded.items():
            values, counts = np.unique(codes, return_counts=True)
            for value in values[np.argsort(-counts, kind="stable")[: brevity.codes]]:
                questions.append(Question(ago, kind, int(value)))
        return cls(questions, brevity.depth)

    def question(self, feature: int, threshold: float) -> Question | Reading:
        """What a node of the tree looks at; the last feature is the number of the step."""
        if feature < len(self.questions):
            return self.questions[feature]
        return Question(0, "step", int(np.ceil(threshold)) + 1)

    def rows(self, data: Trajectories) -> NDArray[np.float32]:
        """(n_steps, questions + 1)."""
        codes, read = recent(data, self.depth), last_readings(data)
        columns = [
            one.holds(read) if isinstance(one, Reading) else codes[one.ago, one.kind] == one.code
            for one in self.questions
        ]
        return np.stack([*columns, time_within(data)], axis=1).astype(np.float32)


def _rule(
    tree: Tree, rows: NDArray[np.float32], agrees: NDArray[np.bool_], features: Features, names: Names
) -> Rule:
    """The tree in words. `rows` are the held-out steps, `agrees` whether rules choose there as the policy does."""
    ends = tree.apply(rows)
    steps, alike = (np.bincount(ends, weights, len(tree.feature)) for weights in (None, agrees))

    def from_node(node: int) -> Rule:
        if tree.feature[node] < 0:
            action = names.action(int(tree.value[node].argmax()))
            return Rule(action, float(steps[node]) / len(rows), float(alike[node] / max(steps[node], 1)))
        no, yes = from_node(int(tree.left[node])), from_node(int(tree.right[node]))
        share = yes.share + no.share
        mean = (yes.share * yes.alike + no.share * no.alike) / share if share > 0 else 0.0
        action = (yes if yes.share > no.share else no).action
        if yes.question is no.question is None and yes.action == no.action:
            # A question whose answer does not matter is left out.
            return Rule(action, share, mean)
        question = features.question(int(tree.feature[node]), float(tree.threshold[node]))
        return Rule(action, share, mean, question, yes, no)

    return from_node(0)


def ratio(part: Gain, whole: Gain) -> tuple[float | None, float | None]:
    """Part / whole with its standard error, if the whole is clearly above zero."""
    if whole.evidence < 2.0:
        return None, None
    share = part.mean / whole.mean
    return share, Gain(part.totals - share * whole.totals).stderr / whole.mean
