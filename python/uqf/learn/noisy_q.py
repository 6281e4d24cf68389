"""NoisyQ: a state behind every observation, observations that may be wrong, and a plan for what is behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray, probability
from uqf.episodes.sums import goes_on, reward_classes
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.plan.values import MAX_DISCOUNT, optimal_values
from uqf.policies.policy import BeliefPolicy
from uqf.reading.progress import Callback

#: States that a model has at most: an iteration takes the square of them for every step.
MAX_STATES = 32

#: Iterations of Baum and Welch, and steps that one of them sees; averages follow new batches less and less.
ITERATIONS = 30
BATCH_STEPS = 10_000
FOLLOWS = (0.7, 0.2)

#: An observation is what it seems with this probability, before anything is learned of it.
TRUST = 0.85

#: Steps that every transition and everything shown is given for nothing.
TRANSITION_STEPS = 0.05
SHOWN_STEPS = 0.02


@dataclass(frozen=True)
class Steps:
    """Episodes as a hidden Markov model sees them.

    What `reset` shows is a first step with an action of its own, which leads from anywhere to where episodes begin.

    data : with a symbol for every observation, reward and end together instead of observations
    shown : (symbols,), the observation of each; ends : (symbols,), whether it is one
    opens : whether the first step, with the last action, is what `reset` showed
    """

    data: Trajectories
    shown: NDArray[np.int64]
    ends: NDArray[np.bool_]
    opens: bool

    @classmethod
    def of(cls, data: Trajectories) -> Steps:
        """Of a data set."""
        ends, opens = ~goes_on(data), data.first_observations is not None
        pays = 1 + reward_classes(data)
        actions, observations, rewards = data.actions, data.observations, data.rewards
        offsets = data.offsets
        if data.first_observations is not None:
            first = offsets[:-1]
            actions = np.insert(actions, first, data.n_actions)
            observations = np.insert(observations, first, data.first_observations)
            rewards = np.insert(rewards, first, 0.0)
            pays, ends = np.insert(pays, first, 0), np.insert(ends, first, False)
            offsets = offsets + np.arange(len(offsets))
        codes = (pays * 2 + ends) * data.n_observations + observations
        symbols, numbered = np.unique(codes, return_inverse=True)
        steps = Trajectories(
            actions,
            numbered,
            rewards,
            offsets,
            n_actions=data.n_actions + opens,
            n_observations=len(symbols),
        )
        return cls(steps, symbols % data.n_observations, symbols // data.n_observations % 2 == 1, opens)


@dataclass(frozen=True)
class Model:
    """A hidden Markov model driven by actions.

    start : (states,); transitions : (actions, states, states); symbols : (states, symbols)
    rewards : (actions, states), what follows on average
    """

    start: FloatArray
    transitions: FloatArray
    symbols: FloatArray
    rewards: FloatArray

    @classmethod
    def seen(cls, steps: Steps, n_states: int, trust: float = TRUST) -> Model:
        """Where states are what is shown, which is right with the probability `trust`."""
        data, shown = steps.data, steps.shown[steps.data.observations]
        before = np.roll(shown, 1)
        later = np.ones(data.n_steps, np.bool_)
        later[data.offsets[:-1]] = False
        counts = np.full((data.n_actions, n_states, n_states), TRANSITION_STEPS)
        np.add.at(counts, (data.actions[later], before[later], shown[later]), 1.0)
        if steps.opens:
            counts[-1] += np.bincount(shown[~later], minlength=n_states) + TRANSITION_STEPS
        share = np.bincount(data.observations, minlength=data.n_observations) / data.n_steps
        symbols = np.full((n_states, data.n_observations), SHOWN_STEPS / data.n_steps)
        symbols[steps.shown, np.arange(data.n_observations)] += share
        symbols = trust * normalised(symbols) + (1.0 - trust) * share
        return cls(np.full(n_states, 1.0 / n_states), normalised(counts), symbols, np.zeros(counts.shape[:2]))

    def counted(self, data: Trajectories) -> tuple[float, FloatArray, FloatArray, FloatArray, FloatArray]:
        """(log-likelihood, expected starts, transitions, symbols by state, rewards by action and state)."""
        symbols = np.ascontiguousarray(np.broadcast_to(self.symbols, (data.n_actions, *self.symbols.shape)))
        total, start, transitions, shown, rewards = _core.expected_counts(
            data, self.start, self.transitions, symbols, threads=1
        )
        return total, start, transitions, shown.sum(axis=0), rewards.sum(axis=2)

    def trained(self, data: Trajectories, rng: np.random.Generator) -> Model:
        """After some iterations, each on other episodes."""
        episodes = max(1, round(BATCH_STEPS * len(data) / data.n_steps))
        model, known = self, None
        for follows in np.linspace(*FOLLOWS, ITERATIONS):
            batch = data if episodes >= len(data) else data[np.sort(rng.permutation(len(data))[:episodes])]
            counts = [data.n_steps / batch.n_steps * part for part in model.counted(batch)[1:]]
            if known is None:
                known = counts
            known = [(1.0 - follows) * old + follows * new for old, new in zip(known, counts, strict=True)]
            start, transitions, shown, rewards = known
            model = Model(
                normalised(start + SHOWN_STEPS),
                normalised(transitions + TRANSITION_STEPS),
                normalised(shown + SHOWN_STEPS),
                rewards / (transitions.sum(axis=2) + TRANSITION_STEPS),
            )
        return model


def normalised(counts: FloatArray) -> FloatArray:
    """Rows that sum to 1."""
    return np.ascontiguousarray(counts / counts.sum(axis=-1, keepdims=True))


class NoisyQ(Learner):
    """Takes every observation for a state that may be mistaken for another, and plans for what is behind them.

    For worlds whose state would be seen, if the sensor were not wrong now and then. A hidden Markov model with one
    state for every observation is trained from there, all states may show everything, and an action is worth what it
    would be worth if the state were known from the next step on (QMDP). `uqf.fit` takes it if its models predict
    held-out episodes better than others do, and if its plans are better in models of other episodes.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise; plans use 0.99 at most.
    temperature : float
        0 acts greedily; more draws actions from softmax(q_values / temperature).
    seed : int
        Draws the episodes of an iteration; the same seed gives the same bits.

    Attributes
    ----------
    model_ : the hidden Markov model
    shown_, ends_, start_ : (states, observations), (states,), (states,), what states show, how often episodes end in
        them, and begin

    Examples
    --------
    >>> import uqf
    >>> learner = uqf.NoisyQ(0.95).fit(uqf.rollout(uqf.make("tiger"), episodes=500, seed=0))
    >>> int(learner.decision_function([[]])[0].argmax())  # listen first
    0
    """

    policy_: BeliefPolicy

    def __init__(self, discount: float = 0.99, *, temperature: float = 0.0, seed: int = 0) -> None:
        self.discount = discount
        self.temperature = temperature
        self.seed = seed

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        discount = min(probability("discount", self.discount), MAX_DISCOUNT)
        checked_temperature(self.temperature)
        if data.n_observations > MAX_STATES:
            raise UQFError(
                f"{data.n_observations} observations: NoisyQ has a state for each, {MAX_STATES} at most; use BeliefQ"
            )
        steps = Steps.of(data)
        self.model_ = Model.seen(steps, data.n_observations).trained(
            steps.data, np.random.default_rng(self.seed)
        )
        self.shown_ = shown = np.zeros((data.n_observations, data.n_observations))
        np.add.at(shown.T, steps.shown, self.model_.symbols.T)
        self.ends_ = ends = (self.model_.symbols * steps.ends).sum(axis=1)
        self.start_ = self.model_.start
        if data.first_observations is not None:
            self.start_ = self.model_.start @ self.model_.transitions[-1]
        self.policy_ = self._policy(discount, ends, data)
        self.diagnostics_ = {
            "learner": "NoisyQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "observations_right": float(np.diag(shown) @ (shown.sum(axis=0) / len(shown))),
            "notes": [],
        }

    def _policy(self, discount: float, ends: FloatArray, data: Trajectories) -> BeliefPolicy:
        """Acts on the values of the states behind observations."""
        states, n_actions = len(self.start_), data.n_actions
        going = self.model_.transitions[:n_actions] * (1.0 - ends)
        values = optimal_values(self.model_.rewards[:n_actions], going, discount)
        return BeliefPolicy(
            states=np.array([states]),
            starts=self.start_.astype(np.float32),
            transitions=going.astype(np.float32).ravel(),
            shown=self.shown_.T.astype(np.float32).ravel(),
            ranges=np.tile([0, states], (1, states, 1)),
            kinds=np.arange(n_actions),
            opens=data.first_observations is not None,
            weights=np.ascontiguousarray(values.T[:, np.newaxis]),
            bias=np.zeros(n_actions),
            temperature=self.temperature,
        )
