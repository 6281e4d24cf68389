"""The `.pomdp` writer against the reader."""

from __future__ import annotations

import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from pomdp_texts import TIGER, assert_same
from uqf.worlds.pomdp_file import parsed
from uqf.worlds.pomdp_writer import write

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def distributions(draw: st.DrawFn, rows: int, width: int) -> np.ndarray:
    weights = draw(st.lists(st.floats(0, 1), min_size=rows * width, max_size=rows * width))
    table = np.array(weights).reshape(rows, width)
    table[table.sum(1) < 1e-200, draw(st.integers(0, width - 1))] = 1.0
    return table / table.sum(1, keepdims=True)


@st.composite
def pomdps(draw: st.DrawFn) -> uqf.TabularPOMDP:
    actions, states, width = (draw(st.integers(1, 4)) for _ in range(3))
    shape = (actions, states, states, width)[: draw(st.integers(2, 4))]
    size = int(np.prod(shape))
    rewards = draw(st.lists(st.sampled_from([0.0, 1.0]) | numbers, min_size=size, max_size=size))
    plain = st.from_regex(r"[a-z][a-zA-Z0-9_-]{3,8}", fullmatch=True).filter(lambda name: name not in TIGER)

    def names(count: int) -> list[str]:
        return draw(st.just([]) | st.lists(plain, min_size=count, max_size=count, unique=True))

    return uqf.TabularPOMDP(
        draw(distributions(actions * states, states)).reshape(actions, states, states),
        draw(distributions(actions * states, width)).reshape(actions, states, width),
        np.array(rewards).reshape(shape),
        draw(distributions(1, states))[0],
        draw(st.floats(0, 1)),
        action_names=names(actions),
        observation_names=names(width),
        state_names=names(states),
    )


@settings(max_examples=80, deadline=None)
@given(pomdps())
def test_what_is_written_is_read_exactly(pomdp: uqf.TabularPOMDP) -> None:
    text = write(pomdp)
    again = parsed(text)
    for array in ("transitions", "observations", "start"):
        np.testing.assert_array_equal(getattr(again, array), getattr(pomdp, array), err_msg=array)
    np.testing.assert_array_equal(again.rewards_by_outcome(), pomdp.rewards_by_outcome())
    assert again.rewards.ndim <= pomdp.rewards.ndim
    assert again.discount == pomdp.discount
    assert (again.state_names, again.action_names) == (pomdp.state_names, pomdp.action_names)
    assert again.observation_names == pomdp.observation_names
    assert write(again) == write(parsed(write(again)))
    assert_same(parsed(write(again)), again)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=6), min_size=3, max_size=3))
def test_names_that_cannot_be_written_become_others_that_differ(names: list[str]) -> None:
    ones = np.ones((3, 1, 1))
    pomdp = uqf.TabularPOMDP(ones, ones, [[1.0], [2.0], [3.0]], [1.0], 1.0, action_names=names)
    again = parsed(write(pomdp))
    assert len(set(again.action_names)) == 3
    np.testing.assert_array_equal(again.rewards, pomdp.rewards)


@pytest.mark.parametrize("name", ["tiger", "gridworld-near", "gridworld-hamilton"])
def test_worlds_with_arrays_can_be_saved(name: str, tmp_path) -> None:
    world, path = uqf.make(name).tabular(), tmp_path / "world.pomdp"
    uqf.save_pomdp(uqf.make(name), path)
    again = uqf.load_pomdp(path, horizon=7)
    assert (again.name, again.horizon, again.discount) == ("world", 7, world.discount)
    going = ~world.terminal
    np.testing.assert_array_equal(again.transitions[:, going], world.transitions[:, going])
    np.testing.assert_array_equal(again.observations, world.observations)
    np.testing.assert_array_equal(again.rewards_by_outcome()[:, going], world.rewards_by_outcome()[:, going])


def test_terminal_states_become_absorbing_and_worthless() -> None:
    transitions = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    pomdp = uqf.TabularPOMDP(
        transitions, np.ones((1, 2, 1)), [[1.0, 5.0]], [1.0, 0.0], 0.9, terminal=[False, True]
    )
    again = parsed(write(pomdp))
    np.testing.assert_array_equal(again.transitions, [[[0, 1], [0, 1]]])
    np.testing.assert_array_equal(again.rewards, [[1, 0]])
    assert not again.terminal.any()


def test_a_world_without_arrays_cannot_be_saved(tmp_path) -> None:
    with pytest.raises(ValueError):
        uqf.save_pomdp(uqf.make("pocman"), tmp_path / "pocman.pomdp")
    assert not list(tmp_path.iterdir())


def test_a_saved_file_has_the_usual_permissions(tmp_path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    uqf.save_pomdp(uqf.make("tiger"), tmp_path / "tiger.pomdp")
    assert stat.S_IMODE((tmp_path / "tiger.pomdp").stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
