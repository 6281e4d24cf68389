"""The filters of `SpectralQ` in plain NumPy, equation by equation: the oracle of its tests and its best explanation.

An episode has steps 1 … T and cuts 0 … T, one before, between and after them. At every cut stand two states: x of the
past, which runs forward, and z of the future, which runs backward. Nothing here is fast. States stand in one matrix,
the cuts of the first episode first. An event is a symbol with the class of its reward and whether the world ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Episode(NamedTuple):
    """symbols, events (T,); returns from every step on (T, discounts); ended: by the world, not by the recording."""

    symbols: Sequence[int]
    events: Sequence[int]
    returns: FloatArray
    ended: bool


class Sizes(NamedTuple):
    """Numbers of a state, penalties, and how far states may go."""

    rank: int
    ridge: float
    constant_ridge: float
    canonical_ridge: float
    reach: float


def word_features(
    episodes: Sequence[Episode], end: int, max_length: int, min_count: int, time_scales: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """(past, future) at every cut: which words end there and the time; which words begin there and the returns.

    The end of the world is a symbol of the future, `end`. Words are kept if they occurred often.
    """
    past_words, future_words, times, returns = [], [], [], []
    for episode in episodes:
        symbols = list(episode.symbols)
        ahead = symbols + [end] * episode.ended
        for cut in range(len(symbols) + 1):
            before, after = symbols[:cut], ahead[cut:]
            lengths = range(1, max_length + 1)
            past_words.append({tuple(before[-n:]) for n in lengths if n <= len(before)})
            future_words.append({tuple(after[:n]) for n in lengths if n <= len(after)})
            times.append([np.exp(-min(cut, 60) / scale) for scale in time_scales])
            nothing = np.zeros(np.shape(episode.returns)[1])
            returns.append(episode.returns[cut] if cut < len(symbols) else nothing)
    sides = []
    for words, numbers in ((past_words, times), (future_words, returns)):
        every = sorted(set().union(*words))
        table = np.array([[word in here for word in every] for here in words], float)
        sides.append(np.hstack([numbers, table[:, table.sum(axis=0) >= min_count]]))
    return sides[0], sides[1]


def canonical(
    past: FloatArray, future: FloatArray, rank: int, ridge: float, least: float = 0.02
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(x, z, correlations): coordinates of both sides, mean 0 and variance 1, largest correlation first.

    With covariances S_x, S_z and C of columns of variance 1, (S_x + r)^−½ C (S_z + r)^−½ = U s Vᵀ; the coordinates are
    the past times (S_x + r)^−½ U, and the future times (S_z + r)^−½ V. r is `ridge` over the number of cuts. Their
    variances are 1 but for r: those below `least` on either side are made of r, and go.
    """
    count = len(past)
    past, future = standardised(past), standardised(future)
    roots = []
    for side in (past, future):
        values, vectors = np.linalg.eigh(side.T @ side / count)
        roots.append(vectors / np.sqrt(np.maximum(values, 0.0) + ridge / count) @ vectors.T)
    left, _, right = np.linalg.svd(roots[0] @ (past.T @ future / count) @ roots[1], full_matrices=False)
    x, z = past @ roots[0] @ left[:, :rank], future @ roots[1] @ right[:rank].T
    real = np.minimum(x.var(axis=0), z.var(axis=0)) > least
    real[0] = True
    x, z = standardised(x[:, real]), standardised(z[:, real])
    return x, z, (x * z).mean(axis=0)


