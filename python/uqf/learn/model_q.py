"""ModelQ: beliefs of hidden Markov models, and a plan in the one on whose beliefs the log improves most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from uqf.episodes.checks import FloatArray, instance, probability
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import estimate_return
from uqf.learn.improve.on_beliefs import gain_on_beliefs
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.memory.hidden import Growth, HiddenModel, hidden_models
from uqf.learn.plan.model_world import model_world
from uqf.learn.plan.points import PointSettings, point_plan
from uqf.learn.plan.values import MAX_DISCOUNT, optimal_values
from uqf.policies.policy import BeliefPolicy, Policy
from uqf.reading.progress import Callback, Reporter
from uqf.worlds.environments import TabularPOMDP


@dataclass(frozen=True)
class ModelSettings:
    """The numbers of the learner; docs/notebook.md has their evidence."""

    models: int = 4
    """Models from different starts; one is planned in, and the others judge the plan."""
    constant: bool = True
    """Whether one action for ever is judged as well: where it earns more than all plans, models are wrong, or no action
    is worth its risk."""
    steps: int = 200_000
    """Models are trained on the first episodes that have so many steps."""
    played: int = 200
    """Episodes that a plan plays in another model."""
    growth: Growth = field(default_factory=Growth)
    plan: PointSettings = field(default_factory=PointSettings)


class ModelQ(Learner):
    """Learns hidden Markov models of the log, and plans in the one whose beliefs are worth most.

    That is the model on whose beliefs the log is improved most, as held-out episodes show. A plan looks as far ahead
    as the discount reaches, and takes actions whose only use is to find out where it is. Where the models are right
    this is much better than improving the logging policy. Where they are not it can be worse than chance, and nothing
    in the values shows it: `uqf.fit` takes it only if it earns clearly more than the favourite in the models that did
    not make the plan. Where one action for ever earns more in the models than the plan does in those that did not make
    it, this is what it does.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise; plans use 0.99 at most.
    model : None or "noisy"
        None: a state may show any observation, and there are as many states as held-out episodes ask for, or one for
        every observation, which the sensor may take for another. "noisy": always the latter.
    planner : None or "qmdp"
        None: a point-based plan. "qmdp": values as if the state were known from the next step on; quicker, and blind to
        actions that only find something out.
    temperature : float
        0 acts greedily; more draws actions from softmax(q_values / temperature).
    seed : int
        Of random starts and play in models; the same seed gives the same bits.
    threads : int, optional
        All cores by default; the result does not depend on it.
    settings : ModelSettings, optional
        The numbers of the algorithm: models, how they grow, how long is planned.

    Attributes
    ----------
    models_ : list of HiddenModel
    worlds_ : list of TabularPOMDP, the models as worlds to play in, with episodes as long as the longest logged one

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("tiger")
    >>> learner = uqf.ModelQ(0.95).fit(uqf.rollout(env, episodes=300, seed=0))
    >>> int(learner.decision_function([[]])[0].argmax())  # listen first
    0
    """

    policy_: BeliefPolicy

    def __init__(
        self,
        discount: float = 0.99,
        *,
        model: Literal["noisy"] | None = None,
        planner: Literal["qmdp"] | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        threads: int | None = None,
        settings: ModelSettings | None = None,
    ) -> None:
        self.discount = discount
        self.model = model
        self.planner = planner
        self.temperature = temperature
        self.seed = seed
        self.threads = threads
        self.settings = settings

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        probability("discount", self.discount)
        checked_temperature(self.temperature)
        for name, known in (("model", "noisy"), ("planner", "qmdp")):
            if (given := getattr(self, name)) is not None and (not isinstance(given, str) or given != known):
                raise ValueError(f'{name} = {given!r}: give None or "{known}"')
        if self.settings is not None:
            instance("settings", self.settings, ModelSettings, "ModelSettings(…), or None")
        how, reporter = self.settings or ModelSettings(), Reporter(progress)
        sample: Trajectories = data[: max(1, int(np.searchsorted(data.offsets[1:], how.steps, side="right")))]
        opens = data.first_observations is not None
        reporter.enter("training", how.models)
        self.models_ = hidden_models(
            sample,
            sample,
            range(how.models),
            growth=how.growth,
            noisy=self.model == "noisy",
            seed=self.seed,
            threads=self.threads,
        )
        reporter.enter("improving on beliefs", how.models)
        gains = []
        for model in self.models_:
            gains.append(
                gain_on_beliefs(self._acting(model, opens), sample, self.discount, self.threads).mean
            )
            reporter.advance(1)
        made = int(np.argmax(gains))
        reporter.enter("planning", 1)
        model = self.models_[made]
        self.policy_ = self._acting(model, opens, self._plan(model, self.seed + made, opens, how.plan))
        horizon = int(data.lengths.max())
        self.worlds_ = [world_of(model, self.discount, horizon, opens) for model in self.models_]
        others = [number for number in range(how.models) if number != made]
        idle = None
        if how.constant and others:
            alone = {int(action): always(action, self.worlds_) for action in np.unique(data.actions)}
            action = max(alone, key=lambda action: alone[action])
            if alone[action] > self._played(self.policy_, others).mean():
                idle, self.policy_ = action, constant(self.policy_, action)
        self.diagnostics_ = {
            "learner": "ModelQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "steps_for_models": sample.n_steps,
            "states": [model.n_states for model in self.models_],
            "log_likelihood": [float(model.likelihoods.sum() / sample.n_steps) for model in self.models_],
            "gains": gains,
            "model": made if idle is None else None,
            "notes": [],
        }

    def earned_by(self, policy: Policy) -> FloatArray:
        """Mean return of any policy in every model but the one that the plan was made in.

        All models are of all episodes, from different random starts: wrong in different ways. Every policy meets the
        same random numbers, and others in every model: models that are alike leave the error of play.
        """
        made = self.diagnostics_["model"]  # None if it is one action for ever
        return self._played(policy, [number for number in range(len(self.worlds_)) if number != made])

    def _plan(self, model: HiddenModel, seed: int, opens: bool, settings: PointSettings) -> FloatArray:
        """What actions are worth, (S, V, A).

        Only actions that were tried are planned with. Any other is worse than the worst of them, by as much as any two
        values differ.
        """
        discount = min(self.discount, MAX_DISCOUNT)
        rewards, transitions = model.rewards[model.tried], model.transitions[model.tried]
        if self.planner == "qmdp":
            known = optimal_values(rewards.astype(np.float64), transitions.astype(np.float64), discount)
            values = known.T[:, np.newaxis]
        else:
            arrays = (transitions, model.shown[np.newaxis], rewards, model.openings(opens))
            values, _ = point_plan(*arrays, discount, settings=settings, seed=seed)
        worst = values.min(axis=(1, 2)) - (np.ptp(values) or 1.0)
        plan = np.broadcast_to(worst[:, np.newaxis, np.newaxis], (*values.shape[:2], len(model.tried))).copy()
        plan[:, :, model.tried] = values
        return plan

    def _acting(self, model: HiddenModel, opens: bool, plan: FloatArray | None = None) -> BeliefPolicy:
        """A policy on the beliefs of a model; without a plan it is indifferent."""
        actions, states = model.rewards.shape
        weights = np.zeros((states, 1, actions)) if plan is None else plan
        temperature = 1.0 if plan is None else self.temperature
        return BeliefPolicy(
            **model.filters(opens), weights=weights, bias=np.zeros(actions), temperature=temperature
        )

    def _played(self, policy: Policy, numbers: Sequence[int]) -> FloatArray:
        """Mean return in these models."""
        episodes = (self.settings or ModelSettings()).played
        scores = (
            estimate_return(
                self.worlds_[number], policy, episodes=episodes, seed=self.seed + number, threads=self.threads
            )
            for number in numbers
        )
        return np.array([score.mean for score in scores])


def always(action: int, worlds: Sequence[TabularPOMDP]) -> float:
    """What an action earns that is taken in every step, exactly: the mean of models as worlds."""
    total = 0.0
    for world in worlds:
        states, weight = world.start, 1.0
        for _ in range(world.horizon):
            total += weight * float(states @ world.rewards[action])
            states, weight = states @ world.transitions[action], weight * world.discount
    return total / len(worlds)


def constant(policy: BeliefPolicy, action: int) -> BeliefPolicy:
    """The policy that takes this action in every step, whatever another one believes."""
    parts = policy.parts()
    nothing = {"weights": np.zeros_like(parts["weights"][:, :1]), "temperature": 0.0}
    return BeliefPolicy(**parts | nothing | {"bias": np.eye(policy.n_actions)[action]})


def world_of(model: HiddenModel, discount: float, horizon: int, opens: bool) -> TabularPOMDP:
    """A model as a world to play in."""
    going = model.transitions.sum(axis=2).astype(np.float64)
    return model_world(
        model.start.astype(np.float64),
        model.transitions.astype(np.float64),
        np.clip(1.0 - going, 0.0, 1.0),
        model.rewards.astype(np.float64),
        model.shown.T.astype(np.float64),
        discount=discount,
        horizon=horizon,
        opens=opens,
    )
