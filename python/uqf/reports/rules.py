"""Part 3 of the report: how the policy decides, as a few rules on what was seen last, and what memory adds to that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import episodes_within, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.context_q import ContextQ
from uqf.learn.improve.gain import Gain
from uqf.page.parts import Interval, Intervals, plus_minus, signed
from uqf.policies.policy import probs_along
from uqf.reports.names import Names, Phrase
from uqf.reports.situations import Condition, recent
from uqf.reports.study import Study
from uqf.types import Tree

#: How places are called.
PLACES = {1: "the last {}", 2: "the {} before the last"}


@dataclass(frozen=True)
class Brevity:
    """How short a summary in rules is."""

    rules: int = 8
    """As many as a reader takes in at once."""
    min_share: float = 0.005
    """Share of the steps that a rule holds for."""
    depth: int = 3
    """Steps that rules look back."""
    codes: int = 20
    """At each place, the most frequent ones that rules may name."""
    steps: int = 60_000
    """That rules are learned from."""


class Question(Condition):
    """What a rule looks at: what was seen or done some steps ago, or, of the kind "step", how far the episode is."""

    def phrase(self, names: Names) -> Phrase:
        """Such as: the last observation is “vibration high”."""
        if self.kind == "step":
            return [(f"at step {self.code} or later", False)]
        subject = PLACES.get(self.ago, "the {} {} steps ago").format(self.kind, self.ago)
        if self.code == -1:
            return [(f"there was no {self.kind} {self.ago} step{'s' * (self.ago > 1)} ago", False)]
        name = names.action(self.code) if self.kind == "action" else names.observation(self.code)
        return [(f"{subject} is ", False), (name, True)]


@dataclass(frozen=True)
class Rule:
    """A node of the tree: a question with what follows from yes and no, or else an action."""

    action: str
    share: float
    """Of all steps, those that come here."""
    alike: float
    """Of them, those in which the policy would take the action too."""
    question: Phrase | None = None
    yes: Rule | None = None
    no: Rule | None = None

    @property
    def leaves(self) -> int:
        """How many rules follow from here."""
        return 1 if self.yes is None or self.no is None else self.yes.leaves + self.no.leaves


@dataclass(frozen=True)
class Scored:
    """What a way of acting gains over the log, per episode, changing one step at a time."""

    name: str
    gain: float
    stderr: float

    @classmethod
    def of(cls, name: str, gain: Gain) -> Scored:
        """On the held-out episodes."""
        return cls(name, gain.mean, gain.stderr)


@dataclass(frozen=True)
class Rules:
    """A few rules in place of the policy, and what they are worth."""

    tree: Rule
    decisions: float
    """Share of the held-out steps in which the rules choose the action that the policy thinks best."""
    value: float | None
    """Share of the gain of the policy that the rules reach; None if that gain is not clear."""
    value_stderr: float | None
    scores: list[Scored]
    memory: float | None
    """What the policy gains over the memoryless one, per episode; None if no memoryless one could be learned."""
    memory_stderr: float | None

    @classmethod
    def of(cls, study: Study, brevity: Brevity | None = None) -> Rules:
        """Rules are learned from the episodes that do not judge, and judged by those that are held out."""
        brevity = brevity or Brevity()
        training = study.training[: episodes_within(study.training, brevity.steps)]
        features = Features.of(training, brevity)
        choices = probs_along(study.policy, training).argmax(axis=1)
        tree = DecisionTreeClassifier(
            max_leaf_nodes=brevity.rules,
            min_samples_leaf=max(1, round(brevity.min_share * len(choices))),
            random_state=0,
        ).fit(features.rows(training), choices)
        rows = features.rows(study.held_out)
        chosen, wanted = tree.predict(rows), study.probs.argmax(axis=1)
        own, best, ruled = (
            study.total(study.gains(taken))
            for taken in (
                study.taken(study.probs),
                _taken(study, wanted),
                _taken(study, chosen),
            )
        )
        root = _node(tree, 0, features, study.names, tree.tree_, _shares_by_node(tree, rows, wanted))
        scores = [
            Scored.of("the policy", own),
            Scored.of(f"{root.leaves} rule{'s' * (root.leaves > 1)}", ruled),
        ]
        if getattr(study.policy, "temperature", 0.0) > 0.0:
            scores.insert(1, Scored.of("the policy, always its best action", best))
        value, error = _ratio(ruled, best)
        plain = _memoryless(study)
        more = None
        if plain is not None:
            scores.append(Scored.of("no memory: the last action and observation only", plain))
            more = Gain(own.totals - plain.totals)
        return cls(
            tree=root,
            decisions=float((chosen == wanted).mean()),
            value=value,
            value_stderr=error,
            scores=scores,
            memory=None if more is None else more.mean,
            memory_stderr=None if more is None else more.stderr,
        )

    @property
    def count(self) -> str:
        """Begins a sentence."""
        return f"These {self.tree.leaves} rules choose" if self.tree.leaves > 1 else "This one rule chooses"

    @property
    def memory_is_clear(self) -> bool:
        """Whether what memory adds is beyond two standard errors."""
        return self.memory is not None and abs(self.memory) > 2.0 * (self.memory_stderr or 0.0)

    @property
    def plot(self) -> Intervals:
        """Gains of the policy, of the rules, and of a policy without memory."""
        rows = [
            Interval(
                one.name,
                one.gain,
                one.gain - one.stderr,
                one.gain + one.stderr,
                f"{signed(one.gain)}{plus_minus(one.stderr)}",
                "first" if one.name.startswith("the policy") else "third",
            )
            for one in self.scores
        ]
        return Intervals(rows, (0.0, "as logged"))


@dataclass(frozen=True)
class Features:
    """Questions with yes or no, and the number of the step."""

    questions: list[Question]
    depth: int

    @classmethod
    def of(cls, data: Trajectories, brevity: Brevity) -> Features:
        """About the codes that occur most often at each place."""
        questions = []
        for (ago, kind), codes in recent(data, brevity.depth).items():
            values, counts = np.unique(codes, return_counts=True)
            for value in values[np.argsort(-counts, kind="stable")[: brevity.codes]]:
                questions.append(Question(ago, kind, int(value)))
        return cls(questions, brevity.depth)

    def rows(self, data: Trajectories) -> NDArray[np.float32]:
        """(n_steps, questions + 1)."""
        codes = recent(data, self.depth)
        columns = [codes[one.ago, one.kind] == one.code for one in self.questions]
        return np.stack([*columns, time_within(data)], axis=1).astype(np.float32)


def _shares_by_node(
    tree: Tree, rows: NDArray[np.float32], wanted: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """By node: the share of the steps that come there, and how many of them want each class of the tree."""
    paths = tree.decision_path(rows)
    classes = np.searchsorted(tree.classes_, wanted)
    known = np.minimum(classes, len(tree.classes_) - 1)
    one_hot = np.eye(len(tree.classes_))[known] * (tree.classes_[known] == wanted)[:, np.newaxis]
    counts = np.asarray(paths.sum(axis=0)).ravel().astype(np.float64)
    return counts / len(rows), np.asarray(paths.T @ one_hot) / np.maximum(counts, 1.0)[:, np.newaxis]


def _node(
    tree: Tree,
    node: int,
    features: Features,
    names: Names,
    nodes: Tree,
    shares: tuple[FloatArray, FloatArray],
) -> Rule:
    place = int(nodes.value[node][0].argmax())
    action = names.action(int(tree.classes_[place]))
    share, alike = float(shares[0][node]), float(shares[1][node, place])
    if nodes.children_left[node] == -1:
        return Rule(action, share, alike)
    feature = int(nodes.feature[node])
    if feature < len(features.questions):
        question = features.questions[feature]
    else:
        question = Question(0, "step", int(np.ceil(nodes.threshold[node])) + 1)
    no, yes = (
        _node(tree, int(child), features, names, nodes, shares)
        for child in (nodes.children_left[node], nodes.children_right[node])
    )
    if yes.question is no.question is None and yes.action == no.action:
        # A question whose answer does not matter is left out.
        both = yes.share * yes.alike + no.share * no.alike
        return Rule(yes.action, share, both / share if share > 0 else 0.0)
    return Rule(action, share, alike, question.phrase(names), yes, no)


def _taken(study: Study, chosen: NDArray[np.int64]) -> FloatArray:
    """Probability of the logged action if `chosen` is always taken."""
    return np.asarray(chosen == study.held_out.actions, np.float64)


def _ratio(part: Gain, whole: Gain) -> tuple[float | None, float | None]:
    """Part / whole with its standard error, if the whole is clearly above zero."""
    if whole.evidence < 2.0:
        return None, None
    ratio = part.mean / whole.mean
    return ratio, Gain(part.totals - ratio * whole.totals).stderr / whole.mean


def _memoryless(study: Study) -> Gain | None:
    """A table over the last action and observation, learned from the same episodes."""
    try:
        policy = ContextQ(study.discount, depth=1).fit(study.training).policy_
    except UQFError:
        return None
    return study.total(study.gains(study.taken(probs_along(policy, study.held_out))))
