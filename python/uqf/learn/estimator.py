"""UQF: the learner that users meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from uqf.errors import NotFittedError
from uqf.learn.automata import WFA
from uqf.learn.decision import value_automaton
from uqf.learn.state import Basis, SpectralState, Target, learn_state
from uqf.policies import AutomatonPolicy
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]
History = Sequence[tuple[int, int]]


class UQF(BaseEstimator):  # type: ignore[misc]
    """Learns an unnormalised Q function from episodes and acts on it.

    Parameters
    ----------
    rank : int, optional
        Size of the state; every direction above rounding by default.
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    memory : "spectral"
        What the policy remembers of an episode: the state of an automaton found by spectral learning.
    target : "return" or "reward"
        What a history is worth: the discounted return from there on, learned directly, or the reward it ends
        with, summed over all futures by one linear solve (the paper's way).
    occurrences : "anywhere" or "start"
        Whether prefixes are counted at every step or only from the first one (the paper's way).
    max_prefix, max_suffix, n_prefixes, n_suffixes, projection, prefix_dim, suffix_dim
        The words that index the Hankel matrix and how it is compressed; see `Basis`.
    offset : float
        Added to every return. It never changes which action is best, but may condition the state better.
    window : int, optional
        Act on the last so many symbols only; None remembers the whole episode.
    temperature : float
        0 acts greedily.
    on_divergence : "refuse", "horizon", "shrink" or "lower-rank"
        What to do if the sum over futures diverges (target "reward" only).
    behavior : (AutomatonPolicy, epsilon), optional
        The ε-greedy policy that collected the data, for dividing by its probabilities as the paper does. By
        default the data are taken to come from a policy that does not look at the history.

    Attributes
    ----------
    wfa_, value_wfa_ : the automata B of rewards (equal to A for target "return") and A of values
    policy_, singular_values_, state_, n_features_in_
    diagnostics_ : dict of what was found, chosen and dropped
    """

    def __init__(
        self,
        rank: int | None = None,
        discount: float = 0.99,
        *,
        memory: str = "spectral",
        target: str = "return",
        occurrences: str = "anywhere",
        max_prefix: int = 3,
        max_suffix: int = 3,
        n_prefixes: int | None = None,
        n_suffixes: int | None = None,
        projection: str | None = None,
        prefix_dim: int = 200,
        suffix_dim: int = 200,
        offset: float = 0.0,
        window: int | None = None,
        temperature: float = 0.0,
        on_divergence: str = "horizon",
        behavior: tuple[AutomatonPolicy, float] | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.rank = rank
        self.discount = discount
        self.memory = memory
        self.target = target
        self.occurrences = occurrences
        self.max_prefix = max_prefix
        self.max_suffix = max_suffix
        self.n_prefixes = n_prefixes
        self.n_suffixes = n_suffixes
        self.projection = projection
        self.prefix_dim = prefix_dim
        self.suffix_dim = suffix_dim
        self.offset = offset
        self.window = window
        self.temperature = temperature
        self.on_divergence = on_divergence
        self.behavior = behavior
        self.seed = seed
        self.threads = threads

    @classmethod
    def paper(cls, rank: int | None = None, discount: float = 0.99, **parameters: Any) -> UQF:
        """The paper's estimator exactly: immediate rewards, words from the first step, one linear solve."""
        return cls(
            rank,
            discount,
            **({"memory": "spectral", "target": "reward", "occurrences": "start"} | parameters),
        )

    def fit(self, data: Trajectories, y: None = None) -> UQF:
        """Learns from episodes; `y` is ignored (scikit-learn passes it)."""
        if not isinstance(data, Trajectories):
            raise TypeError(
                f"data is a {type(data).__name__}: give uqf.Trajectories (see uqf.Trajectories.from_episodes)"
            )
        if self.memory != "spectral":
            raise ValueError(f"memory = {self.memory!r}: choose 'spectral'")
        if self.target not in ("return", "reward"):
            raise ValueError(f"target = {self.target!r}: choose 'return' or 'reward'")
        basis = Basis(
            occurrences=self.occurrences,
            max_prefix=self.max_prefix,
            max_suffix=self.max_suffix,
            n_prefixes=self.n_prefixes,
            n_suffixes=self.n_suffixes,
            projection=self.projection,
            prefix_dim=self.prefix_dim,
            suffix_dim=self.suffix_dim,
            seed=self.seed,
        )
        target = Target(self.target, self.discount, self.offset)
        state = learn_state(data, basis, [target], self.rank, threads=self.threads)
        notes: list[str] = []
        if self.target == "return":
            self.wfa_ = self.value_wfa_ = state.wfa()
        else:
            longest = int(data.lengths.max())
            self.wfa_, self.value_wfa_, notes = value_automaton(
                state, self.discount, longest, self.on_divergence
            )
        self.state_ = state
        self.singular_values_ = state.decomposition.spectrum
        self.policy_ = self._policy(self.value_wfa_, state, data)
        self.diagnostics_ = self._diagnose(self.wfa_, state, data, notes)
        self.n_features_in_ = data.n_symbols
        return self

    def _policy(self, values: WFA, state: SpectralState, data: Trajectories) -> AutomatonPolicy:
        weights = values.action_weights(data.n_actions, data.n_observations)
        if self.behavior is None:
            # A policy that does not look at the history takes every action with its overall frequency.
            frequency = np.bincount(data.actions, minlength=data.n_actions) / data.n_steps
            weights /= np.where(frequency > 0, frequency, 1.0)[:, np.newaxis]
        return AutomatonPolicy(
            values.automaton,
            n_actions=data.n_actions,
            n_observations=data.n_observations,
            start=values.alpha,
            anchor=state.anchor[: values.rank],
            weights=weights,
            window=self.window,
            temperature=self.temperature,
            behavior=self.behavior,
        )

    def _diagnose(
        self, rewards: WFA, state: SpectralState, data: Trajectories, notes: list[str]
    ) -> dict[str, Any]:
        kept = state.decomposition.singular_values
        spectrum = state.decomposition.spectrum
        # Relative to the largest, whose square may overflow.
        shares = (spectrum / spectrum[0]) ** 2
        dropped = 1.0 - float(shares[: len(kept)].sum() / shares.sum())
        return {
            "episodes": len(data),
            "steps": data.n_steps,
            "rank": rewards.rank,
            "numerical_rank": state.numerical_rank,
            "spectral_radius": rewards.spectral_radius(self.discount),
            "condition": float(kept[0] / kept[-1]),
            "covered_prefixes": state.coverage[0],
            "covered_suffixes": state.coverage[1],
            "dropped_energy": dropped,
            "seen_symbols": len(state.symbols),
            "unseen_symbols": data.n_symbols - len(state.symbols),
            "notes": notes,
        }

    def decision_function(self, histories: Sequence[History]) -> FloatArray:
        """Q values after each history, a list of (action, observation): shape (len(histories), n_actions)."""
        policy = self._fitted()
        return np.stack([policy.q_values(_replay(policy, history)) for history in histories])

    def predict(self, histories: Sequence[History]) -> NDArray[np.int64]:
        """The best action after each history; ties go to the first, so that predictions repeat."""
        return np.asarray(self.decision_function(histories).argmax(axis=1))

    def _fitted(self) -> AutomatonPolicy:
        if not hasattr(self, "policy_"):
            raise NotFittedError("this UQF is not fitted yet: call fit(data) first")
        return self.policy_


def _replay(policy: AutomatonPolicy, history: History) -> Any:
    state = policy.initial_state()
    for action, observation in history:
        state = policy.update(state, action, observation)
    return state
