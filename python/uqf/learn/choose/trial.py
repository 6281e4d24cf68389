"""What the choice keeps for estimates of what it chose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from uqf.episodes.trajectories import Trajectories
from uqf.learn.learner import Learner
from uqf.policies.policy import Policy


@dataclass(frozen=True)
class Trial:
    """A learner like the chosen one that learns without the held-out episodes."""

    learner: Learner
    """Fitted to `taught`, if the choice needed that; else when its policy is first needed."""
    taught: Trajectories
    """The episodes that it learns from."""
    held_out: Trajectories
    """The episodes that judge it."""

    @cached_property
    def policy(self) -> Policy:
        """What the learner decides without having seen the held-out episodes."""
        fitted = hasattr(self.learner, "policy_")
        policy: Policy = (self.learner if fitted else self.learner.fit(self.taught)).policy_
        return policy
