"""TableQ: exact plans on counts, where the last observation is a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray, probability
from uqf.episodes.propensities import last_observations
from uqf.episodes.sums import goes_on, reward_classes
from uqf.episodes.trajectories import Trajectories
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.memory.counts import Counts
from uqf.learn.plan.drawn import Hopes, drawn_values
from uqf.learn.plan.values import DecisionProcess, Optimum
from uqf.policies.policy import ObservationPolicy
from uqf.reading.parallel import single_blas
from uqf.reading.progress import Callback


@dataclass(frozen=True)
class TableSettings:
    """What `TableQ` does not ask its users.

    max_discount : plans look no farther ahead, or sums over an endless future would have no limit
    max_exact : up to so many observations the errors of values are worked out exactly, to first order
    prior_steps : candidates for the steps of evidence that an action needs to weigh as much as all actions after its
        observation
    tolerance : errors of planning above this part of the largest value are noted
    cells : values of a table at most, of which there are some copies
    """

    max_discount: float = 0.9999
    max_exact: int = 1_500
    prior_steps: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    tolerance: float = 1e-6
    cells: int = 10_000_000

    def too_many(self, n_actions: int, n_observations: int) -> str | None:
        """Why the alphabets of a log are too large for a table, or None."""
        cells = n_actions * (n_observations + 1)
        if cells <= self.cells:
            return None
        return (
            f"{n_actions:,} actions and {n_observations:,} observations: a table would have {cells:,} values, at most "
            f"{self.cells:,} are kept; use ContextQ or BeliefQ, whose size follows the log, or merge what is rare"
        )


SETTINGS = TableSettings()


class TableQ(Learner):
    """Counts what follows every observation and action, and plans as far ahead as the discount reaches.

    The best that a log allows where the last observation is a state (see `uqf.markov_test`), and wrong where it is not.
    Only actions that were tried are planned with; where nothing was tried after an observation, the worst is expected
    for ever. What is known of one action after an observation may say something about the others: how much, is chosen
    by the likelihood of every step given all others.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    temperature : float
        0 acts greedily; otherwise actions are drawn from softmax(q / temperature).

    Attributes
    ----------
    values_, stderr_ : (n_observations + 1, n_actions)
        Q values and their standard errors, −inf and inf where an action was never tried; the last row is the start of
        episodes that show nothing first.
    counts_ : `uqf.learn.memory.counts.Counts`
        What the plan rests on.
    hope_ : float
        The return that drawn plans hope for where little is known.

    Examples
    --------
    >>> import gymnasium, uqf
    >>> data = uqf.from_gymnasium(gymnasium.make("FrozenLake-v1"), episodes=200, seed=0)
    >>> uqf.TableQ(0.99).fit(data).values_.shape
    (17, 4)
    """

    def __init__(self, discount: float = 0.99, *, temperature: float = 0.0) -> None:
        self.discount = discount
        self.temperature = temperature

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        discount = min(probability("discount", self.discount), SETTINGS.max_discount)
        checked_temperature(self.temperature)
        problem = SETTINGS.too_many(data.n_actions, data.n_observations)
        if problem is not None:
            raise ValueError(problem)
        counts, prior = Counts.of(data), best_prior(data)
        self.counts_, self.hope_ = counts, Hopes.of(data, discount).hope
        model = Model.of(counts, prior)
        plan = model.optimal(discount)
        self.values_ = model.table(plan.pairs, -np.inf)
        self.stderr_ = model.table(model.standard_errors(plan.pairs, discount), np.inf)
        self.policy_ = ObservationPolicy(_without_holes(self.values_), temperature=self.temperature)
        exact = plan.error <= SETTINGS.tolerance * float(np.abs(plan.pairs).max())
        self.diagnostics_ = {
            "learner": "TableQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "pairs_tried": len(counts.cells),
            "observations_never_left": int(model.nowhere.sum()),
            "prior_steps": prior,
            "planning_error": plan.error,
            "notes": [] if exact else [f"planning stopped within {plan.error:.3g} of the exact values"],
        }

    def drawn(self, seed: int) -> ObservationPolicy:
        """The best policy in a world drawn from the posterior: to play an episode or a few with, then fit again.

        A pair of observation and action that is little known may lead to the return `hope_`, so drawn policies
        explore, and the less so the more is known. To act well, use `policy_`.
        """
        self._fitted()
        discount, rng = min(self.discount, SETTINGS.max_discount), np.random.default_rng(seed)
        return ObservationPolicy(drawn_values(self.counts_, self.hope_, discount, rng))


@dataclass(frozen=True)
class Model:
    """A Markov decision process over observations, known where actions were tried.

    rewards, variances : (pairs,), mean reward and its variance; transitions : sparse (pairs, states); nowhere :
    (states,), where nothing was tried
    """

    counts: Counts
    rewards: FloatArray
    variances: FloatArray
    transitions: scipy.sparse.csr_array
    nowhere: NDArray[np.bool_]

    @classmethod
    def of(cls, counts: Counts, prior: float) -> Model:
        """Frequencies and means, every pair drawn towards all pairs with its observation by `prior` steps."""
        pooled = counts.pooled()
        mass, share = counts.tried + prior, prior / (pooled @ counts.tried)[counts.states]
        together = scipy.sparse.diags_array(share) @ (pooled.T @ (pooled @ counts.arrivals))
        transitions = scipy.sparse.diags_array(1.0 / mass) @ (counts.arrivals + together)
        rewards, squares = (
            (own + share * (pooled @ own)[counts.states]) / mass for own in (counts.rewards, counts.squares)
        )
        nowhere = np.ones(counts.n_states, np.bool_)
        nowhere[counts.states] = False
        return cls(counts, rewards, np.maximum(squares - rewards**2, 0.0), transitions.tocsr(), nowhere)

    def process(self, floor: float = 0.0) -> DecisionProcess:
        """The decisions that were tried; `floor` is what observations are worth after which nothing was."""
        return DecisionProcess(self.counts.states, self.rewards, self.transitions, floor)

    def optimal(self, discount: float) -> Optimum:
        """Q of every pair; where nothing was tried, the worst reward is expected for ever."""
        return self.process(min(0.0, float(self.rewards.min())) / (1.0 - discount)).optimal(discount)

    def standard_errors(
        self, pairs: FloatArray, discount: float, max_exact: int = SETTINGS.max_exact
    ) -> FloatArray:
        """Of the value of every pair: the noise of its own mean, and of all means that the greedy policy meets later.

        To first order an error ε of the means makes an error (1 − γP)⁻¹ ε of the values of a policy. With more than
        `max_exact` observations the errors of all later means are added up as if they had one sign, which is more than
        there is.
        """
        counts, process = self.counts, self.process()
        values, greedy = process.best(pairs), process.greedy(pairs)
        ahead = self.transitions @ values
        spread = self.variances + discount**2 * np.maximum(self.transitions @ values**2 - ahead**2, 0.0)
        own = spread / np.maximum(counts.tried - 1.0, 0.5)
        if counts.n_states > max_exact:
            later = process.following(greedy, np.sqrt(own), discount)
            return np.asarray(np.sqrt(own) + discount * (self.transitions @ later))
        here = np.zeros(counts.n_states)
        here[counts.states[greedy]] = own[greedy]
        greedily = np.zeros((counts.n_states, counts.n_states))
        greedily[counts.states[greedy]] = self.transitions[greedy].toarray()
        with single_blas():
            inverse = np.linalg.inv(np.eye(counts.n_states) - discount * greedily)
        effects = discount * (self.transitions @ inverse)
        effects[greedy, counts.states[greedy]] += 1.0
        others = own.copy()
        others[greedy] = 0.0
        return np.asarray(np.sqrt(effects**2 @ here + others))

    def table(self, pairs: FloatArray, unknown: float) -> FloatArray:
        """(states, actions), with something else where an action was never tried."""
        table = np.full(self.counts.n_states * self.counts.n_actions, unknown)
        table[self.counts.cells] = pairs
        return table.reshape(self.counts.n_states, self.counts.n_actions)


def best_prior(data: Trajectories) -> float:
    """The number of prior steps under which every step, given all others, is likeliest.

    What happens in a step is the next observation or the end, and the reward: pairs whose rewards differ have little to
    say about each other, even if they lead to the same places.
    """
    states = last_observations(data)
    pairs = np.unique(states * data.n_actions + data.actions, return_inverse=True)[1]
    places = np.where(goes_on(data), data.observations, data.n_observations)
    events = np.unique(reward_classes(data) * (data.n_observations + 1) + places, return_inverse=True)[1]
    n_events = int(events.max()) + 1
    tried, everywhere = (np.bincount(keys)[keys] for keys in (pairs, states))
    mine, together = (
        np.bincount(place)[place]
        for place in (np.unique(keys * n_events + events, return_inverse=True)[1] for keys in (pairs, states))
    )
    # What the others of the observation say, without the step itself; never quite impossible.
    base = (together - 1.0 + 1e-2) / (everywhere - 1.0 + 1e-2 * n_events)

    def likelihood(prior: float) -> float:
        weight = prior + 1e-3
        return float(np.log((mine - 1.0 + weight * base) / (tried - 1.0 + weight)).sum())

    return max(SETTINGS.prior_steps, key=likelihood)


def _without_holes(values: FloatArray) -> FloatArray:
    """Values that a policy can hold: 0 where nothing is known of an observation.

    An action never tried is worse than the worst tried one by as much as any two values differ, whatever rewards are
    counted in.
    """
    known = np.isfinite(values)
    range_ = float(np.ptp(values[known])) or float(np.abs(values[known]).max()) or 1.0
    worst = np.where(known, values, np.inf).min(axis=1, keepdims=True)
    lower = np.where(np.isfinite(worst), worst - range_, 0.0)
    return np.ascontiguousarray(np.where(known, values, lower))
