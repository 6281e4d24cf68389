"""The `.pomdp` reader against arrays known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import uqf
from pomdp_texts import BODY, HEAD, MAZE, TIGER, read, refusal
from uqf.worlds.pomdp_file import parsed


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_tiger_file_is_the_tiger(end: str) -> None:
    read_tiger, tiger = parsed(TIGER.replace("\n", end)), uqf.make("tiger").tabular()
    for array in ("transitions", "observations", "rewards", "start"):
        np.testing.assert_allclose(
            getattr(read_tiger, array), getattr(tiger, array), rtol=1e-15, err_msg=array
        )
    assert read_tiger.discount == 0.95
    assert read_tiger.action_names == ["listen", "open-left", "open-right"]
    assert read_tiger.state_names == ["tiger-left", "tiger-right"]


def test_a_maze_with_reset_wildcards_and_costs() -> None:
    maze = parsed(MAZE)
    third = np.array([1.0, 1.0, 1.0, 0.0]) / 3.0
    np.testing.assert_array_equal(maze.start, third)
    west = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], third]
    east = [[0.1, 0.9, 0, 0], [0, 0.1, 0.9, 0], [0, 0, 0.1, 0.9], third]
    np.testing.assert_allclose(maze.transitions, [west, east], rtol=1e-15)
    np.testing.assert_array_equal(maze.observations, [[[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]] * 2)
    np.testing.assert_array_equal(maze.rewards, np.broadcast_to([-1.0, -1.0, -1.0, 0.0], (2, 4, 4)))
    assert not np.signbit(maze.rewards[..., 3]).any()


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("", [1 / 3, 1 / 3, 1 / 3]),
        ("start: uniform", [1 / 3, 1 / 3, 1 / 3]),
        ("start: 0.5 0.25\n\n 0.25", [0.5, 0.25, 0.25]),
        ("start: b", [0, 1, 0]),
        ("start: 2", [0, 0, 1]),
        ("start: 1", [0, 1, 0]),
        ("start include: a 2", [0.5, 0, 0.5]),
        ("start include : *", [1 / 3, 1 / 3, 1 / 3]),
        ("start exclude: 0 b", [0, 0, 1]),
        ("start: 1 0 0", [1, 0, 0]),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_start(line: str, start: list[float], first: bool) -> None:
    rest = "discount: 1\nvalues: reward\nstates: a b c\nactions: 1\nobservations: 1\n"
    head = f"{line}\n{rest}" if first else f"{rest}{line}\n"
    np.testing.assert_array_equal(read(BODY, head).start, start)


@pytest.mark.parametrize(
    "line", ["start: 0", "start: 1", "start: 1.0", "start: only", "start include: 0", ""]
)
def test_start_with_a_single_state(line: str) -> None:
    head = f"discount: 1 values: reward states: only actions: 1 observations: 1 {line}\n"
    np.testing.assert_array_equal(read(BODY, head).start, [1.0])


@pytest.mark.parametrize(
    ("lines", "matrix"),
    [
        ("T: 0 identity", [[1, 0], [0, 1]]),
        ("T: 0 uniform", [[0.5, 0.5], [0.5, 0.5]]),
        ("T: 0 reset", [[0.5, 0.5], [0.5, 0.5]]),
        ("T: 0\n0.25 0.75 1e-1 9E-1", [[0.25, 0.75], [0.1, 0.9]]),
        ("T: 0 : 1 0.25 0.75", [[1, 0], [0.25, 0.75]]),
        ("T: 0 : * 0.25 0.75", [[0.25, 0.75], [0.25, 0.75]]),
        ("T: 0 : 1 uniform", [[1, 0], [0.5, 0.5]]),
        ("T:0:*:*0 T:0:0:1 1 T:0:1:1 1.0", [[0, 1], [0, 1]]),
        ("T: 0 : * : 0 0.5\nT: 0 : * : 1 .5", [[0.5, 0.5], [0.5, 0.5]]),
        ("T: 0 uniform T: 0 : 0 : 0 1 T: 0 : 0 : 1 0", [[1, 0], [0.5, 0.5]]),
    ],
)
@pytest.mark.parametrize("table", ["T", "O"])
def test_probabilities(lines: str, matrix: list[list[float]], table: str) -> None:
    if table == "O" and "reset" in lines:
        assert "`reset` stands for rows of T" in refusal(HEAD + lines.replace("T:", "O:"))
        return
    pomdp = read("T: * identity O: * identity\n" + lines.replace("T:", f"{table}:"))
    array = pomdp.transitions if table == "T" else pomdp.observations
    np.testing.assert_array_equal(array, [matrix, np.eye(2)])


@pytest.mark.parametrize(
    ("lines", "rewards"),
    [
        ("", np.zeros((2, 3))),
        ("R: * 4", np.full((2, 3), 4.0)),
        ("R: 1 : 2 -4", [[0, 0, 0], [0, 0, -4]]),
        ("R: 1 : 2 : * : * - 4", [[0, 0, 0], [0, 0, -4]]),
        ("R: 0 1 2 3", [[1, 2, 3], [0, 0, 0]]),
        ("R: * : 1 : * 7 7", [[0, 7, 0], [0, 7, 0]]),
        ("R: * : 1 7 7\n7 7\n\n7 7", [[0, 7, 0], [0, 7, 0]]),
        ("R: 0 : 0 : 0 : 0 5\nR: * : * : * : * 2", np.full((2, 3), 2.0)),
        ("R: * 1 2 3 1 2 3 1 2 3", np.broadcast_to([1.0, 2, 3], (2, 3, 3))),
        ("R: * : * 1 2 3", np.broadcast_to([1.0, 2, 3], (2, 3, 3))),
        ("R: * : * 1 1 2 2 3 3", np.broadcast_to([1.0, 2, 3], (2, 3, 3))),
        ("R: * : * : 0 1\nR:*:*:1 2 R:*:*:2:* 3", np.broadcast_to([1.0, 2, 3], (2, 3, 3))),
        ("R: * : * : * 1 2", np.broadcast_to([1.0, 2], (2, 3, 3, 2))),
        ("R: * : * : * : y 2 R: * : * : * : 0 +1", np.broadcast_to([1.0, 2], (2, 3, 3, 2))),
        ("R: * : * 1 2 3 4 5 6", np.broadcast_to([[1.0, 2], [3, 4], [5, 6]], (2, 3, 3, 2))),
        ("R: * " + " ".join(map(str, range(18))), np.tile(np.arange(18.0).reshape(3, 3, 2), (2, 1, 1, 1))),
    ],
)
@pytest.mark.parametrize("values", ["reward", "cost"])
def test_rewards_come_in_the_smallest_exact_form(lines: str, rewards: np.ndarray, values: str) -> None:
    head = f"discount: 1\nvalues: {values}\nstates: 3\nactions: 2\nobservations: x y\n"
    pomdp = read(BODY + lines, head)
    expected = np.asarray(rewards, float) * (1 if values == "reward" else -1)
    assert pomdp.rewards.shape == expected.shape
    np.testing.assert_array_equal(pomdp.rewards, expected)


def test_small_errors_of_the_sums_are_mended_and_large_ones_named() -> None:
    head = HEAD.replace("states: 2", "states: left right").replace("actions: 2", "actions: go stay")
    mended = read(BODY + "T: go : right 0.333333 0.666663", head)
    np.testing.assert_allclose(mended.transitions[0, 1].sum(), 1.0, rtol=1e-15)
    message = refusal(head + BODY + "T: go : right 0.3 0.6")
    assert "action `go`, state `right`" in message and "sum to 0.8999" in message
    assert "action `stay`, state `left`" in refusal(head + "T: go identity O: * uniform")
    assert message.startswith("T[")
    assert refusal(head + "start: 0.5 0.4\n" + BODY).startswith("start[")
