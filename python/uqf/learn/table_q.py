"""TableQ: value iteration on counts, where the last observation is a state."""

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
from uqf.learn.plan.value_iteration import settled
from uqf.policies.policy import ObservationPolicy
from uqf.reading.progress import Callback

#: Farther ahead than this discount nothing is planned: sums over an endless future would not settle.
MAX_DISCOUNT = 0.9999

#: Values have settled when no sweep changes one by more than this part of the largest.
SETTLED = 1e-9
MAX_SWEEPS = 20_000

#: Up to so many observations the errors of values are worked out exactly, to first order.
MAX_EXACT = 1_500

#: Steps of evidence that an action needs to weigh as much as all actions after its observation; the best is chosen.
PRIOR_STEPS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class Counts:
    """What followed every pair of an observation and an action that was tried.

    cells : (pairs,), observation · n_actions + action; the observation n_observations is a start that showed nothing
    tried : (pairs,), how often
    rewards, squares : (pairs,), sums of rewards and of their squares
    arrivals : sparse (pairs, n_observations + 1), how often each observation followed; where an episode ended, none did
    """

    n_actions: int
    n_states: int
    cells: NDArray[np.int64]
    tried: FloatArray
    rewards: FloatArray
    squares: FloatArray
    arrivals: scipy.sparse.csr_array

    @classmethod
    def of(cls, data: Trajectories) -> Counts:
        """Of a data set."""
        pairs = last_observations(data) * data.n_actions + data.actions
        cells, place = np.unique(pairs, return_inverse=True)
        n_states, on = data.n_observations + 1, goes_on(data)
        arrivals = scipy.sparse.coo_array(
            (np.ones(int(on.sum())), (place[on], data.observations[on])), shape=(len(cells), n_states)
        )
        return cls(
            data.n_actions,
            n_states,
            cells,
            np.bincount(place).astype(np.float64),
            np.bincount(place, data.rewards).astype(np.float64),
            np.bincount(place, data.rewards**2).astype(np.float64),
            arrivals.tocsr(),
        )

    @property
    def states(self) -> NDArray[np.int64]:
        """The observation of every pair."""
        return self.cells // self.n_actions

    def pooled(self) -> scipy.sparse.csr_array:
        """Sums over the pairs with the same observation, sparse (states, pairs)."""
        size = (self.n_states, len(self.cells))
        ones = (np.ones(len(self.cells)), (self.states, np.arange(len(self.cells))))
        return scipy.sparse.coo_array(ones, shape=size).tocsr()


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
        discount = min(probability("discount", self.discount), MAX_DISCOUNT)
        checked_temperature(self.temperature)
        counts = Counts.of(data)
        prior = best_prior(data)
        model = Model.of(counts, prior)
        values, sweeps = model.optimal_values(discount)
        self.values_ = model.table(values, -np.inf)
        self.stderr_ = model.table(model.standard_errors(values, discount), np.inf)
        self.policy_ = ObservationPolicy(_without_holes(self.values_), temperature=self.temperature)
        self.diagnostics_ = {
            "learner": "TableQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "pairs_tried": len(counts.cells),
            "observations_never_left": int(model.nowhere.sum()),
            "prior_steps": prior,
            "sweeps": sweeps,
            "notes": [],
        }


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

    def optimal_values(self, discount: float) -> tuple[FloatArray, int]:
        """(Q of every pair (pairs,), sweeps of value iteration that it took)."""
        floor = min(0.0, float(self.rewards.min())) / (1.0 - discount)
        return settled(
            np.where(self.nowhere, floor, 0.0),
            lambda values: self.rewards + discount * (self.transitions @ values),
            lambda pairs: self.best(pairs, floor),
            tolerance=SETTLED,
            max_sweeps=MAX_SWEEPS,
        )

    def best(self, pairs: FloatArray, floor: float) -> FloatArray:
        """The largest of the pairs of every observation, (states,); `floor` where there is none."""
        begins = np.flatnonzero(np.diff(self.counts.states, prepend=-1))
        found = np.full(self.counts.n_states, floor)
        found[self.counts.states[begins]] = np.maximum.reduceat(pairs, begins)
        return found

    def standard_errors(self, pairs: FloatArray, discount: float) -> FloatArray:
        """Of the value of every pair: the noise of its own mean, and of all means that the greedy policy meets later.

        To first order an error ε of the means makes an error (1 − γP)⁻¹ ε of the values of a policy. With very many
        observations the errors of all later means are added up as if they had one sign, which is more than there is.
        """
        counts, values = self.counts, self.best(pairs, 0.0)
        ahead = self.transitions @ values
        spread = self.variances + discount**2 * np.maximum(self.transitions @ values**2 - ahead**2, 0.0)
        own = spread / np.maximum(counts.tried - 1.0, 0.5)
        greedy = np.flatnonzero(pairs >= values[counts.states])
        greedy = greedy[np.unique(counts.states[greedy], return_index=True)[1]]
        here = np.zeros(counts.n_states)
        here[counts.states[greedy]] = own[greedy]
        if counts.n_states > MAX_EXACT:
            return np.asarray(np.sqrt(own) + self._summed(np.sqrt(here), greedy, discount))
        greedily = np.zeros((counts.n_states, counts.n_states))
        greedily[counts.states[greedy]] = self.transitions[greedy].toarray()
        effects = discount * (self.transitions @ np.linalg.inv(np.eye(counts.n_states) - discount * greedily))
        effects[greedy, counts.states[greedy]] += 1.0
        others = own.copy()
        others[greedy] = 0.0
        return np.asarray(np.sqrt(effects**2 @ here + others))

    def _summed(self, errors: FloatArray, greedy: NDArray[np.int64], discount: float) -> FloatArray:
        """Discounted sums of errors (states,) along the greedy policy, from after every pair."""
        values, states = errors, self.counts.states[greedy]
        for _ in range(MAX_SWEEPS):
            new = errors.copy()
            new[states] += discount * (self.transitions @ values)[greedy]
            change, values = np.abs(new - values).max(), new
            if change <= 1e-6 * max(float(new.max()), np.finfo(float).tiny):
                break
        return np.asarray(discount * (self.transitions @ values))

    def table(self, pairs: FloatArray, unknown: float) -> FloatArray:
        """(states, actions), with something else where an action was never tried."""
        found = np.full(self.counts.n_states * self.counts.n_actions, unknown)
        found[self.counts.cells] = pairs
        return found.reshape(self.counts.n_states, self.counts.n_actions)


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

    return max(PRIOR_STEPS, key=likelihood)


def _without_holes(values: FloatArray) -> FloatArray:
    """Values that a policy can hold: an action never tried is a little worse than the worst, and nothing known is 0."""
    known = np.isfinite(values)
    worst = np.where(known, values, np.inf).min(axis=1, keepdims=True)
    lower = np.where(np.isfinite(worst), worst - 1.0, 0.0)
    return np.ascontiguousarray(np.where(known, values, lower))