def standardised(rows: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1."""
    centred = rows - rows.mean(axis=0)
    return np.asarray(centred / np.sqrt(np.maximum((centred**2).mean(axis=0), 1e-12)))


def regressed(states: FloatArray, targets: FloatArray, sizes: Sizes) -> FloatArray:
    """F that minimises Σ |y − [1, x] F|² + ridge · |F|², where the constant has a penalty of its own."""
    penalty = np.diag([sizes.constant_ridge, *[sizes.ridge] * states.shape[1]])
    rows = np.hstack([np.ones((len(states), 1)), states])
    return np.asarray(np.linalg.solve(rows.T @ rows + penalty, rows.T @ targets))


def run(
    operators: Sequence[FloatArray], symbols: Sequence[int], start: FloatArray, reach: float
) -> FloatArray:
    """x_t = [1, x_{t−1}] F_σ from the start on, (T + 1, rank), cut to a root mean square of `reach`."""
    states = [start]
    for symbol in symbols:
        state = np.concatenate([[1.0], states[-1]]) @ operators[symbol]
        states.append(state * min(1.0, reach / max(float(np.sqrt((state**2).mean())), 1e-300)))
    return np.stack(states)


def forward(
    episodes: Sequence[Episode],
    states: FloatArray,
    z: FloatArray,
    reach: float,
    sizes: Sizes,
    others: Sequence[Episode],
) -> FloatArray:
    """X at all cuts of `others`: z, regressed on the states before it by the symbol between them."""
    before, first, last = _cuts(episodes)
    symbols = np.concatenate([episode.symbols for episode in episodes])
    ended = last[[episode.ended for episode in episodes]]
    operators = []
    for symbol in range(max(max(episode.symbols) for episode in others) + 1):
        # Where the world ended there is no state.
        steps = before[(symbols == symbol) & ~np.isin(before + 1, ended)]
        operators.append(regressed(states[steps], z[steps + 1], sizes))
    start = z[first].mean(axis=0)
    return np.vstack([run(operators, episode.symbols, start, reach) for episode in others])


def backward(
    episodes: Sequence[Episode],
    states: FloatArray,
    x: FloatArray,
    reach: float,
    sizes: Sizes,
    others: Sequence[Episode],
) -> FloatArray:
    """Z at all cuts of `others`: x, regressed on the states after it by the event between them, run backward."""
    before, _, last = _cuts(episodes)
    events = np.concatenate([episode.events for episode in episodes])
    ended = np.array([episode.ended for episode in episodes])
    operators = []
    for event in range(max(max(episode.events) for episode in others) + 1):
        steps = before[events == event]
        operators.append(regressed(states[steps + 1], x[steps], sizes))
    ends = {kind: x[last[ended == kind]].mean(axis=0) for kind in set(ended.tolist())}
    runs = (run(operators, episode.events[::-1], ends[episode.ended], reach) for episode in others)
    return np.vstack([states[::-1] for states in runs])


def filtered(
    episodes: Sequence[Episode],
    past: FloatArray,
    future: FloatArray,
    rounds: int,
    sizes: Sizes,
    early: int | None = None,
    late: int = 0,
) -> FloatArray:
    """The state of the past at all cuts after so many rounds, from first states of both sides.

    All but the last `late` rounds are taught by the first `early` episodes only; first states are those of them.
    What x expects of z is correlation · x, in canonical coordinates: of the size that a regression of z has.
    """
    used = episodes[:early]
    for number in range(rounds + 1):
        x, z, shares = canonical(past, future, sizes.rank, sizes.canonical_ridge)
        reach = sizes.reach * float(np.sqrt((shares**2).mean()))
        past = forward(used, shares * x, z, reach, sizes, used)
        if number < rounds:
            target = standardised(past)
            shared = (target * z).mean(axis=0)
            shared_reach = sizes.reach * float(np.sqrt((shared**2).mean()))
            ahead = episodes if number >= rounds - late else used
            future = backward(used, shared * z, target, shared_reach, sizes, ahead)
            past = forward(used, shares * x, z, reach, sizes, ahead)
            used = ahead
    return past


def _cuts(episodes: Sequence[Episode]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The cuts before all steps, and the first and last cut of every episode."""
    lengths = np.array([len(episode.symbols) for episode in episodes])
    last = np.cumsum(lengths + 1) - 1
    before = np.setdiff1d(np.arange(last[-1]), last)
    return before, last - lengths, last
