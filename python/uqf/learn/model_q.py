"""ModelQ: beliefs of cloned hidden Markov models, and values by planning in these models."""

from __future__ import annotations

import numpy as np

from uqf import _core
from uqf.episodes.checks import FloatArray, probability
from uqf.episodes.trajectories import Trajectories
from uqf.learn.belief_q import BeliefQ
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.plan.values import MAX_DISCOUNT as MAX_DISCOUNT
from uqf.learn.plan.values import optimal_values
from uqf.policies.policy import BeliefPolicy
from uqf.reading.overview import Overview
from uqf.reading.reader import Reader
from uqf.types import Record


class ModelQ(BeliefQ):
    """Learns the models of `BeliefQ` and plans in them as far ahead as the discount reaches.

    An action is worth what it would be worth if the state were known from the next step on (QMDP), on average over the
    belief and over all models. Where the models are right this is much better than improving the logging policy; where
    they are not it can be worse than chance, and nothing in the values shows it. `uqf.fit` takes it only if all models
    of other episodes agree that it is better (`uqf.learn.choose.rehearsal`).

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise; plans use 0.99 at most.
    states, models, seed, threads
        As in `BeliefQ`.
    temperature : float
        0 acts greedily; more draws actions from softmax(q_values / temperature).

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("tiger")
    >>> learner = uqf.ModelQ(0.95, states=4, models=2).fit(uqf.rollout(env, episodes=1000, seed=0))
    >>> int(learner.decision_function([[]])[0].argmax())  # listen first
    0
    """

    temperature: float

    def __init__(
        self,
        discount: float = 0.99,
        *,
        states: int = 60,
        models: int = 4,
        temperature: float = 0.0,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.discount = discount
        self.states = states
        self.models = models
        self.temperature = temperature
        self.seed = seed
        self.threads = threads

    @classmethod
    def in_models_of(cls, learner: BeliefQ) -> ModelQ:
        """Plans in the models that another learner has trained."""
        planner = cls(
            learner.discount,
            states=learner.states,
            models=learner.models,
            seed=learner.seed,
            threads=learner.threads,
        )
        planner.policy_ = planner._plan(BeliefMemory(learner.families_, learner.policy_.n_actions))
        planner._kept = learner._kept
        return planner

    def _discounts(self) -> list[float]:
        return [min(probability("discount", self.discount), MAX_DISCOUNT)]

    def _policy(
        self,
        memory: BeliefMemory,
        sample: Trajectories,
        overview: Overview,
        reader: Reader,
        learning_discount: float,
    ) -> BeliefPolicy:
        return self._plan(memory)

    def _plan(self, memory: BeliefMemory) -> BeliefPolicy:
        """Acts on the values that states have in the models."""
        (discount,) = self._discounts()
        return memory.policy(planned_values(memory.families, discount), self.temperature)


def planned_values(families: list[_core.CloneModels], discount: float) -> FloatArray:
    """Weights (1 + features, actions): optimal values of the states of every model, averaged over models."""
    values = []
    for family in families:
        kinds = family.filters()["kinds"]
        values += [known_state_values(family.model(index), discount)[kinds].T for index in range(len(family))]
    together = np.concatenate(values) / len(values)
    return np.concatenate([np.zeros((1, together.shape[1])), together])


def known_state_values(model: Record, discount: float) -> FloatArray:
    """Q (kinds of actions, states) of one model whose state is known."""
    goes_on = 1.0 - model["ends"].astype(np.float64)
    return optimal_values(model["rewards"], goes_on[..., np.newaxis] * model["transitions"], discount)
