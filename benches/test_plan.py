"""A point-based plan of hallway's true model, beside a search in NumPy until its plan is worth as much."""

import numpy as np
from experience import hallway
from race import Reference, race

from uqf.baselines import PBVI
from uqf.learn.plan.belief_model import BeliefModel, expected_rewards
from uqf.learn.plan.points import point_plan

#: What a plan must be worth by the model, and how many trials the search needs for one that is worth as much.
WORTH, TRIALS = 0.98, 60


def test_point_based_plan(benchmark):
    world = hallway()
    model = BeliefModel(world)
    arrays = (
        np.asarray(model.transitions),
        world.observations.transpose(0, 2, 1),
        expected_rewards(world),
        world.start[np.newaxis],
    )

    def plan():
        assert point_plan(*arrays, world.discount)[1] >= WORTH

    def search():
        assert PBVI(iterations=TRIALS, seconds=600.0).solve(world).lower_bound_ >= WORTH

    race(
        benchmark,
        plan,
        [Reference("search (HSVI) in NumPy, by bounds", search)],
        stage="plan", case=f"hallway, worth {WORTH}", amount=1, unit="plans", rounds=3,
    )  # fmt: skip
