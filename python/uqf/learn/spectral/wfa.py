"""Weighted finite automata over (action, observation) symbols."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from uqf.episodes.checks import FloatArray, doubles, instance, integers, number, one_of, positive, probability
from uqf.errors import SpectralRadiusError
from uqf.policies.policy import AutomatonPolicy
from uqf.types import Integers, Raw, Record
from uqf.worlds.environments import TabularPOMDP

Word = Sequence[int]


def _finite(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> FloatArray:
    array = doubles(name, values)
    fits = array.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"{name} has shape {array.shape}: expected {tuple('*' if n is None else n for n in shape)}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinity: weights must be finite")
    return array


class WFA:
    """A weighted finite automaton: f(x₁…x_n) = αᵀ A_{x₁} … A_{x_n} ω.

    Parameters
    ----------
    alpha : (k,)
        State of the empty word.
    operators : (n_symbols, k, k), or (len(symbols), k, k)
        One matrix per symbol. With `symbols` given, only those have one and the others are zero: data show
        few of the nominal symbols, and zeros need not be stored.
    omega : (k,)
        Read-out.
    symbols, n_symbols : integers (seen,) and int, optional
        Which symbols have an operator, and how many there are in all.

    Raises
    ------
    ValueError
        If shapes disagree or a number is not finite.

    Examples
    --------
    >>> import uqf
    >>> counting = uqf.WFA([1.0, 0.0], [[[1.0, 1.0], [0.0, 1.0]]], [0.0, 1.0])
    >>> counting([0, 0, 0])  # the length of the word
    3.0
    """

    def __init__(
        self,
        alpha: ArrayLike,
        operators: ArrayLike,
        omega: ArrayLike,
        *,
        symbols: ArrayLike | None = None,
        n_symbols: int | None = None,
    ) -> None:
        self.alpha = _finite("alpha", alpha, (None,))
        rank = len(self.alpha)
        if rank == 0:
            raise ValueError("alpha is empty: an automaton needs at least one state")
        self.seen_operators = _finite("operators", operators, (None, rank, rank))
        self.omega = _finite("omega", omega, (rank,))
        count = len(self.seen_operators)
        self.symbols = np.arange(count) if symbols is None else np.asarray(symbols, np.int64)
        if self.symbols.shape != (count,):
            raise ValueError(f"symbols has shape {self.symbols.shape}: there are {count} operators")
        self.n_symbols = count if n_symbols is None else int(n_symbols)
        if len(np.unique(self._known("symbols", self.symbols))) < count:
            raise ValueError("symbols: list every symbol once")

    @property
    def rank(self) -> int:
        return len(self.alpha)

    @cached_property
    def operators(self) -> FloatArray:
        """All operators as one array (n_symbols, k, k), with zeros for symbols never seen."""
        full = np.zeros((self.n_symbols, self.rank, self.rank))
        full[self.symbols] = self.seen_operators
        return full

    def __call__(self, word: Word) -> float:
        """Value of one word; the empty word is ``()``."""
        return float(self.values([word])[0])

    def values(self, words: Sequence[Word]) -> FloatArray:
        """Value of every word, shape (len(words),)."""
        instance("words", words, Sequence, "a list of words, each a sequence of symbols")
        parts = [integers(f"words[{place}]", word, np.int64) for place, word in enumerate(words)]
        lengths, flat = list(map(len, parts)), np.concatenate([np.zeros(0, np.int64), *parts])
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        return weights_of(self, self._known("words", flat), offsets)

    def state(self, word: Word) -> FloatArray:
        """αᵀ A_word, unscaled: long words under- or overflow; policies rescale."""
        states = self.alpha[np.newaxis]
        for symbol in self._known("word", integers("word", word, np.int64)):
            states = states_after(self, states, symbol[np.newaxis])
        state: FloatArray = states[0]
        return state

    def _known(self, name: str, symbols: Integers) -> Integers:
        if symbols.size and (symbols.min() < 0 or symbols.max() >= self.n_symbols):
            raise ValueError(
                f"{name} holds symbols from {symbols.min()} to {symbols.max()}: choose 0 to {self.n_symbols - 1}"
            )
        return symbols

    def change_basis(self, matrix: ArrayLike) -> WFA:
        """The same function from states multiplied by an invertible (k, k) matrix."""
        change = _finite("matrix", matrix, (self.rank, self.rank))
        try:
            inverse = np.linalg.inv(change)
        except np.linalg.LinAlgError:
            raise ValueError("matrix cannot be inverted: give one of full rank") from None
        return self.with_parts(
            self.alpha @ change, inverse @ self.seen_operators @ change, inverse @ self.omega
        )

    def spectral_radius(self, discount: float = 1.0) -> float:
        """ρ(discount · Σ_σ A_σ): the sum over all futures converges only below one."""
        return float(
            abs(number("discount", discount))
            * np.abs(np.linalg.eigvals(self.seen_operators.sum(axis=0))).max()
        )

    def discounted(self, discount: float, *, horizon: int | None = None) -> WFA:
        """The paper's theorem: if this computes g, the result computes Ṽ(h) = Σ_z discount^|z| g(hz).

        Only ω changes, to (I − discount Σ A_σ)⁻¹ ω. If the spectral radius is not below one that sum diverges
        and the call is refused. Ways out: a finite `horizon` (only futures of fewer than that many symbols
        are summed), a smaller `discount`, or an automaton of lower rank.
        """
        probability("discount", discount)
        step = discount * self.seen_operators.sum(axis=0)
        if horizon is not None:
            positive("horizon", horizon)
            # The sum over n lengths from that over n // 2: a long horizon takes no longer than a short one.
            omega, power = np.zeros(self.rank), np.eye(self.rank)
            for bit in f"{horizon:b}":
                omega, power = omega + power @ omega, power @ power
                if bit == "1":
                    omega, power = self.omega + step @ omega, step @ power
            return self.with_parts(self.alpha, self.seen_operators, omega)
        radius = self.spectral_radius(discount)
        if not radius < 1.0:
            remedy = "give a finite `horizon`, lower `discount`, or learn with a lower `rank`"
            raise SpectralRadiusError(radius, discount, remedy)
        omega = np.linalg.solve(np.eye(self.rank) - step, self.omega)
        return self.with_parts(self.alpha, self.seen_operators, omega)

    def minimise(self, tolerance: float = 1e-10) -> WFA:
        """The smallest automaton of the same function; its rank is the rank of the function's Hankel matrix.

        States never reached, and differences that no word reveals, are projected out. `tolerance` is relative
        to the largest direction.
        """
        if not 0.0 < number("tolerance", tolerance) < 1.0:
            raise ValueError(
                f"tolerance = {tolerance}: give a share of the largest direction, above 0 and below 1"
            )
        forward = _closure(self.alpha, self.seen_operators.transpose(0, 2, 1), tolerance)
        alpha, omega = forward.T @ self.alpha, forward.T @ self.omega
        operators = forward.T @ self.seen_operators @ forward
        backward = _closure(omega, operators, tolerance)
        return self.with_parts(backward.T @ alpha, backward.T @ operators @ backward, backward.T @ omega)

    def policy(self, n_actions: int, n_observations: int, **parts: Raw) -> AutomatonPolicy:
        """Acts on Q̃(h, a) = Σ_o f(h a o), if this computes Ṽ and the data came from the uniform policy.

        More `parts` of `uqf.AutomatonPolicy` may be given, such as `temperature` or `window`; `start`, `anchor` and
        `weights` take the place of those that follow from the automaton.
        """
        weights = self.action_weights(n_actions, n_observations)
        given: Record = {"start": self.alpha, "anchor": self.alpha, "weights": weights} | parts
        given |= {"symbols": self.symbols, "operators": self.seen_operators}
        return AutomatonPolicy(n_actions=n_actions, n_observations=n_observations, **given)

    def action_weights(self, n_actions: int, n_observations: int) -> FloatArray:
        """Σ_o A_{ao} ω for every action: (n_actions, k), so that Q̃(h, ·) = weights · state."""
        if positive("n_actions", n_actions) * positive("n_observations", n_observations) != self.n_symbols:
            raise ValueError(
                f"n_actions * n_observations = {n_actions * n_observations}: "
                f"the automaton has {self.n_symbols} symbols"
            )
        weights = np.zeros((n_actions, self.rank))
        np.add.at(weights, self.symbols // n_observations, self.seen_operators @ self.omega)
        return weights

    @classmethod
    def from_pomdp(
        cls, pomdp: TabularPOMDP, policy: ArrayLike | None = None, *, target: str = "reward"
    ) -> WFA:
        """The exact automaton of a POMDP under a state-level policy.

        Parameters
        ----------
        pomdp : TabularPOMDP
            The model.
        policy : (n_states, n_actions), optional
            Probability of each action in each state; uniform by default.
        target : "reward" or "probability"
            Computes g(h) = E[r | h] P(h), with ``g(()) = 0``, or P(h).

        Notes
        -----
        ``from_pomdp(pomdp, policy).discounted(discount)`` is the paper's automaton A of Ṽ. Since the reward
        of a step may depend on the step and not only on the state reached, the reward automaton carries a
        second copy of the states that holds the reward just received; `minimise` finds the true rank.
        """
        instance("pomdp", pomdp, TabularPOMDP, "a uqf.TabularPOMDP")
        if pomdp.first_observations is not None:
            raise ValueError(
                "pomdp has first_observations: an automaton reads actions and what follows them only"
            )
        states, actions = pomdp.n_states, pomdp.n_actions
        uniform = np.full((states, actions), 1.0 / actions)
        probs = uniform if policy is None else _finite("policy", policy, (states, actions))
        if (probs < 0).any() or not np.allclose(probs.sum(axis=1), 1.0):
            row = int(np.argmax(np.abs(probs.sum(axis=1) - 1.0) + (probs < 0).any(axis=1)))
            raise ValueError(f"policy[{row}] = {probs[row].tolist()}: not a probability distribution")
        playable = probs * ~pomdp.terminal[:, np.newaxis]
        joint = np.einsum("sa,ast,ato->aost", playable, pomdp.transitions, pomdp.observations)
        joint = joint.reshape(pomdp.n_symbols, states, states)
        if one_of("target", target, ("reward", "probability")) == "probability":
            return cls(pomdp.start, joint, np.ones(states))
        rewards = np.moveaxis(pomdp.rewards_by_outcome(), 3, 1).reshape(joint.shape)
        operators = np.zeros((pomdp.n_symbols, 2 * states, 2 * states))
        operators[:, :states, :states] = joint
        operators[:, :states, states:] = joint * rewards
        nothing, all_ones = np.zeros(states), np.ones(states)
        return cls(np.concatenate([pomdp.start, nothing]), operators, np.concatenate([nothing, all_ones]))

    def with_parts(self, alpha: FloatArray, operators: FloatArray, omega: FloatArray) -> WFA:
        return WFA(alpha, operators, omega, symbols=self.symbols, n_symbols=self.n_symbols)

    def __reduce__(self) -> tuple[object, ...]:
        rebuild = partial(WFA, symbols=self.symbols, n_symbols=self.n_symbols)
        return rebuild, (self.alpha, self.seen_operators, self.omega)

    def __repr__(self) -> str:
        return f"WFA(rank {self.rank}, {len(self.symbols)} of {self.n_symbols} symbols seen)"


def _closure(start: FloatArray, operators: FloatArray, tolerance: float) -> FloatArray:
    """Orthonormal columns spanning the smallest space that holds `start` and is mapped into itself."""
    norm = np.linalg.norm(start)
    # What is smaller than rounding is no direction, and would never come to an end.
    tolerance = max(tolerance, len(start) * float(np.finfo(np.float64).eps))
    basis = np.zeros((len(start), 0)) if norm == 0 else (start / norm)[:, np.newaxis]
    frontier = basis
    while frontier.shape[1]:
        images = np.concatenate([operator @ frontier for operator in operators], axis=1)
        # Twice is enough: the second projection removes what rounding left of the first.
        for _ in range(2):
            images = images - basis @ (basis.T @ images)
        directions, sizes, _ = np.linalg.svd(images, full_matrices=False)
        scale = max(1.0, np.abs(operators).sum(axis=(1, 2)).max(initial=0.0))
        frontier = directions[:, sizes > tolerance * scale]
        basis = np.concatenate([basis, frontier], axis=1)
    return basis if basis.shape[1] else np.eye(len(start))[:, :1]


def weights_of(automaton: WFA, symbols: Integers, offsets: Integers) -> FloatArray:
    """The value of every word of a flat array; word i is ``symbols[offsets[i]:offsets[i + 1]]``."""
    lengths = np.diff(offsets)
    # The longest first: those that go on are always the first so many.
    order = np.argsort(-lengths, kind="stable")
    states = np.tile(automaton.alpha, (len(lengths), 1))
    for place in range(lengths.max(initial=0)):
        ahead = order[: np.count_nonzero(lengths > place)]
        following = symbols[offsets[ahead] + place]
        states[: len(ahead)] = states_after(automaton, states[: len(ahead)], following)
    values = np.empty(len(lengths))
    values[order] = states @ automaton.omega
    return values


def states_after(automaton: WFA, states: FloatArray, symbols: Integers) -> FloatArray:
    """Every state (n, k) after one more symbol (n,), unscaled."""
    result = np.zeros_like(states)
    for place in np.flatnonzero(np.isin(automaton.symbols, symbols)):
        (rows,) = np.nonzero(symbols == automaton.symbols[place])
        result[rows] = states[rows] @ automaton.seen_operators[place]
    return result
