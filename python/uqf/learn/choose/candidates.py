"""The learners among which `uqf.fit` chooses, and the numbers of its rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.learner import Learner
from uqf.learn.memory.hidden import Growth
from uqf.learn.model_q import ModelQ, ModelSettings
from uqf.learn.spectral_q import SpectralQ
from uqf.learn.summary_q import SummaryQ
from uqf.learn.table_q import TableQ


@dataclass(frozen=True)
class Settings:
    """The numbers of the choice; docs/notebook.md has their evidence."""

    sample_steps: int = 300_000
    """Learners are compared on about so many steps at most, drawn from all."""
    evidence: float = 2.0
    """Standard errors by which a learner must be ahead to take the place of another."""
    share: float = 0.02
    """Share of what the other gains by which it must be ahead as well: a smaller lead changes nothing."""
    short_discount: float = 0.5
    """Discount of the gains that are compared where none is seen at the discount of the task."""
    planning_episodes: int = 200
    """Below so many episodes, models that need memory are not planned in: they are wrong in the same way."""
    states_per_observation: float = 2.0
    """Models with fewer states than this for an observation remember hardly more than the last one."""
    played_episodes: tuple[int, int] = (200, 1_000)
    """Episodes that a policy plays in a model, at least and at most."""
    played_steps: int = 100_000
    """Steps that it plays there, about, if the number of episodes allows."""
    world_cells: int = 5_000_000
    """Numbers of the largest model that is played in."""


@dataclass(frozen=True)
class Candidate:
    """A learner that takes part in the choice."""

    name: str
    """In `diagnostics_`."""
    make: Callable[[float, int], Learner]
    """Unfitted, from the discount and the seed."""
    on_observations: bool = False
    """Plans as if the last observation were a state: considered only where it is, and compared in models of held-out
    episodes."""
    on_columns: bool = False
    """Sees numbers as they are and histories of any length, which models of codes may miss: these do not judge it."""


#: It holds the place until another is clearly better; plans are played in its models.
FAVOURITE = Candidate("BeliefQ", lambda discount, seed: BeliefQ(discount, seed=seed))

#: In the order in which they challenge whoever holds the place; where time is short the last ones are left out.
RIVALS: tuple[Candidate, ...] = (
    Candidate(
        "ContextQ, the next reward only", lambda discount, seed: ContextQ(discount, learning_discount=0.0)
    ),
    Candidate("ContextQ", lambda discount, seed: ContextQ(discount)),
    Candidate("SpectralQ", lambda discount, seed: SpectralQ(discount)),
    Candidate("SummaryQ", lambda discount, seed: SummaryQ(discount, seed=seed), on_columns=True),
    Candidate("TableQ", lambda discount, seed: TableQ(discount), on_observations=True),
)

#: Challenges whoever holds the place after all others, in models of all episodes.
PLANNER = Candidate("ModelQ", lambda discount, seed: ModelQ(discount, seed=seed))

#: The same in less time, for whoever plays; one action for ever would find nothing out.
TRIAL_PLANNER = Candidate(
    "ModelQ, trial",
    lambda discount, seed: ModelQ(
        discount,
        seed=seed,
        settings=ModelSettings(models=2, constant=False, growth=Growth(explore=30, settle=12)),
    ),
)
