"""UQF: the paper's method, from Hankel statistics to a policy."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Self

from uqf.episodes.checks import FloatArray, number, one_of, probability
from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.propensities import ActionShares
from uqf.episodes.trajectories import Trajectories
from uqf.errors import NumericalError, kind_of
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.not_fitted import NotFittedError
from uqf.learn.spectral.basis import Basis, Counting, Target
from uqf.learn.spectral.decomposition import MAX_RANK, decompose
from uqf.learn.spectral.passes import listed_words, operator_sums
from uqf.learn.spectral.state import SpectralState, checked_start, refuse_too_many, value_automaton
from uqf.learn.spectral.statistics import Statistics, first_pass
from uqf.learn.spectral.tally import Tally
from uqf.learn.spectral.wfa import WFA
from uqf.policies.policy import AutomatonPolicy, CompiledPolicy
from uqf.reading.progress import LOG, Callback
from uqf.reading.reader import Reader
from uqf.reading.shards import Data, Workers
from uqf.storage.policy_header import Origin
from uqf.types import Record


def learn_state(
    reader: Reader, basis: Basis, target: Target, rank: int | None
) -> tuple[SpectralState, Tally]:
    """The paper's second algorithm up to the automaton; its first one if `basis` lists words instead of projecting.

    1. C = Σ y φ(u) ⊗ φ(v) over all ways to read u, then v, in an episode; c_U = Σ y φ(u) and c_V = Σ y φ(v).
    2. C ≈ U D Vᵀ with `rank` columns.
    3. A_σ = Σ y (D⁻¹Uᵀ φ(u)) ⊗ (Vᵀ φ(v)) over the ways to read uσv; ω = D⁻¹Uᵀ c_U and α = c_V V.

    Returns also the tally of the episodes. The last two steps of the algorithm are `q_function`.
    """
    words = listed_words(reader, basis)
    counting = Counting(basis, target, reader.source.reward_size, words)
    first = reader.sum("first pass", partial(first_pass, counting, reader.threads))
    reader.reporter.enter("decomposition", min(first.sums.shape))
    parts = decompose(first.block, rank, choose=True, seed=basis.seed)
    maps = (parts.prefix_map, parts.suffix_map)
    refuse_too_many(len(first.tally.symbols), parts.prefix_map.shape[1] ** 2, "give a lower rank")
    second = reader.sum("second pass", partial(operator_sums, counting, *maps, reader.threads))
    return first.spectral_state(parts, second), first.tally


def q_function(
    state: SpectralState, tally: Tally, target: Target, on_divergence: str
) -> tuple[WFA, WFA, FloatArray, list[str]]:
    """(automaton of g, automaton of Ṽ, weights (n_actions, rank), notes): from rewards to values, and to Q̃.

    4. ω becomes (I − γ Σ_σ A_σ)⁻¹ ω, the rest stays: this automaton computes Ṽ(h) = Σ_z γ^|z| g(hz).
    5. Q̃(h, a) = Σ_o αᵀ A_h A_{ao} ω / Π(a | h); the division is left to the policy, which knows the history.
    """
    notes: list[str] = []
    if target.name == "return":
        rewards = values = state.wfa()
    else:
        rewards, values, notes = value_automaton(state, target.discount, tally.longest, on_divergence)
    return rewards, values, values.action_weights(tally.n_actions, tally.n_observations), notes


@dataclass(eq=False, repr=False)
class UQF(Learner):
    """Learns a weighted automaton of reward-weighted histories by spectral methods and acts on its Q function.

    Hankel statistics → singular value decomposition → automaton → one linear solve → argmax, after Li, Mazoure,
    Precup and Rabusseau (2020). Words are counted anywhere in an episode; ``occurrences="start"`` is the literal
    reading of the paper. Sums are additive: data beyond memory are read in shards, days are added and taken away.

    Parameters
    ----------
    rank : int, optional
        Size of the state. By default the smallest that keeps 99 % of the energy of the Hankel block, at most 50.
    discount : float in [0, 1]
        Of the returns that are learned.
    target : "reward" or "return"
        What a history is worth: the reward it ends with, summed over all futures by one linear solve (the paper's
        way), or the discounted return from there on, learned directly.
    occurrences : "anywhere" or "start"
        Whether prefixes are counted at every step or only from the first one.
    max_prefix, max_suffix, n_prefixes, n_suffixes, projection, prefix_dim, suffix_dim
        The words that index the Hankel matrix and how it is compressed; see `uqf.learn.spectral.basis.Basis`.
    offset : float
        Added to every return (target "return" only). It never changes which action is best, but may condition the
        state better.
    window : int, optional
        Act on the last so many symbols only; None remembers the whole episode.
    temperature : float
        0 acts greedily, more draws actions from softmax(q_values / temperature).
    on_divergence : "refuse", "horizon", "shrink" or "lower-rank"
        What to do if the sum over futures diverges (target "reward" only).
    behavior : (AutomatonPolicy, epsilon), optional
        The ε-greedy policy that collected the data, by whose probabilities values are divided. By default they are
        divided by the frequencies of actions after the last symbol.
    forgetting : float in (0, 1]
        What the weight of all older data is multiplied by at every `partial_fit`.
    seed : int
        Of projections.
    threads : int, optional
        All cores by default.

    Attributes
    ----------
    policy_, diagnostics_, n_features_in_
        As all learners have them.
    wfa_, value_wfa_ : WFA
        The automata of rewards, g, and of values, Ṽ; the same one for target "return".
    singular_values_ : floats
        Of the Hankel block, as many as were computed.
    statistics_ : Statistics
        The sums that replace the data after `partial_fit`; they can be pickled.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("gridworld-near"), episodes=200, seed=0)
    >>> learner = uqf.UQF(rank=6, discount=0.9).fit(data)
    >>> learner.wfa_.rank, learner.wfa_.n_symbols == data.n_symbols
    (6, True)
    """

    rank: int | None = None
    discount: float = 0.99
    _: KW_ONLY
    target: str = "reward"
    occurrences: str = "anywhere"
    max_prefix: int = 3
    max_suffix: int = 3
    n_prefixes: int | None = None
    n_suffixes: int | None = None
    projection: str | None = None
    prefix_dim: int = 200
    suffix_dim: int = 200
    offset: float = 0.0
    window: int | None = None
    temperature: float = 0.0
    on_divergence: str = "horizon"
    behavior: tuple[AutomatonPolicy, float] | None = None
    forgetting: float = 1.0
    seed: int = 0
    threads: int | None = None

    def _fit(self, data: Data, kept: None, executor: Workers, progress: Callback | None) -> Self:
        reader = self._reader(data, executor, progress)
        self._decide(*learn_state(reader, Basis.of(self), self._target(), self.rank))
        for name in ("statistics_", "refusal_", "baseline_"):
            self.__dict__.pop(name, None)
        LOG.info("state of rank %d learned in %.1f s", self.wfa_.rank, reader.reporter.seconds)
        if isinstance(data, Trajectories):
            return self._keep_origin(reader.fingerprint, data)
        self.origin_ = Origin(reader.fingerprint, self.origin_.codebook)
        return self

    def partial_fit(
        self, data: Data, y: None = None, *, executor: Workers = None, progress: Callback | None = None
    ) -> Self:
        """Adds episodes to those of earlier calls; the result is that of a fit to everything at once.

        Reads the new data once and no old data at all. `data`, `executor` and `progress` are as in `fit`. Before
        they are added, the weight of all older data is multiplied by the parameter `forgetting`. `fit` keeps no
        statistics that could be added to: begin with `partial_fit`.

        Data that do not yet support a policy (fewer directions than `rank`, no reward at all) are added all the
        same; there is no `policy_` then, and using it raises `NotFittedError` with the reason.
        """
        before = self._statistics()
        added = self._counted(data, executor, progress)
        if before is not None:
            faded = before if self.forgetting == 1.0 else before.faded(self.forgetting)
            added = faded.plus(added)
        self._learn_from(added)
        return self._keep_origin(fingerprint(data), data) if isinstance(data, Trajectories) else self

    def merge(self, other: UQF | Statistics) -> Self:
        """Adds the statistics of another learner, or as they are; neither side fades."""
        theirs = other._statistics() if isinstance(other, UQF) else other
        if not isinstance(theirs, Statistics):
            raise TypeError(f"other is {kind_of(other)}: give a UQF after partial_fit, or uqf.Statistics")
        before = self._statistics()
        return self._learn_from(theirs if before is None else before.plus(theirs))

    def forget(self, data: Data | Statistics, *, executor: Workers = None) -> Self:
        """Takes episodes out again that were added before: the result is as if they had never been there.

        `data` are as in `fit`, or `uqf.Statistics`; any episodes that were added before, not only whole days.
        """
        if self.forgetting != 1.0:
            raise ValueError(
                f"forgetting = {self.forgetting}: old data fade by themselves, and how much of these is left is "
                "not known; use forgetting=1 to take out single days"
            )
        before = self._statistics()
        if before is None:
            raise ValueError("nothing was learned yet that could be forgotten: call partial_fit first")
        return self._learn_from(
            before.minus(data if isinstance(data, Statistics) else self._counted(data, executor))
        )

    def _statistics(self) -> Statistics | None:
        """Those of all calls of `partial_fit` and `merge`; None before the first."""
        if hasattr(self, "policy_") and not hasattr(self, "statistics_"):
            raise ValueError(
                "this UQF learned by fit, which keeps no statistics: use a new one and partial_fit for all episodes"
            )
        return getattr(self, "statistics_", None)

    def _counted(self, data: Data, executor: Workers, progress: Callback | None = None) -> Statistics:
        return Statistics.of(self._reader(data, executor, progress), Basis.of(self), self._target())

    def _learn_from(self, statistics: Statistics) -> Self:
        """Keeps the statistics even if they do not support a policy yet."""
        self.statistics_, self.refusal_ = statistics, None
        self.n_features_in_ = statistics.tally.n_symbols
        try:
            self._decide(statistics.state(self.rank), statistics.tally)
        except NumericalError as problem:
            self.refusal_ = f"no policy yet, the data so far do not support one: {problem}"
            LOG.info("%s", self.refusal_)
            self.__dict__.pop("policy_", None)
        return self

    def _support(self, shares: ActionShares, n_observations: int) -> None:
        """Nothing: `_decide` did, by the tally of all that was counted, which may be more than this sample."""

    def _fitted(self) -> CompiledPolicy:
        if getattr(self, "refusal_", None) and not hasattr(self, "policy_"):
            raise NotFittedError(self.refusal_)
        return super()._fitted()

    def _reader(self, data: Data, executor: Workers, progress: Callback | None) -> Reader:
        """Refuses parameters before anything is read."""
        checked_temperature(self.temperature)
        one_of("target", self.target, ("return", "reward"))
        if not 0.0 < number("forgetting", self.forgetting) <= 1.0:
            raise ValueError(f"forgetting = {self.forgetting}: give a factor above 0 and up to 1")
        return Reader(data, threads=self.threads, executor=executor, progress=progress)

    def _target(self) -> Target:
        return Target(self.target, probability("discount", self.discount), self.offset)

    def _decide(self, state: SpectralState, tally: Tally) -> None:
        """From a learned state to a policy."""
        start, notes = checked_start(state, self.occurrences)
        self.wfa_, self.value_wfa_, weights, cuts = q_function(
            state, tally, self._target(), self.on_divergence
        )
        rank = self.wfa_.rank
        if self.behavior is None:
            refuse_too_many(len(state.symbols), tally.n_actions, "give behavior=")
        self.policy_ = self.value_wfa_.policy(
            tally.n_actions,
            tally.n_observations,
            start=start[:rank],
            anchor=state.anchor[:rank],
            weights=weights,
            propensities=None if self.behavior is not None else tally.propensities(state.symbols),
            window=self.window,
            temperature=self.temperature,
            behavior=self.behavior,
        )
        self.singular_values_ = state.decomposition.spectrum
        self.n_features_in_ = tally.n_symbols
        self.origin_ = Origin(None, tally.codebook)
        if self.rank is None:
            notes.insert(0, f"rank {state.rank} chosen from the spectrum (at most {MAX_RANK})")
        self.diagnostics_ = self._diagnostics(state, tally) | {"notes": notes + cuts}
        super()._support(tally.shares, tally.n_observations)

    def _diagnostics(self, state: SpectralState, tally: Tally) -> Record:
        spectrum, kept = self.singular_values_, state.decomposition.singular_values
        # Relative to the largest, whose square may overflow.
        shares = (spectrum / spectrum[0]) ** 2
        return {
            "learner": "UQF",
            "episodes": len(tally),
            "steps": tally.n_steps,
            "seen_symbols": len(state.symbols),
            "unseen_symbols": tally.n_symbols - len(state.symbols),
            "rank": self.wfa_.rank,
            "numerical_rank": state.numerical_rank,
            "spectral_radius": self.wfa_.spectral_radius(self.discount),
            "condition": float(kept[0] / kept[-1]),
            "covered_prefixes": state.coverage[0],
            "covered_suffixes": state.coverage[1],
            "dropped_energy": 1.0 - float(shares[: len(kept)].sum() / shares.sum()),
        }
