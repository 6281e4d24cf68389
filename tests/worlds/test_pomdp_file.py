"""The `.pomdp` reader against arrays known by hand, the writer against the reader, damage against both."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf

HEAD = "discount: 0.9\nvalues: reward\nstates: 2\nactions: 2\nobservations: 2\n"
BODY = "T: * identity\nO: * uniform\n"

TIGER = """\
# The tiger problem, in a mixture of forms.
discount: 0.95
values: reward
states: tiger-left tiger-right
actions: listen open-left open-right
observations: tiger-left tiger-right

start: uniform
T:listen
identity
T:open-left
uniform
T:open-right : *
uniform

O:listen
0.85 0.15     # heard on the right side

\t0.15 0.85
O:open-left
uniform
O:2
uniform

R:listen : * : * : * -1
R:open-left : tiger-left : * : * -100
R:open-left : 1 : * : * 1.0e1
R:open-right : tiger-left : * : * 10
R:2 : tiger-right : * : * -100
"""

# Four squares in a corridor; the last is the goal, from which every action returns to the start.
MAZE = """\
values: cost   discount: 0.5
observations: wall open goal
actions: west east
start exclude: 3
states: a b c g
T: west : * : * 0
T: west : a : a 1.0  T: west : b : a 1.0  T: west : c : b 1.0
T: east
0.1 0.9 0 0
0 0.1 0.9 0
0 0 0.1 0.9
0 0 0 1
T: * : g reset
O: * : * : * 0.0
O: * : * : open 1
O: * : a
1 0 0
O: * : g : open 0
O: * : g : goal 1
R: * : * : * : * 1
R: * : * : g : * 0
"""


def read(body: str, head: str = HEAD) -> uqf.TabularPOMDP:
    return uqf.loads_pomdp(head + body)


def refusal(text: str | bytes) -> str:
    with pytest.raises(ValueError) as caught:
        uqf.loads_pomdp(text)
    return str(caught.value)


def assert_same(one: uqf.TabularPOMDP, other: uqf.TabularPOMDP) -> None:
    for array in ("transitions", "observations", "rewards", "start"):
        np.testing.assert_array_equal(getattr(one, array), getattr(other, array), err_msg=array)
    assert one.discount == other.discount
    assert one.state_names == other.state_names
    assert one.action_names == other.action_names
    assert one.observation_names == other.observation_names


# --- whole files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_tiger_file_is_the_tiger(end: str) -> None:
    read_tiger, tiger = uqf.loads_pomdp(TIGER.replace("\n", end)), uqf.make("tiger").tabular()
    for array in ("transitions", "observations", "rewards", "start"):
        np.testing.assert_allclose(
            getattr(read_tiger, array), getattr(tiger, array), rtol=1e-15, err_msg=array
        )
    assert read_tiger.discount == 0.95
    assert read_tiger.action_names == ["listen", "open-left", "open-right"]
    assert read_tiger.state_names == ["tiger-left", "tiger-right"]


def test_a_maze_with_reset_wildcards_and_costs() -> None:
    maze = uqf.loads_pomdp(MAZE)
    third = np.array([1.0, 1.0, 1.0, 0.0]) / 3.0
    np.testing.assert_array_equal(maze.start, third)
    west = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], third]
    east = [[0.1, 0.9, 0, 0], [0, 0.1, 0.9, 0], [0, 0, 0.1, 0.9], third]
    np.testing.assert_allclose(maze.transitions, [west, east], rtol=1e-15)
    np.testing.assert_array_equal(maze.observations, [[[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]] * 2)
    np.testing.assert_array_equal(maze.rewards, np.broadcast_to([-1.0, -1.0, -1.0, 0.0], (2, 4, 4)))
    assert not np.signbit(maze.rewards[..., 3]).any()


def test_the_four_by_three_world() -> None:
    # Russell and Norvig's world: the intended move succeeds with 0.8 and slips to each side with 0.1.
    cells = [(row, column) for row in range(3) for column in range(4) if (row, column) != (1, 1)]
    moves = {"n": (-1, 0), "s": (1, 0), "e": (0, 1), "w": (0, -1)}
    transitions = np.zeros((4, 11, 11))
    lines = ["discount: 0.95", "values: reward", "states: 11", "actions: n s e w"]
    lines += ["observations: left right neither both good bad", "start include: 0 1 2 4 5 7 8 9 10"]
    for action, (name, (down, right)) in enumerate(moves.items()):
        for state, (row, column) in enumerate(cells):
            for probability, (d, r) in [(0.8, (down, right)), (0.1, (right, down)), (0.1, (-right, -down))]:
                target = (row + d, column + r)
                transitions[action, state, cells.index(target) if target in cells else state] += probability
            for next_state in np.flatnonzero(transitions[action, state]):
                lines.append(
                    f"T: {name} : {state} : {next_state} {transitions[action, state, next_state]:.3}"
                )
    lines += ["T: * : 3 reset", "T: * : 6 reset", "O: * : * : neither 1", "R: * : * : * : * -0.04"]
    lines += ["R: * : 3 : * : * 1", "R: * : 6 : * : * -1"]
    world = uqf.loads_pomdp("\n".join(lines))
    transitions[:, [3, 6]] = world.start
    np.testing.assert_allclose(world.transitions, transitions, rtol=1e-12)
    assert world.start[3] == world.start[6] == 0.0
    assert world.rewards.shape == (4, 11)
    np.testing.assert_array_equal(world.rewards[2], [-0.04, -0.04, -0.04, 1, -0.04, -0.04, -1, *[-0.04] * 4])
    assert_same(uqf.loads_pomdp(uqf.dumps_pomdp(world)), world)


# --- every form -----------------------------------------------------------------------------------


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


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", (1, 1), "no `states:`"),
        ("# only a comment\n", (2, 1), "no `states:`"),
        (HEAD.replace("discount: 0.9\n", "") + BODY, (5, 1), "no `discount:`"),
        (HEAD.replace("observations: 2\n", "") + BODY, (5, 1), "no `observations:`"),
        (HEAD.replace("0.9", "1.5"), (1, 11), "not in [0, 1]"),
        (HEAD.replace("reward", "profit"), (2, 9), "`reward` or `cost`"),
        (HEAD.replace("states: 2", "states: 0"), (3, 9), "at least 1"),
        (HEAD.replace("states: 2", "states: a b a"), (3, 13), "twice"),
        (HEAD.replace("states: 2", "states: a reset"), (3, 11), "section"),
        (HEAD.replace("states: 2", "states: 2\nstates: 2"), (4, 1), "second time"),
        (HEAD.replace("observations: 2", "observations: 2 3"), (5, 17), "many-dimensional"),
        (HEAD.replace("observations: 2", "observations: (0,0) (0,1)"), (5, 15), "dialects"),
        (HEAD.replace("values: reward", "costs: 3"), (2, 1), "unknown section `costs`"),
        (HEAD.replace("states: 2", "states: a b\ncosts: c"), (4, 1), "unknown section `costs`"),
        (HEAD + BODY + "  E: 0 identity", (8, 3), "unknown section `E`"),
        (HEAD + BODY + "discount: 0.5", (8, 1), "before the first T, O or R"),
        (HEAD + "T: up identity", (6, 4), "no action `up`"),
        (HEAD + "T: 2 identity", (6, 4), "count from 0 to 1"),
        (HEAD + "T: 0 : 1.0 : 1 1", (6, 8), "no state `1.0`"),
        (HEAD + "T: 0 : 0 : 0 1.5", (6, 14), "not a probability"),
        (HEAD + "T: 0 : 0 0.5 -0.5", (6, 14), "not a probability"),
        (HEAD + "T: 0 : 0 0.5\nO: * uniform", (6, 10), "1 probabilities from here on; 2"),
        (HEAD + "T: 0 : 0\n0.5 0.5\n0.5", (8, 1), "too many"),
        (HEAD + "T: 0 : 0 identity", (6, 10), "square matrix"),
        (HEAD + "T: 0 : 0 : 0 uniform", (6, 14), "not for one entry"),
        (HEAD + "T: 0 : 0 : 0", (6, 13), "the end of the file"),
        (HEAD + "T: 0 : 0 : 0 0.5x", (6, 14), "not a number"),
        (HEAD + "R: 0 : 0 : 0 : 0 1e999", (6, 18), "finite"),
        (HEAD + "R: 0 : 0 1 2 3\nT: * identity", (6, 10), "3 rewards from here on; 1 or 2 or 4"),
        (HEAD + "R: 0 : 0 : 0 : 0 : 0 1", (6, 18), "a reward"),
        (HEAD + "start: 3\n", (6, 8), "no state `3`"),
        (HEAD + "start: 0.5\n", (6, 8), "no state `0.5`"),
        (HEAD + "start: 0.5 0.25 0.25\n", (6, 17), "too many"),
        (HEAD + "start: 0 start: 1\n", (6, 10), "second time"),
        (HEAD + "start exclude: *\n", (6, 7), "no state is left"),
        (HEAD.replace("states: 2", "states: a b") + "start: a b\n", (6, 10), "start include"),
    ],
)
def test_a_refusal_names_the_place_and_the_reason(text: str, place: tuple[int, int], reason: str) -> None:
    message = refusal(text)
    assert message.startswith(f"line {place[0]}, column {place[1]}: "), message
    assert reason in message


def test_the_file_is_named(tmp_path) -> None:
    path = tmp_path / "broken.pomdp"
    path.write_text("states: x\nfoo: 3")
    with pytest.raises(ValueError, match=r"broken\.pomdp: line 2, column 1: unknown section `foo`"):
        uqf.load_pomdp(path)
    with pytest.raises(FileNotFoundError):
        uqf.load_pomdp(tmp_path / "missing.pomdp")


@pytest.mark.parametrize(
    "sizes",
    [
        (10**6, 10**6, 10**6),
        (10**19, 1, 1),
        (1, 10**30, 1),
        (1, 1, 2**40),
        (100_000, 1, 1),
    ],
)
def test_absurd_sizes_are_refused_before_memory_is_taken(sizes: tuple[int, int, int]) -> None:
    states, actions, observations = sizes
    head = (
        f"discount: 1\nvalues: reward\nstates: {states}\nactions: {actions}\nobservations: {observations}\n"
    )
    message = refusal(head + "T: * uniform\nO: * uniform\n")
    assert "max_entries" in message or "more than" in message


def test_rewards_count_towards_the_limit_and_the_limit_can_be_raised() -> None:
    text = (
        "discount: 1 values: reward states: 30 actions: 2 observations: 40\n" + BODY + "R: 0 : 0 : 0 : 0 1\n"
    )
    with pytest.raises(ValueError, match="need tables of 76200 entries"):
        uqf.loads_pomdp(text, max_entries=76_199)
    assert uqf.loads_pomdp(text, max_entries=76_200).rewards.shape == (2, 30, 30, 40)
    with pytest.raises(ValueError, match="max_entries"):
        uqf.loads_pomdp(text, max_entries=-1)


def test_a_short_file_cannot_demand_endless_work() -> None:
    head = "discount: 1 values: reward states: 200 actions: 10 observations: 1\n"
    with pytest.raises(ValueError, match="writes over its tables"):
        uqf.loads_pomdp(head + "T: * uniform\n" * 100_000, max_entries=1_000_000)
    stars = "discount: 1 values: reward states: 1000000 actions: 1 observations: 1 start include: "
    assert "max_entries" in refusal(stars + "* " * 10**6)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused_in_words(content: bytes) -> None:
    assert refusal(content).startswith("line ")


WORDS = ["T", "O", "R", ":", "*", "\n", "#", "0", "1", "0.5", "-1", "+", "1e400", "a", "b", "é"]
KEYWORDS = [
    "uniform",
    "identity",
    "reset",
    "start",
    "include",
    "exclude",
    "states",
    "actions",
    "discount",
    "cost",
]
words = st.sampled_from([*WORDS, *KEYWORDS])


@settings(max_examples=300, deadline=None)
@given(st.lists(words, max_size=40))
def test_any_sequence_of_words_is_read_or_refused(sequence: list[str]) -> None:
    try:
        pomdp = uqf.loads_pomdp(HEAD + BODY + " ".join(sequence), max_entries=10_000)
    except ValueError:  # a panic would be a RuntimeError
        return
    np.testing.assert_allclose(pomdp.transitions.sum(-1), 1.0, rtol=1e-12)


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    content = draw(st.sampled_from([TIGER, MAZE])).encode()
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["flip", "cut", "swap", "repeat", "drop"]))
        lines = content.split(b"\n")
        one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        if kind == "flip" and content:
            at = draw(st.integers(0, len(content) - 1))
            content = content[:at] + bytes([content[at] ^ 1 << draw(st.integers(0, 7))]) + content[at + 1 :]
            continue
        if kind == "cut":
            content = content[: draw(st.integers(0, len(content)))]
            continue
        if kind == "swap":
            lines[one], lines[other] = lines[other], lines[one]
        elif kind == "repeat":
            lines.insert(other, lines[one])
        elif kind == "drop":
            del lines[one]
        content = b"\n".join(lines)
    return content


@settings(max_examples=500, deadline=None)
@given(damaged_files())
def test_damaged_files_are_read_or_refused(content: bytes) -> None:
    try:
        pomdp = uqf.loads_pomdp(content, max_entries=10_000_000)
    except ValueError:
        return
    assert_same(uqf.loads_pomdp(uqf.dumps_pomdp(pomdp)), pomdp)


# --- writing --------------------------------------------------------------------------------------

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


@settings(max_examples=200, deadline=None)
@given(pomdps())
def test_what_is_written_is_read_exactly(pomdp: uqf.TabularPOMDP) -> None:
    text = uqf.dumps_pomdp(pomdp)
    again = uqf.loads_pomdp(text)
    for array in ("transitions", "observations", "start"):
        np.testing.assert_array_equal(getattr(again, array), getattr(pomdp, array), err_msg=array)
    np.testing.assert_array_equal(again.rewards_by_outcome(), pomdp.rewards_by_outcome())
    assert again.rewards.ndim <= pomdp.rewards.ndim
    assert again.discount == pomdp.discount
    assert (again.state_names, again.action_names) == (pomdp.state_names, pomdp.action_names)
    assert again.observation_names == pomdp.observation_names
    assert uqf.dumps_pomdp(again) == uqf.dumps_pomdp(uqf.loads_pomdp(uqf.dumps_pomdp(again)))
    assert_same(uqf.loads_pomdp(uqf.dumps_pomdp(again)), again)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=6), min_size=3, max_size=3))
def test_names_that_cannot_be_written_become_others_that_differ(names: list[str]) -> None:
    ones = np.ones((3, 1, 1))
    pomdp = uqf.TabularPOMDP(ones, ones, [[1.0], [2.0], [3.0]], [1.0], 1.0, action_names=names)
    again = uqf.loads_pomdp(uqf.dumps_pomdp(pomdp))
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
    moves = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    pomdp = uqf.TabularPOMDP(moves, np.ones((1, 2, 1)), [[1.0, 5.0]], [1.0, 0.0], 0.9, terminal=[False, True])
    again = uqf.loads_pomdp(uqf.dumps_pomdp(pomdp))
    np.testing.assert_array_equal(again.transitions, [[[0, 1], [0, 1]]])
    np.testing.assert_array_equal(again.rewards, [[1, 0]])
    assert not again.terminal.any()


def test_a_world_without_arrays_cannot_be_saved(tmp_path) -> None:
    with pytest.raises(ValueError, match="too many states"):
        uqf.save_pomdp(uqf.make("pocman"), tmp_path / "pocman.pomdp")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file_whole(tmp_path, monkeypatch) -> None:
    path = tmp_path / "tiger.pomdp"
    uqf.save_pomdp(uqf.make("tiger"), path)
    before = path.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        uqf.save_pomdp(uqf.make("gridworld-near"), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["tiger.pomdp"]


def test_a_saved_file_has_the_usual_permissions(tmp_path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    uqf.save_pomdp(uqf.make("tiger"), tmp_path / "tiger.pomdp")
    assert stat.S_IMODE((tmp_path / "tiger.pomdp").stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
