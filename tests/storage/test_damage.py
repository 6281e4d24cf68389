"""Damaged and forged policy files are refused, whatever they claim."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from random_policies import KINDS, random_table
from uqf.storage.policies import KEY, MAX_BYTES
from uqf.storage.policy_header import FORMAT
from uqf.storage.tensors import read_tensors, write_tensors

TABLE = random_table(3, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A valid file of every kind."""
    folder = tmp_path_factory.mktemp("policies")
    names = uqf.Codebook.named(("left", "right", "stay"), ("wall",))
    for kind, make in KINDS.items():
        uqf.save(make(), folder / kind, codebook=names, settings={"rank": 3})
    return folder


@given(data=st.data())
def test_damage_is_found(folder, data):
    content = (folder / data.draw(st.sampled_from(list(KINDS)))).read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "swap", "double", "zero"]))
    if kind == "flip":
        damaged = bytearray(content)
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        damaged = content[:place]
    elif kind == "swap":
        other = data.draw(st.integers(0, len(content) - 1))
        first, second = sorted((place, other))
        damaged = content[second:] + content[first:second] + content[:first]
    elif kind == "double":
        damaged = content[:place] + content[place // 2 :]
    else:
        damaged = content[:place] + bytes(len(content) - place)
    assume(bytes(damaged) != content)
    broken = folder / "broken"
    broken.write_bytes(damaged)
    with pytest.raises(uqf.FileFormatError):
        uqf.load(broken)


def forged(folder, which="table", *, tensors=None, parts=None, **changes):
    """A file whose checksum is right but whose content is not; None takes a tensor out."""
    path = folder / "forged"
    uqf.save(KINDS[which](), path)
    header, arrays = read_tensors(path, KEY, "policy", FORMAT, MAX_BYTES)
    header |= {"parts": header["parts"] | (parts or {})} | changes
    arrays |= tensors or {}
    write_tensors(path, KEY, header, {name: array for name, array in arrays.items() if array is not None})
    return path


def with_nan():
    probs = TABLE.probs
    probs[0, 0] = np.nan
    return probs


def nested(depth):
    """Policies within policies."""
    inner = {"kind": "automaton", "epsilon": 0.5, "parts": {}}
    for _ in range(depth):
        inner = {"kind": "automaton", "epsilon": 0.5, "parts": {"behavior": inner}}
    return inner


FORGERIES = {
    "from the future": ({"format": 2}, "format 2; this package reads format 1: install a newer one"),
    "odd format": ({"format": "1"}, "format '1' is unknown"),
    "unknown kind": ({"kind": "pickle"}, "kind 'pickle'"),
    "NaN": ({"tensors": {"probs": with_nan()}}, "probs holds NaN"),
    "wrong dtype": ({"tensors": {"probs": TABLE.probs.astype(np.float32)}}, "from=float32, to=float64"),
    "wrong shape": ({"tensors": {"probs": TABLE.probs[:-1].copy()}}, "expected 7 rows"),
    "no tensor": ({"tensors": {"probs": None}}, "missing 1 required positional argument: 'probs'"),
    "one too many": ({"tensors": {"code": np.zeros(1)}}, "unexpected keyword argument 'code'"),
    "unknown part": ({"parts": {"code": 1}}, "unexpected keyword argument 'code'"),
    "huge alphabet": ({"n_observations": 2**62}, "symbols, at most"),
    "another alphabet": ({"n_observations": 3}, "n_observations = 2, 3 in the header"),
    "table of another alphabet": (
        {"parts": {"n_observations": 2**62}},
        f"n_observations = {2**62}, 2 in the header",
    ),
    "contexts of another alphabet": (
        {"which": "context", "parts": {"n_observations": 2**62}},
        f"n_observations = {2**62}, 2 in the header",
    ),
    "beliefs of another alphabet": (
        {"which": "belief", "n_observations": 3},
        "the header says 3 actions, 3 observations",
    ),
    "no actions": ({"n_actions": 0}, "n_actions = 0 is no positive number"),
    "true actions": ({"n_actions": True}, "n_actions = True is no positive number"),
    "settings of another shape": ({"settings": [1]}, "settings or parts are no mapping"),
    "window": ({"which": "automaton", "parts": {"window": -1}}, "window = -1 is negative"),
    "temperature": ({"parts": {"temperature": "hot"}}, "must be real number"),
    "temperature of a plan": ({"which": "plan", "parts": {"temperature": -1.0}}, "temperature = -1"),
    "deep nesting": (
        {"which": "automaton with behaviour", "parts": {"behavior": nested(300)}},
        "policies within policies, more than 100 deep",
    ),
    "behaviour of another kind": (
        {
            "which": "automaton with behaviour",
            "parts": {"behavior": {"kind": "table", "epsilon": 0.5, "parts": {"n_observations": 2}}},
        },
        "TablePolicy",
    ),
    "parents that come later": (
        {"which": "context", "tensors": {"parents": np.arange(8) + 5}},
        "parents come first",
    ),
    "endless models": ({"which": "belief", "tensors": {"states": np.array([2**62, 2])}}, "needs more"),
    "states that are none": (
        {"which": "belief", "tensors": {"ranges": np.full((2, 2, 2), 99)}},
        "beyond the states",
    ),
    "endless window": ({"which": "forest on a window", "parts": {"length": 2**60}}, "give 1 to 10000 steps"),
    "trees that are none": (
        {"which": "forest on a window", "tensors": {"roots": np.full(6, 99)}},
        "children after their parents",
    ),
    "no world": ({"which": "plan", "tensors": {"transitions": np.ones((3, 3, 3))}}, "sum to 3, not to 1"),
    "actions of plans": ({"which": "plan", "tensors": {"actions": np.array([0, 1, 7])}}, "actions below 3"),
    "absurd names": ({"codebook": {"actions": ["a"] * 10**5, "observations": None}}, "listed twice"),
    "many names": (
        {"codebook": {"actions": list(map(str, range(999))), "observations": None}},
        "999 action codes",
    ),
    "long name": (
        {"codebook": {"actions": ["a" * 10**5, "b", "c"], "observations": None}},
        "longer than 1000",
    ),
    "names of numbers": ({"codebook": {"actions": [1, 2, 3], "observations": None}}, "all of them strings"),
    "names of another shape": ({"codebook": [1]}, "no policy of uqf"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_hostile_content_is_refused(tmp_path, name):
    changes, message = FORGERIES[name]
    with pytest.raises(uqf.FileFormatError, match=message):
        uqf.load(forged(tmp_path, **changes))


#: Loads a file with little memory to spare.
LOAD = """
import resource, sys
import uqf
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    uqf.load(sys.argv[1])
except uqf.FileFormatError:
    print("refused")
"""


@pytest.mark.parametrize("n_observations", [10**6, 10**12, 2**62])
@pytest.mark.parametrize("kind", ["automaton", "automaton with behaviour", "forest on an automaton"])
def test_an_alphabet_that_only_the_parts_claim_takes_no_memory(tmp_path, kind, n_observations):
    """In a process of its own, since an allocation that fails ends the process."""
    parts = {"n_observations": n_observations}
    if kind != "automaton":
        name = "behavior" if "behaviour" in kind else "automaton"
        uqf.save(KINDS[kind](), tmp_path / "honest")
        inner = uqf.inspect_policy(tmp_path / "honest").parts[name]
        parts = {name: inner | {"parts": inner["parts"] | parts}}
    path = forged(tmp_path, kind, parts=parts)
    run = subprocess.run([sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True)
    assert run.stdout.split() == ["refused"], run.stderr[:500]


def moved(begin, end):
    """What says where the tensors of a file begin and end, with the last one elsewhere."""

    def change(header):
        last = max(
            (name for name in header if name != "__metadata__"), key=lambda one: header[one]["data_offsets"]
        )
        first, _ = header[last]["data_offsets"]
        header[last]["data_offsets"] = [first + begin, first + end]

    return change


@pytest.mark.parametrize(
    "change",
    [moved(-8, 8), moved(8, 16), moved(0, 2**40), moved(-(2**40), 8), moved(0, -8), moved(2**63, 2**63 + 8)],
    ids=[
        "overlaps",
        "leaves a hole",
        "beyond the end",
        "before the beginning",
        "backwards",
        "beyond all numbers",
    ],
)
def test_tensors_that_lie_elsewhere_are_refused(tmp_path, change):
    path = tmp_path / "moved"
    uqf.save(KINDS["automaton"](), path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    change(header)
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + content[8 + length :])
    for read in (uqf.load, uqf.inspect_policy):
        with pytest.raises(uqf.FileFormatError):
            read(path)


def test_huge_declared_shapes_take_no_memory(tmp_path):
    header = json.dumps({"probs": {"dtype": "F64", "shape": [2**40, 2], "data_offsets": [0, 2**44]}}).encode()
    path = tmp_path / "huge"
    for length in (len(header), 2**63):
        path.write_bytes(length.to_bytes(8, "little") + header)
        with pytest.raises(uqf.FileFormatError):
            uqf.load(path)
    path.write_bytes(pickle.dumps(TABLE.probs))
    with pytest.raises(uqf.FileFormatError):
        uqf.load(path)
    deep = b'{"__metadata__":' + b"[" * 100_000
    path.write_bytes(len(deep).to_bytes(8, "little") + deep)
    with pytest.raises(uqf.FileFormatError):
        uqf.load(path)
