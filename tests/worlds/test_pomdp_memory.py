"""What a file may cost: bounded by its size, and an exception where there is no memory."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from pomdp_texts import BODY, HEAD, obeyed, refusal
from uqf.worlds.pomdp_file import parsed

#: Reads short files that ask for much, each with another limit of memory; any way out but these two ends it.
READ = """
import random, resource, sys
from uqf.worlds.pomdp_file import parsed
parsed(sys.argv[2])
rng = random.Random(int(sys.argv[1]))
size = lambda: int(2 ** rng.uniform(6, 12.5))
taken = lambda: int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
ways = {"read": 0, "refused": 0, "no memory": 0}
for _ in range(50):
    lines = [
        f"discount: 1 values: reward states: {size()} actions: {size() % 3 + 1} observations: {size() % 90 + 1}",
        rng.choice(["T: * identity", "T: * uniform", "T: * reset", "T: * : * : 0 1"]),
        rng.choice(["O: * uniform", "O: * : * uniform", "O: * : * : 0 1"]),
        rng.choice(["", "R: 0 1", "R: * : 0 : 0 1", "R: 0 : 0 : 0 : 0 1"]),
    ]
    # Less than some megabytes is not enough to start a thread, which the system ends the process for.
    limit = taken() + int(2 ** rng.uniform(23, 28))
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        world = parsed("\\n".join(lines), max_entries=2**24)
        ways["read"] += 1
    except MemoryError:
        ways["no memory"] += 1
    except ValueError as error:
        assert "max_entries" in str(error), error
        ways["refused"] += 1
    world = None
print(ways)
assert ways["read"] and ways["refused"]
resource.setrlimit(resource.RLIMIT_AS, (taken() + 2**26, resource.RLIM_INFINITY))
try:
    parsed("discount: 1 values: reward states: 4000 actions: 1 observations: 1 T: * identity O: * uniform")
except MemoryError as error:
    print(error)
"""


@pytest.mark.parametrize("seed", [0, 1])
def test_lack_of_memory_is_an_exception_and_never_the_end_of_the_process(seed):
    run = subprocess.run([sys.executable, "-c", READ, str(seed), HEAD + BODY], capture_output=True, text=True)
    assert run.returncode == 0, f"seed {seed}: status {run.returncode}\n{run.stdout}{run.stderr[-2000:]}"
    assert "(1, 4000, 4000)" in run.stdout or "16000000 entries" in run.stdout, run.stdout


@pytest.mark.parametrize(
    "text",
    [
        "states: 16000 actions: 1 observations: 1 T: * identity O: * uniform",
        "states: 800 actions: 1 observations: 400 T: * identity O: * uniform R: 0 : 0 : 0 : 0 1",
        "states: 2 actions: 1000000 observations: 9 T: * identity O: * uniform",
    ],
)
def test_a_line_of_text_is_not_worth_gigabytes(text):
    assert "raise it if you have the memory" in refusal(f"discount: 0.9 values: reward {text}")


def test_a_longer_file_may_ask_for_more():
    text = "discount: 0.9 values: reward states: 4200 actions: 1 observations: 1\n" + BODY
    assert "need tables of 17648400 entries" in refusal(text)
    world = parsed(text + "#" + "-" * 300_000)
    assert world.n_states == 4200
    observation, _, _ = world.simulation(seed=1).step(0)
    assert observation == 0


@given(
    st.text(st.characters(exclude_characters=" \t\n\v\f\r:*#"), min_size=1, max_size=60), st.integers(0, 2)
)
def test_names_are_shown_so_that_no_terminal_obeys_them(name, place):
    texts = [HEAD.replace("states: 2", f"states: {name} \x1b[2J"), HEAD + f"T: {name}", f"{name}: 3\n" + HEAD]
    try:
        message = refusal(texts[place].encode("utf-8", "surrogatepass"))
    except pytest.fail.Exception:
        raise AssertionError(f"{name!r} was read") from None
    assert not obeyed(message), repr(message)


def test_worlds_that_are_kept_small_play_as_before():
    """The same bits as a dense search would draw: zeros change no running sum."""
    rng = random.Random(3)
    rows = [[rng.choice([0.0, 0.0, 1.0, 2.0]) for _ in range(6)] for _ in range(6)]
    probs = [[p / (sum(row) or 1) if sum(row) else 1 / 6 for p in row] for row in rows]
    world = uqf.TabularPOMDP([probs], [[[1.0]] * 6], [[float(s) for s in range(6)]], [1 / 6] * 6, 0.9)
    assert world.transitions.tolist() == [probs]
    data = uqf.rollout(world, episodes=2000, horizon=2, seed=1)
    pairs = data.rewards.reshape(-1, 2).astype(int)
    assert all(probs[state][following] > 0 for state, following in pairs)
    assert {tuple(pair) for pair in pairs} == {
        (s, n) for s in range(6) for n in range(6) if probs[s][n] > 0
    }, "what is possible is seen"
