"""The whole method in plain NumPy, equation by equation: the oracle of the tests and the best explanation.

Nothing here is fast. Words are tuples of symbols; an episode is (symbols, rewards).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Word = tuple[int, ...]
Episode = tuple[Sequence[int], Sequence[float]]
Feature = Callable[[Word], FloatArray]


def target_values(rewards: Sequence[float], target: str, discount: float, offset: float) -> FloatArray:
    """Y of every prefix λ, x₁, x₁x₂, … of an episode."""
    if target == "probability":
        return np.ones(len(rewards) + 1)
    if target == "reward":
        return np.concatenate([[0.0], rewards])
    returns = np.zeros(len(rewards) + 2)
    for t in range(len(rewards), 0, -1):
        returns[t] = rewards[t - 1] + discount * returns[t + 1]
    returns[0] = discount * returns[1]
    return returns[:-1] + offset


def occurrences(symbols: Sequence[int], where: str, max_prefix: int, max_suffix: int):  # type: ignore[no-untyped-def]
    """Every way to read u, then v, in an episode: (u, cut, v, end); "start" wants u at the first step."""
    word, last = tuple(symbols), len(symbols)
    for cut in range(last + 1):
        starts = [0] if where == "start" else range(cut + 1)
        for begin in starts:
            if cut - begin <= max_prefix:
                for end in range(cut, min(cut + max_suffix, last) + 1):
                    yield word[begin:cut], cut, word[cut:end], end


def learn_automaton(
    episodes: Sequence[Episode],
    n_symbols: int,
    rank: int,
    prefix_feature: Feature,
    suffix_feature: Feature,
    *,
    target: str = "reward",
    where: str = "start",
    discount: float = 1.0,
    offset: float = 0.0,
    max_prefix: int,
    max_suffix: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(α, {A_σ}, ω). One-hot features give the paper's Algorithm 1, random ones Algorithm 2.

    Pass 1:  C = Σ y φ(u) ⊗ φ(v),   c_U = Σ y φ(u) [v = λ],   c_V = Σ y φ(v) [u = λ at the first step]
    SVD:     C ≈ U D Vᵀ
    Pass 2:  A_σ = Σ y (D⁻¹Uᵀφ(u)) ⊗ (Vᵀφ(v)) over the occurrences of uσv;   α = Vᵀc_V,   ω = D⁻¹Uᵀc_U
    """
    left_dim, right_dim = len(prefix_feature(())), len(suffix_feature(()))
    block, column, row = np.zeros((left_dim, right_dim)), np.zeros(left_dim), np.zeros(right_dim)
    for symbols, rewards in episodes:
        y = target_values(rewards, target, discount, offset)
        for u, cut, v, end in occurrences(symbols, where, max_prefix, max_suffix):
            block += y[end] * np.outer(prefix_feature(u), suffix_feature(v))
            if v == ():
                column += y[end] * prefix_feature(u)
            if u == () and cut == 0:
                row += y[end] * suffix_feature(v)
    count = len(episodes)
    left, singular, right = np.linalg.svd(block / count, full_matrices=False)
    signs = np.sign(left[np.abs(left[:, :rank]).argmax(axis=0), np.arange(rank)])
    to_state = (left[:, :rank] * signs / singular[:rank]).T
    from_suffix = right[:rank].T * signs
    operators = np.zeros((n_symbols, rank, rank))
    for symbols, rewards in episodes:
        y = target_values(rewards, target, discount, offset)
        for u, _, v, end in occurrences(symbols, where, max_prefix, max_suffix + 1):
            if v:  # v = σ v': the symbol in the middle is taken out of the suffix
                outer = np.outer(to_state @ prefix_feature(u), suffix_feature(v[1:]) @ from_suffix)
                operators[v[0]] += y[end] * outer / count
    return row / count @ from_suffix, operators, to_state @ column / count


def paper_start(left: FloatArray, singular: FloatArray, prefix_projection: FloatArray) -> FloatArray:
    """The paper's β = eᵀUD with eᵀΦᵀ = (1, 0, …, 0), by least squares; row 0 of Φ belongs to λ.

    No such e exists when Φ is narrower than the basis, which is why the method above does not use it.
    """
    wanted = np.zeros(len(prefix_projection))
    wanted[0] = 1.0
    solution = np.linalg.lstsq(prefix_projection, wanted, rcond=None)[0]
    return np.asarray(solution @ (left * singular))


def value_readout(operators: FloatArray, omega: FloatArray, discount: float) -> FloatArray:
    """The theorem: ω of Ṽ(h) = Σ_z γ^|z| g(hz) is (I − γ Σ_σ A_σ)⁻¹ ω."""
    return np.linalg.solve(np.eye(len(omega)) - discount * operators.sum(axis=0), omega)


def unnormalised_q(
    alpha: FloatArray,
    operators: FloatArray,
    omega: FloatArray,
    history: Sequence[int],
    behavior: FloatArray,
    n_observations: int,
) -> FloatArray:
    """Q̃(h, a) = Σ_o αᵀ A_h A_{ao} ω / Π(a | h); the policy is its argmax."""
    state = alpha
    for symbol in history:
        state = state @ operators[symbol]
    values = np.array([state @ operator @ omega for operator in operators])
    return np.asarray(values.reshape(-1, n_observations).sum(axis=1) / behavior)
