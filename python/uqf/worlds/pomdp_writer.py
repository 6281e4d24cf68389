"""The writer of `.pomdp` text. What it writes, the reader reads back bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from uqf.worlds.environments import TabularPOMDP
from uqf.worlds.pomdp_text import RESERVED, fault

#: A matrix with fewer than one entry in this many is written entry by entry.
SPARSE = 4


def _number(value: float) -> str:
    """The shortest decimal that reads back as the same number; with a point, which older readers insist on."""
    digits, exponent, power = repr(float(value)).partition("e")
    return f"{digits if '.' in digits else digits + '.0'}{exponent}{power}"


def _row(values: Iterable[float]) -> str:
    return " ".join(map(_number, values))


def _expressible(kind: str, name: str) -> str:
    """The name itself if the format can express it, else one like it."""
    if fault(name) is None:
        return name
    name = "".join("_" if fault(f"a{letter}") else letter for letter in name)
    return f"{kind}_{name}" if name in RESERVED or fault(name) else name


def _declared(kind: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """The header line of one kind of symbol, and how the rest of the file refers to them."""
    if all(name == f"{kind} {index}" for index, name in enumerate(names)):
        return f"{kind}s: {len(names)}", [str(index) for index in range(len(names))]
    known = [_expressible(kind, name) for name in names]
    if len(set(known)) < len(known):
        known = [f"{name}_{index}" for index, name in enumerate(known)]
    return f"{kind}s: {' '.join(known)}", known


def _matrix(head: str, matrix: NDArray[np.float64], rows: list[str], columns: list[str]) -> list[str]:
    if (matrix == 1.0 / matrix.shape[1]).all():
        return ["", f"{head} uniform"]
    if np.count_nonzero(matrix) < matrix.size // SPARSE:
        places = np.argwhere(matrix)
        return ["", *(f"{head} : {rows[i]} : {columns[j]} {_number(matrix[i, j])}" for i, j in places)]
    return ["", head, *map(_row, matrix)]


def write(pomdp: TabularPOMDP) -> str:
    """The text of a file. The format has no terminal states: they become absorbing and pay nothing."""
    if pomdp.first_observations is not None:
        raise ValueError(
            "first_observations = a matrix: a .pomdp file cannot say what is shown before the first action; "
            "save the world without"
        )
    transitions, rewards = pomdp.transitions.copy(), pomdp.rewards.copy()
    ends = np.flatnonzero(pomdp.terminal)
    transitions[:, ends] = 0.0
    transitions[:, ends, ends] = 1.0
    rewards[:, ends] = 0.0
    state_line, states = _declared("state", pomdp.state_names)
    action_line, actions = _declared("action", pomdp.action_names)
    observation_line, observations = _declared("observation", pomdp.observation_names)
    uniform = len(states) > 1 and (pomdp.start == 1.0 / len(states)).all()
    lines = [
        f"discount: {_number(pomdp.discount)}",
        "values: reward",
        state_line,
        action_line,
        observation_line,
    ]
    lines.append(f"start: {'uniform' if uniform else _row(pomdp.start)}")
    for name, matrix in zip(actions, transitions, strict=True):
        lines += _matrix(f"T: {name}", matrix, states, states)
    for name, matrix in zip(actions, pomdp.observations, strict=True):
        lines += _matrix(f"O: {name}", matrix, states, observations)
    lines.append("")
    # Only what is not zero, and `*` for what rewards do not depend on.
    nexts = states if rewards.ndim > 2 else ["*"]
    by_outcome = rewards.reshape(len(actions), len(states), len(nexts), -1)
    for action, state, following in np.argwhere(by_outcome.any(-1)):
        row = by_outcome[action, state, following]
        head = f"R: {actions[action]} : {states[state]} : {nexts[following]}"
        same = (row == row[0]).all()
        lines.append(f"{head} : * {_number(row[0])}" if same else f"{head}\n{_row(row)}")
    return "\n".join(lines) + "\n"
