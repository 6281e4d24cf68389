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
from uqf.page.parts import Interval, card, figure, intervals, percent, signed
from uqf.policies.policy import probs_along
from uqf.printable import escape
from uqf.reports.names import Names
from uqf.reports.situations import Condition, recent
from uqf.reports.study import Study
from uqf.types import Tree

#: Rules that a reader takes in at a glance, and steps that teach them.
MAX_RULES = 8
TREE_STEPS = 60_000

#: How far back rules look, and of how many codes at each place.
DEPTH = 3
MAX_CODES = 20

#: How places are called.
PLACES = {1: "the last {}", 2: "the {} before the last"}

#: A rule must hold for at least this share of the steps.
MIN_SHARE = 0.005


class Question(Condition):
    """What a rule asks: what was seen or done some steps ago, or, of the kind "step", how far the episode is."""

    def text(self, names: Names) -> str:
        """Such as: the last observation is “vibration high”."""
        if self.kind == "step":
            return f"at step {self.code} or later"
        subject = PLACES.get(self.ago, "the {} {} steps ago").format(self.kind, self.ago)
        if self.code == -1:
            return f"there was no {self.kind} {self.ago} step{'s' * (self.ago > 1)} ago"
        name = names.action(self.code) if self.kind == "action" else names.observation(self.code)
        return f"{subject} is “{name}”"


@dataclass(frozen=True)
class Rule:
    """A node of the tree: a question with what follows from yes and no, or else an action."""

    action: str
    share: float
    """Of all steps, those that come here."""
    alike: float
    """Of them, those in which the policy would take the action too."""
    question: str | None = None
    yes: Rule | None = None
    no: Rule | None = None

    @property
    def leaves(self) -> int:
        """How many rules follow from here."""
        return 1 if self.yes is None or self.no is None else self.yes.leaves + self.no.leaves

    def markup(self) -> str:
        """As a nested list."""
        if self.question is None or self.yes is None or self.no is None:
            return (
                f'<span class="act">{escape(self.action)}</span> <small>{percent(self.share)} of the steps; the policy '
                f"does so in {percent(self.alike)} of them</small>"
            )
        return (
            f'<span class="ask">{escape(self.question)}?</span>'
            f'<ul><li><span class="answer">yes</span> {self.yes.markup()}</li>'
            f'<li><span class="answer">no</span> {self.no.markup()}</li></ul>'
        )


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
    def of(cls, study: Study) -> Rules:
        """Rules are learned from episodes that taught, and judged by those that are held out."""
        taught = study.taught[: episodes_within(study.taught, TREE_STEPS)]
        features = Features.of(taught)
        choices = probs_along(study.policy, taught).argmax(axis=1)
        tree = DecisionTreeClassifier(
            max_leaf_nodes=MAX_RULES, min_samples_leaf=max(1, round(MIN_SHARE * len(choices))), random_state=0
        ).fit(features.rows(taught), choices)
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
        scores = [Scored.of("the policy", own), Scored.of(f"{root.leaves} rules", ruled)]
        if getattr(study.policy, "temperature", 0.0) > 0.0:
            scores.insert(1, Scored.of("the policy, always its best action", best))
        value, error = _ratio(ruled, best)
        plain = _memoryless(study)
        more = None
        if plain is not None:
            scores.append(Scored.of("memoryless: last symbol only", plain))
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

    def section(self) -> str:
        """Markup of this part."""
        worth = (
            f" and reach <b>{percent(self.value)}</b> (± {percent(self.value_stderr or 0.0)}) of what it gains"
            if self.value is not None
            else "; what they gain cannot be told from this log"
        )
        rows = [
            Interval(
                one.name,
                one.gain,
                one.gain - one.stderr,
                one.gain + one.stderr,
                f"{signed(one.gain)} ± {one.stderr:.2g}",
                "first" if one.name.startswith("the policy") else "second",
            )
            for one in self.scores
        ]
        return (
            f"<p>These rules choose what the policy thinks best in <b>{percent(self.decisions)}</b> of the held-out "
            f"steps{worth}. They are a summary to read; the policy itself remembers more.</p>"
            + card("<h3>A summary in a few rules</h3>", f'<div class="rules">{self.tree.markup()}</div>')
            + f"<p>{self._memory_words()}</p>"
            + card(
                "<h3>Gain over the log, per episode</h3>",
                intervals(rows, (0.0, "as logged")),
                "<p><small>Changing one step at a time and leaving the rest as logged; bars are ± one standard error "
                "over episodes.</small></p>",
            )
        )

    def _memory_words(self) -> str:
        if self.memory is None or self.memory_stderr is None:
            return "No memoryless policy could be learned from this log, so what memory adds is not known."
        clear = abs(self.memory) > 2.0 * self.memory_stderr
        told = f"{signed(self.memory)} ± {self.memory_stderr:.2g} per episode"
        if not clear:
            return (
                f"What memory adds beyond the last action and observation is not clear from this log: {told}."
            )
        if self.memory > 0:
            return f"Memory beyond the last action and observation adds <b>{told}</b>."
        return (
            f"A policy that looks at the last action and observation only does better here, by "
            f"{figure(-self.memory)} ± {self.memory_stderr:.2g} per episode."
        )


@dataclass(frozen=True)
class Features:
    """Questions with yes or no, and the number of the step."""

    questions: list[Question]

    @classmethod
    def of(cls, data: Trajectories) -> Features:
        """About the codes that occur most often at each place."""
        questions = []
        for (ago, kind), codes in recent(data, DEPTH).items():
            values, counts = np.unique(codes, return_counts=True)
            for value in values[np.argsort(-counts, kind="stable")[:MAX_CODES]]:
                questions.append(Question(ago, kind, int(value)))
        return cls(questions)

    def rows(self, data: Trajectories) -> NDArray[np.float32]:
        """(n_steps, questions + 1)."""
        codes = recent(data, DEPTH)
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
        # A question whose answer does not matter is not asked.
        both = yes.share * yes.alike + no.share * no.alike
        return Rule(yes.action, share, both / share if share > 0 else 0.0)
    return Rule(action, share, alike, question.text(names), yes, no)


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
    """A table over the last symbol, taught by the same episodes."""
    try:
        policy = ContextQ(study.discount, depth=1).fit(study.taught).policy_
    except UQFError:
        return None
    return study.total(study.gains(study.taken(probs_along(policy, study.held_out))))
