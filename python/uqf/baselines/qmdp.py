"""QMDP (Littman, Cassandra & Kaelbling 1995): as if the state were seen after the next step."""

from __future__ import annotations

from typing import Self

import numpy as np

from uqf.baselines.value_iteration import backup, blind_values, observable_values
from uqf.plans import BeliefModel, PlanPolicy, infinite_horizon_model
from uqf.worlds.environments import TabularPOMDP


class QMDP:
    """Greedy on the mean over the belief of the fully observable Q.

    Its values are upper bounds of the optimum in every belief. Trap: they promise information for free, so
    the policy never pays to look, and its return has no bound; `lower_bound_` is the best blind policy's.
    """

    def solve(self, pomdp: TabularPOMDP) -> Self:
        """Computes the policy and the bounds of this model."""
        model = BeliefModel(infinite_horizon_model(pomdp, "QMDP"))
        table = backup(model, observable_values(model))
        self.policy_ = PlanPolicy(model, table, np.arange(model.n_actions))
        self.lower_bound_ = float((blind_values(model) @ model.start).max())
        self.upper_bound_ = float((table @ model.start).max())
        return self
