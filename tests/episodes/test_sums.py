"""Sums along episodes against plain loops."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import trajectories
from uqf import _core
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import advantages, best_next, cut_before, goes_on, returns_to_go
from uqf.learn.context_q import retrace


@given(trajectories(), st.floats(0, 1))
def test_returns_to_go(data, discount):
    returns = returns_to_go(data, discount)
    for episode, first in zip(data, data.offsets, strict=False):
        for t in range(len(episode.rewards)):
            weights = discount ** np.arange(len(episode.rewards) - t)
            assert returns[first + t] == pytest.approx(episode.rewards[t:] @ weights)


@given(trajectories(), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_advantages_are_discounted_residuals(data, discount, trace, seed):
    values = np.random.default_rng(seed).normal(size=data.n_steps + len(data))
    estimated = advantages(data, values, discount, trace)
    for number, first in enumerate(data.offsets[:-1]):
        steps = data.lengths[number]
        v = values[first + number : first + number + steps + 1].copy()
        if data.terminated[number]:
            v[-1] = 0.0
        rewards = data.rewards[first : first + steps]
        residuals = rewards + discount * v[1:] - v[:-1]
        expected = [residuals[t:] @ (discount * trace) ** np.arange(steps - t) for t in range(steps)]
        np.testing.assert_allclose(estimated[first : first + steps], expected, atol=1e-10)


@given(trajectories())
def test_full_traces_forget_the_values_of_later_steps(data):
    """With λ = 1 the advantage is the return minus the value, but for the value at a mere cut."""
    values = np.random.default_rng(0).normal(size=data.n_steps + len(data))
    ends = np.cumsum(data.lengths + 1) - 1
    values[ends] = 0.0
    before = cut_before(data)
    expected = returns_to_go(data, 0.9) - values[before]
    np.testing.assert_allclose(advantages(data, values, 0.9, 1.0), expected, atol=1e-10)
    assert goes_on(data).sum() == data.n_steps - data.terminated.sum()


@given(trajectories())
def test_retrace_towards_the_behaviour_itself_with_exact_values_is_a_fixed_point(data):
    """If q and v are returns themselves, correcting towards them changes nothing."""
    returns = returns_to_go(data, 0.9)
    again = retrace(data, 0.9, returns, returns, propensities(data))
    np.testing.assert_allclose(again, returns, atol=1e-10)


@given(trajectories(), st.booleans())
def test_targets_stop_where_the_world_ended(data, truncated):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(data.n_steps + len(data), data.n_actions)) - 10.0
    targets = best_next(data, values, 0.9, truncated=truncated)
    cut = 0
    for index, episode in enumerate(data):
        for t, reward in enumerate(episode.rewards):
            last = t == len(episode.rewards) - 1
            on = not last or (truncated and not episode.terminated)
            expected = reward + (0.9 * values[cut + 1].max() if on else 0.0)
            assert targets[data.offsets[index] + t] == pytest.approx(expected)
            cut += 1
        cut += 1


@given(trajectories(), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_advantages_of_another_policy_follow_their_recursion(data, discount, trace, seed):
    rng = np.random.default_rng(seed)
    values, ratios = rng.normal(size=data.n_steps + len(data)), rng.exponential(size=data.n_steps)
    estimated = advantages(data, values, discount, trace, ratios)
    before = cut_before(data)
    residuals = data.rewards + discount * goes_on(data) * values[before + 1] - values[before]
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        follows = 0.0
        for step in range(last - 1, first - 1, -1):
            assert estimated[step] == pytest.approx(residuals[step] + discount * trace * follows, abs=1e-9)
            cut = min(1.0, ratios[step])
            follows = ratios[step] * residuals[step] + discount * trace * cut * follows
    np.testing.assert_allclose(
        advantages(data, values, discount, trace, np.ones(data.n_steps)),
        advantages(data, values, discount, trace),
        atol=1e-9,
    )


@pytest.mark.parametrize(
    ("width", "lengths"), [(1, [1]), (7, [3, 1, 600]), (21, [40] * 20), (70, [300, 2])], ids=str
)
def test_sums_of_temporal_differences_are_those_of_plain_loops(width, lengths):
    """On features most of which are zero; episodes may be longer than a block of cuts, rows wider than a group."""
    rng, offsets = np.random.default_rng(0), np.concatenate([[0], np.cumsum(lengths)])
    steps, cuts = offsets[-1], offsets[-1] + len(lengths)
    rows = (rng.random((cuts, width)) * (rng.random((cuts, width)) < 0.2)).astype(np.float32)
    numbers = rng.random((4, steps)).astype(np.float32)
    expected = np.zeros((width, width + 1))
    for episode, (first, last) in enumerate(pairwise(offsets)):
        z = np.zeros(width + 1)
        for step in range(last - 1, first - 1, -1):
            (reward, following, ratio, factor), cut = numbers[:, step].astype(float), step + episode
            z = ratio * np.append(rows[cut] - following * rows[cut + 1], reward) + factor * z
            expected += np.outer(rows[cut], z)
    np.testing.assert_allclose(
        _core.temporal_differences(rows, offsets, *numbers), expected, atol=1e-3, rtol=1e-3
    )
