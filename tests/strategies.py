"""Hypothesis strategies: random small POMDPs and data sets. Import with ``from strategies import pomdps``."""

import numpy as np
from hypothesis import strategies as st

import uqf


def _rows(rng: np.random.Generator, shape: tuple[int, ...], sparsity: float) -> np.ndarray:
    """Distributions along the last axis; entries vanish with probability `sparsity`, never all of them."""
    weights = rng.exponential(size=shape) * (rng.random(shape) >= sparsity)
    np.put_along_axis(weights, rng.integers(shape[-1], size=(*shape[:-1], 1)), 1.0, axis=-1)
    return weights / weights.sum(-1, keepdims=True)


@st.composite
def pomdps(
    draw: st.DrawFn,
    max_states: int = 4,
    max_actions: int = 3,
    max_observations: int = 3,
    reward_axes: tuple[int, ...] = (2, 3, 4),
    terminal: bool = True,
    discounts: tuple[float, float] = (0.5, 0.95),
    horizon: int = 6,
) -> uqf.TabularPOMDP:
    """A random POMDP: dense or sparse rows, rewards over (A, S) up to (A, S, S, O), perhaps a terminal state.

    `reward_axes` lists the allowed numbers of axes of the rewards. A terminal state is never a start state.
    """
    states = draw(st.integers(1, max_states), label="states")
    actions = draw(st.integers(1, max_actions), label="actions")
    observations = draw(st.integers(1, max_observations), label="observations")
    axes = draw(st.sampled_from(reward_axes), label="reward axes")
    sparsity = draw(st.sampled_from((0.0, 0.5, 1.0)), label="sparsity")
    ends = int(terminal and states > 1 and draw(st.booleans(), label="terminal state"))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    start = _rows(rng, (states - ends,), sparsity)
    return uqf.TabularPOMDP(
        transitions=_rows(rng, (actions, states, states), sparsity),
        observations=_rows(rng, (actions, states, observations), sparsity),
        rewards=rng.normal(size=(actions, states, states, observations)[:axes]),
        start=np.concatenate([start, np.zeros(ends)]),
        discount=draw(st.floats(*discounts), label="discount"),
        terminal=np.arange(states) >= states - ends,
        horizon=horizon,
    )


@st.composite
def trajectories(
    draw: st.DrawFn,
    max_episodes: int = 8,
    max_length: int = 6,
    max_actions: int = 3,
    max_observations: int = 3,
    extras: bool = False,
) -> uqf.Trajectories:
    """A random data set, with or without behaviour probabilities and first observations, columns and masks."""
    lengths = draw(st.lists(st.integers(1, max_length), min_size=1, max_size=max_episodes), label="lengths")
    n_actions = draw(st.integers(1, max_actions), label="actions")
    n_observations = draw(st.integers(1, max_observations), label="observations")
    known = draw(st.booleans(), label="behavior_probs")
    opens = draw(st.booleans(), label="first_observations")
    sizes = draw(st.lists(st.integers(0, 3), max_size=3), label="column_sizes") if extras else []
    masked = extras and draw(st.booleans(), label="allowed")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    steps = sum(lengths)
    actions = rng.integers(n_actions, size=steps)
    return uqf.Trajectories(
        actions,
        rng.integers(n_observations, size=steps),
        rng.normal(size=steps),
        np.concatenate([[0], np.cumsum(lengths)]),
        n_actions=n_actions,
        n_observations=n_observations,
        behavior_probs=1.0 - rng.random(steps) if known else None,
        terminated=rng.random(len(lengths)) < 0.5,
        first_observations=rng.integers(n_observations, size=len(lengths)) if opens else None,
        columns=_columns(rng, steps, sizes) if sizes else None,
        first_columns=_columns(rng, len(lengths), sizes) if sizes and opens else None,
        column_sizes=sizes or None,
        allowed=(rng.random((steps, n_actions)) < 0.5) | np.eye(n_actions, dtype=bool)[actions]
        if masked
        else None,
    )


def _columns(rng: np.random.Generator, rows: int, sizes: list[int]) -> np.ndarray:
    """Numbers and categories, some of them missing."""
    numbers = [rng.integers(size, size=rows) if size else rng.normal(size=rows) for size in sizes]
    return np.where(rng.random((rows, len(sizes))) < 0.1, np.nan, np.stack(numbers, axis=1))


@st.composite
def probabilistic_automata(draw: st.DrawFn, max_states: int = 3, max_symbols: int = 2) -> uqf.WFA:
    """A random automaton of string probabilities: they are not negative and sum to one over all strings."""
    states = draw(st.integers(1, max_states), label="states")
    symbols = draw(st.integers(1, max_symbols), label="symbols")
    sparsity = draw(st.sampled_from((0.0, 0.5)), label="sparsity")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    end = rng.uniform(0.2, 0.8, states)
    steps = _rows(rng, (states, symbols * states), sparsity) * (1.0 - end)[:, np.newaxis]
    operators = steps.reshape(states, symbols, states).transpose(1, 0, 2)
    return uqf.WFA(_rows(rng, (states,), sparsity), operators, end)


@st.composite
def string_samples(draw: st.DrawFn, max_strings: int = 12, max_length: int = 5, max_symbols: int = 3):
    """A random sample of strings over 0, 1, …, perhaps empty ones."""
    symbols = draw(st.integers(1, max_symbols), label="symbols")
    string = st.lists(st.integers(0, symbols - 1), max_size=max_length)
    return uqf.strings.Strings(
        draw(st.lists(string, min_size=1, max_size=max_strings), label="strings"), range(symbols)
    )
