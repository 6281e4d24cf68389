"""Files of worlds as text."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

import uqf
from uqf.worlds.pomdp_file import parsed

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
    return parsed(head + body)


def refusal(text: str | bytes) -> str:
    with pytest.raises(ValueError) as caught:
        parsed(text)
    return str(caught.value)


def obeyed(text: str) -> list[str]:
    """Characters that a terminal obeys rather than shows. `isprintable` would add those that Python does not know."""
    return [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def assert_same(one: uqf.TabularPOMDP, other: uqf.TabularPOMDP) -> None:
    for array in ("transitions", "observations", "rewards", "start"):
        np.testing.assert_array_equal(getattr(one, array), getattr(other, array), err_msg=array)
    assert one.discount == other.discount
    assert one.state_names == other.state_names
    assert one.action_names == other.action_names
    assert one.observation_names == other.observation_names
