"""What the policy would do when it acts for whole episodes, and when a sensor is missing: by models, so guesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf.coding.cells import Cells
from uqf.coding.column_numbers import Numbers, known_names
from uqf.coding.raw_columns import OTHER
from uqf.episodes.sums import episodes_within
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import rollout
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.candidates import Settings
from uqf.learn.choose.play import models_to_play_in
from uqf.policies.policy import SummaryPolicy, probs_along
from uqf.reports.readings import columns_of
from uqf.reports.rules import ratio
from uqf.reports.study import Study
from uqf.types import Record


@dataclass(frozen=True)
class Effort:
    """How much is played: `episodes` in each model; models are learned from `steps` steps at most."""

    episodes: int = 200
    steps: int = 20_000


@dataclass(frozen=True)
class WithoutSensor:
    """What is left of the policy when a column is missing from now on."""

    column: str
    decisions: float
    """Share of the held-out steps in which it would still do the same."""
    value: float | None
    """Share of its one-step gain that is left; None if that gain is not clear."""
    value_stderr: float | None


@dataclass(frozen=True)
class Acting:
    """The policy at work."""

    shares: list[float]
    """Of the actions, by code, when the policy acts for whole episodes; empty if no model is small enough."""
    sensors: list[WithoutSensor]

    @classmethod
    def of(cls, study: Study, seed: int, effort: Effort | None = None) -> Acting:
        """Shares from models of episodes that do not judge; sensors by the held-out episodes."""
        return cls(_shares(study, seed, effort or Effort()), _sensors(study))


def _shares(study: Study, seed: int, effort: Effort) -> list[float]:
    training = study.training[: episodes_within(study.training, effort.steps)]
    learner = study.learner if isinstance(study.learner, BeliefQ) else None
    families = (
        BeliefQ(study.discount, seed=seed).models_of(training) if learner is None else learner.families_
    )
    counts = np.zeros(study.log.n_actions)
    for world in models_to_play_in(families, study.discount, study.log, Settings()):
        played = rollout(world, study.policy, episodes=effort.episodes, seed=seed)
        counts += np.bincount(played.actions, minlength=len(counts))
    return [] if not counts.any() else [float(share) for share in counts / counts.sum()]


def _sensors(study: Study) -> list[WithoutSensor]:
    """One line for each column that decisions depend on; none where there is at most one."""
    book = study.log.codebook
    cells = None if book is None else book.coding_
    if not isinstance(cells, Cells):
        return []
    # Forests read the columns themselves, others the codes that are made of some of them.
    raw = isinstance(study.policy, SummaryPolicy) and bool(columns_of(study.log))
    names = [one.name for one in cells.columns] if raw else cells.used
    if len(names) < 2:
        return []
    whole = study.total(study.gains(study.taken(study.probs)))
    lines = []
    for name in names:
        probs = probs_along(study.policy, _without(study.held_out, cells, name))
        left = study.total(study.gains(study.taken(probs)))
        same = probs.argmax(axis=1) == study.probs.argmax(axis=1)
        lines.append(WithoutSensor(name, float(same.mean()), *ratio(left, whole)))
    return lines


def _without(data: Trajectories, cells: Cells, column: str) -> Trajectories:
    """The episodes with a column missing, in what was read and in its codes; others have a value in their cell."""
    codes = np.array([_code_without(cells, column, point) for point in cells.points], np.int32)
    place = [one.name for one in cells.columns].index(column)
    state = data.__getstate__()
    changed: Record = {
        name: codes[state[name]] for name in ("observations", "first_observations") if state[name] is not None
    }
    for name in ("columns", "first_columns"):
        if state[name] is not None and columns_of(data):
            changed[name] = state[name].copy()
            changed[name][:, place] = np.nan
    return Trajectories(**state | changed)


def _code_without(cells: Cells, column: str, point: Numbers) -> int:
    place, questions = 0, cells.questions
    while place < len(questions):
        question = questions[place]
        asked, value = cells.columns[question.column], point[question.column]
        missing = asked.name == column or np.isnan(value)
        known = (
            (*known_names(asked), OTHER)[int(value)] if asked.kind == "category" and not missing else value
        )
        place = question.yes if question.answer(None if missing else known) else question.no
    return place - len(questions)
