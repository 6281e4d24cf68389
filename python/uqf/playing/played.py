"""What learning by playing gives back."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from uqf.curves import Curve
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import Score
from uqf.playing.rounds import Round
from uqf.policies.policy import BeliefPolicy, CompiledPolicy, ContextPolicy
from uqf.storage.policies import save
from uqf.worlds.world import World


@dataclass(frozen=True)
class Played(Curve):
    """The policy, why it was taken, what every round scored (`to_frame()`, `plot()`), and all episodes.

    Attributes
    ----------
    policy : compiled policy
        The finalist that earned most in fresh episodes.
    rounds : list of Round
        Who played, the return, its standard error, episodes and seconds, in the order of play.
    data : Trajectories
        All episodes, with the exact probability of every action.
    why : str
        The choice in plain words.
    env : World
        The world as it was played at last: where observations are numbers its codebook, which is also that of the
        policy, was learned anew from the episodes.
    chosen : str
        The finalist whose policy was taken.
    scores : dict of Score
        Of every finalist, in fresh episodes; the two best played more of them than the others.
    discount : float
        Of the returns.
    lineages : dict of policies
        The steps of policy iteration that were not given up, by name, as they would play next; `resume` goes on there.

    Examples
    --------
    >>> import uqf
    >>> played = uqf.play(uqf.make("tiger"), episodes=100, seconds=0)
    >>> len(played.data) <= 100
    True
    """

    policy: CompiledPolicy
    rounds: list[Round] = field(repr=False)
    data: Trajectories = field(repr=False)
    why: str
    env: World = field(repr=False)
    chosen: str
    scores: dict[str, Score]
    discount: float
    lineages: dict[str, ContextPolicy | BeliefPolicy] = field(default_factory=dict, repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy with its codebook; `uqf.load` reads it."""
        settings = {"learner": "play", "discount": self.discount, "why": self.why}
        save(self.policy, path, settings=settings, data=self.data)


class Stopped(KeyboardInterrupt):
    """Ctrl-C while `uqf.play` was running.

    Parameters
    ----------
    data : Trajectories
        The episodes that were played until then: ``uqf.play(env, …, resume=stopped.data)`` learns from them as well.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=20, seed=0)
    >>> print(uqf.Stopped(data))
    stopped after 20 episodes, which are in `data`: resume=stopped.data goes on from them
    """

    def __init__(self, data: Trajectories) -> None:
        self.data = data
        super().__init__(
            f"stopped after {len(data):,} episodes, which are in `data`: resume=stopped.data goes on from them"
        )
