"""A plan against whoever holds the place, in models from other starts than the one that made the plan."""

from __future__ import annotations

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import estimate_return
from uqf.learn.choose.candidates import PLANNER
from uqf.learn.choose.comparison import Result
from uqf.learn.improve.gain import Gain
from uqf.learn.learner import Learner
from uqf.learn.model_q import ModelQ, ModelSettings


def duel(
    planner: Learner, learner: Learner, holder: Result, parts: tuple[Trajectories, Trajectories], seed: int
) -> Result:
    """What the plan earned more than the policy of the holder's learner, model by model.

    All models are of all episodes, from different random starts: wrong in different ways, and no episode is given
    away. Every policy meets the same random numbers.
    """
    assert isinstance(planner, ModelQ)
    longest = max(parts, key=lambda part: int(part.lengths.max()))
    made = planner.diagnostics_["model"]
    worlds = [(number, world) for number, world in enumerate(planner.worlds(longest)) if number != made]
    episodes = (planner.settings or ModelSettings()).played
    earned = planner.cross_play_[made, [number for number, _ in worlds]]
    others = [
        estimate_return(world, learner.policy_, episodes=episodes, seed=seed, threads=planner.threads).mean
        for _, world in worlds
    ]
    return Result(PLANNER, earned=earned, lead=Gain(earned - np.array(others)), over=holder.candidate.name)
