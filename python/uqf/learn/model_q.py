"""ModelQ: beliefs of hidden Markov models, and a plan in the one whose plan earns most in others that are as good."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from uqf.episodes.checks import FloatArray, instance, probability
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import estimate_return
from uqf.learn.improve.gain import Gain
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

    models: int = 6
    """Models from different starts."""
    judges: int = 3
    """So many of those on whose beliefs the log improves most are planned in, and judge each other's plans."""
    evidence: float = 2.0
    """So are all others but for those that are worse by so many standard errors."""
    constant: bool = True
    """Whether one action for ever is judged as well: where it earns more than all plans, models are wrong, or no action
    is worth its risk."""
    steps: int = 200_000
    """Models are trained on the first episodes that have so many steps."""
    played: int = 200
    """Episodes that a plan plays in another model."""
    numbers: int = 4_000_000
    """Of a model, at most: what actions and states bring about, and what is shown and paid then."""
    growth: Growth = field(default_factory=Growth)
    plan: PointSettings = field(default_factory=PointSettings)

    def too_many(self, n_actions: int, n_observations: int, *, noisy: bool = False) -> str | None:
        """Why the alphabets of a log are too large for models, or None; known before anything is trained."""
        states = n_observations if noisy else self.growth.states
        if not isinstance(states, int) or states >= 2**31:
            return None  # the core refuses it by name
        numbers = n_actions * states * (states + n_observations)
        if numbers <= self.numbers:
            return None
        return (
            f"{n_actions:,} actions and {n_observations:,} observations: a model of {states:,} states would have "
            f"{numbers:,} numbers, and {self.numbers:,} are trained in a minute; use BeliefQ or ContextQ, whose size "
            "follows the log, or merge what is rare"
        )


class ModelQ(Learner):
    """Learns hidden Markov models of the log, plans in the good ones, and takes the plan that earns most in the others.

    A model is good if the log is improved on its beliefs as on those of the best, as held-out episodes show. A plan
    looks as far ahead as the discount reaches, and takes actions whose only use is to find out where it is. Where the
    models are right this is much better than improving the logging policy. Where they are not it can be worse than
    chance, and nothing in the values shows it: `uqf.fit` takes it only if it earns clearly more than the favourite in
    the models that did not make the plan. Where one action for ever earns more in all of them than every plan made
    elsewhere, this is what it does.

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
    cross_play_ : (models, models), what the plan of one earns in another; NaN in its own, and where none was made

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
        problem = how.too_many(data.n_actions, data.n_observations, noisy=self.model == "noisy")
        if problem is not None:
            raise ValueError(problem)
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
            gains.append(gain_on_beliefs(self._acting(model, opens), sample, self.discount, self.threads))
            reporter.advance(1)
        self._judges = as_good(gains, how)
        horizon = int(data.lengths.max())
        self.worlds_ = [world_of(model, self.discount, horizon, opens) for model in self.models_]
        policies = self._policies(opens, how, reporter)
        self.cross_play_ = self._cross_play(policies, reporter)
        earned = np.nanmean(self.cross_play_[self._judges], axis=1) if len(policies) > 1 else np.zeros(1)
        taken = self._judges[int(earned.argmax())]
        made: int | None = taken
        self.policy_ = policies[taken]
        if how.constant and len(policies) > 1:
            worlds = [self.worlds_[number] for number in self._judges]
            alone = {int(action): always(action, worlds) for action in np.unique(data.actions)}
            action = max(alone, key=lambda action: alone[action])
            if alone[action] > earned.max():
                made, self.policy_ = None, constant(self.policy_, action)
        self.diagnostics_ = {
            "learner": "ModelQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "steps_for_models": sample.n_steps,
            "states": [model.n_states for model in self.models_],
            "log_likelihood": [float(model.likelihoods.sum() / sample.n_steps) for model in self.models_],
            "gains": [gain.mean for gain in gains],
            "planned_in": self._judges,
            "model": made,
            "notes": [],
        }

    def earned_by(self, policy: Policy) -> FloatArray:
        """Mean return of any policy in every model but the one that the plan was made in.

        All models are of all episodes, from different random starts: wrong in different ways. Every policy meets the
        same random numbers, and others in every model: models that are alike leave the error of play.
        """
        made = self.diagnostics_["model"]  # None if it is one action for ever
        others = [number for number in range(len(self.worlds_)) if number != made]
        return np.array([self._returns(policy, number).mean() for number in others])

    def _policies(self, opens: bool, how: ModelSettings, reporter: Reporter) -> dict[int, BeliefPolicy]:
        """Plans, by the number of the model."""
        reporter.enter("planning", len(self._judges))
        with ThreadPoolExecutor(self.threads) as pool:
            plans = list(pool.map(lambda number: self._plan(number, opens, how.plan), self._judges))
        chosen = zip(self._judges, plans, strict=True)
        return {number: self._acting(self.models_[number], opens, plan) for number, plan in chosen}

    def _cross_play(self, policies: dict[int, BeliefPolicy], reporter: Reporter) -> FloatArray:
        reporter.enter("play in models", len(policies) ** 2)
        earned = np.full((len(self.models_), len(self.models_)), np.nan)
        for own, policy in policies.items():
            for other in policies:
                if own != other:
                    earned[own, other] = self._returns(policy, other).mean()
                reporter.advance(1)
        return earned

    def _plan(self, number: int, opens: bool, settings: PointSettings) -> FloatArray:
        """What actions are worth, (S, V, A).

        Only actions that were tried are planned with. Any other is worse than the worst of them, by as much as any two
        values differ.
        """
        model, discount = self.models_[number], min(self.discount, MAX_DISCOUNT)
        rewards, transitions = model.rewards[model.tried], model.transitions[model.tried]
        if self.planner == "qmdp":
            known = optimal_values(rewards.astype(np.float64), transitions.astype(np.float64), discount)
            values = known.T[:, np.newaxis]
        else:
            arrays = (transitions, model.shown[np.newaxis], rewards, model.openings(opens))
            values, _ = point_plan(*arrays, discount, settings=settings, seed=self.seed + number)
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

    def _returns(self, policy: Policy, number: int) -> FloatArray:
        episodes, seed = (self.settings or ModelSettings()).played, self.seed + number
        world = self.worlds_[number]
        return estimate_return(world, policy, episodes=episodes, seed=seed, threads=self.threads).returns


def as_good(gains: Sequence[Gain], settings: ModelSettings) -> list[int]:
    """Numbers of the models whose beliefs are worth most, and of those that are not clearly worth less."""
    order = sorted(range(len(gains)), key=lambda number: -gains[number].mean)
    best = gains[order[0]].totals
    doubted = [number for number in order if Gain(best - gains[number].totals).evidence <= settings.evidence]
    return sorted({*order[: settings.judges], *doubted})


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
