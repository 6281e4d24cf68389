"""Model files: exact round trips, whole writing, and no way to hurt the reader."""

import json
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from uqf.model_file import KEY, begins_as_model
from uqf.model_header import checksum, fingerprint

import uqf
from uqf import _core


def random_sum(rng, n_actions, n_observations, n_contexts, n_beliefs, temperature):
    """A sum of context tables and of values on beliefs over two models each."""

    def model():
        clones = rng.integers(0, 3, n_observations) + (np.arange(n_observations) == 0)
        ends = np.cumsum(clones)
        states = int(ends[-1])
        start = rng.dirichlet(np.ones(states)).astype(np.float32)
        moves = (0.9 * rng.dirichlet(np.ones(states), (n_actions, states))).astype(np.float32)
        return start, moves, list(zip((ends - clones).tolist(), ends.tolist(), strict=True))

    def belief_term():
        models = [model(), model()]
        features = sum(len(start) for start, _, _ in models)
        return models, rng.normal(size=(features, n_actions)), rng.normal(size=n_actions)

    def context_term():
        keys = rng.integers(1, 2**63, size=rng.integers(0, 5), dtype=np.uint64)
        return keys, rng.normal(size=(len(keys) + 1, n_actions)), int(rng.integers(1, 4))

    return uqf.SumPolicy.from_parts(
        n_actions=n_actions,
        n_observations=n_observations,
        contexts=[context_term() for _ in range(n_contexts)],
        beliefs=[belief_term() for _ in range(n_beliefs)],
        temperature=temperature,
    )


@st.composite
def policies(draw):
    """Sum, automaton or table policies with random parts."""
    n_actions, n_observations = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_symbols = n_actions * n_observations
    kind = draw(st.sampled_from(["table", "sum", "automaton"]))
    if kind == "table":
        return uqf.TablePolicy(rng.dirichlet(np.ones(n_actions), n_symbols + 1), n_observations)
    if kind == "sum":
        terms = draw(st.integers(0, 2)), draw(st.integers(1, 2))
        return random_sum(
            rng, n_actions, n_observations, *terms, temperature=draw(st.sampled_from([0.0, 0.5]))
        )
    rank, seen = draw(st.integers(1, 4)), draw(st.integers(1, n_symbols))
    symbols = rng.permutation(n_symbols)[:seen]
    return uqf.AutomatonPolicy(
        _core.Automaton(symbols, rng.normal(size=(seen, rank, rank)), n_symbols),
        n_actions=n_actions,
        n_observations=n_observations,
        start=rng.normal(size=rank),
        anchor=rng.normal(size=rank),
        weights=rng.normal(size=(n_actions, rank)),
        table=rng.normal(size=(seen + 2, n_actions)) if draw(st.booleans()) else None,
        normaliser=rng.normal(size=rank) if draw(st.booleans()) else None,
        window=draw(st.none() | st.integers(1, 3)),
        temperature=draw(st.sampled_from([0.0, 0.5])),
    )


def behaviour(policy):
    """Action probabilities along fixed episodes: equal for equal policies."""
    rng = np.random.default_rng(0)
    data = uqf.Trajectories(
        rng.integers(policy.n_actions, size=40),
        rng.integers(policy.n_observations, size=40),
        np.zeros(40),
        [0, 15, 40],
        n_actions=policy.n_actions,
        n_observations=policy.n_observations,
    )
    return _core.action_probabilities(data, policy)


@given(policies())
def test_a_saved_policy_acts_as_before_to_the_last_bit(tmp_path_factory, policy):
    path = tmp_path_factory.mktemp("model") / "policy.safetensors"
    uqf.save(policy, path, settings={"rank": 3, "seed": 7})
    again = uqf.load(path)
    assert type(again) is type(policy)
    assert np.array_equal(behaviour(again), behaviour(policy))
    header = uqf.inspect_model(path)
    assert header.settings == {"rank": 3, "seed": 7}
    assert header.projection_hash == "xxh3-64"
    assert header.package_version == uqf.__version__


TABLE = uqf.TablePolicy(np.full((7, 2), 0.5), 3)


def test_names_and_the_origin_of_the_data_are_kept(tmp_path):
    names = uqf.Vocabulary(("left", "right"), ("wall", "door"))
    data = uqf.Trajectories([0, 1], [0, 1], [0, 1], [0, 2], n_actions=2, n_observations=3, vocabulary=names)
    uqf.save(TABLE, tmp_path / "policy", data=data)
    header = uqf.inspect_model(tmp_path / "policy")
    assert header.vocabulary == names
    assert header.data_fingerprint == fingerprint(data) == fingerprint(data[:])
    assert fingerprint(data) != fingerprint(
        uqf.Trajectories([0, 1], [0, 1], [0, 2], [0, 2], n_actions=2, n_observations=3)
    )
    with pytest.raises(ValueError, match="the vocabulary makes 2 observation codes, the policy has 3"):
        uqf.save(TABLE, tmp_path / "policy", vocabulary=uqf.Vocabulary(None, ("wall",)))
    with pytest.raises(ValueError, match="settings must hold only what JSON knows"):
        uqf.save(TABLE, tmp_path / "policy", settings={"x": float("nan")})
    assert uqf.inspect_model(tmp_path / "policy") == header, "refused saves leave the file as it was"
    assert os.listdir(tmp_path) == ["policy"]


def test_a_learner_keeps_the_origin_of_its_data_and_not_the_data(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=3000, horizon=10, seed=0)
    learner = uqf.UQF(memory="contexts").fit(data)
    learner.save(tmp_path / "policy")
    assert uqf.inspect_model(tmp_path / "policy").data_fingerprint == fingerprint(data)
    assert len(pickle.dumps(learner)) < data.n_steps


def test_a_model_is_known_by_its_beginning(tmp_path):
    uqf.save(TABLE, tmp_path / "policy")
    assert begins_as_model(tmp_path / "policy")
    (tmp_path / "log").write_text('{"action": {}}')
    assert not begins_as_model(tmp_path / "log")
    assert not begins_as_model(tmp_path / "nothing") and not begins_as_model(tmp_path)


def test_other_objects_are_not_saved(tmp_path):
    with pytest.raises(TypeError, match="policy is a dict"):
        uqf.save({}, tmp_path / "policy")
    assert not os.listdir(tmp_path)


def written(tmp_path, policy=TABLE, **options):
    path = tmp_path / "policy.safetensors"
    uqf.save(policy, path, **options)
    return path, path.read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    names = uqf.Vocabulary(("left", "right"), ("wall", "door"))
    return written(tmp_path_factory.mktemp("model"), vocabulary=names, settings={"rank": 3})


@given(data=st.data())
def test_damage_is_found_or_harmless(whole, data):
    path, content = whole
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
    if bytes(damaged) == content:
        return
    broken = path.with_name("broken")
    broken.write_bytes(damaged)
    with pytest.raises(uqf.FileFormatError, match="broken"):
        uqf.load(broken)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(content)
    with pytest.raises(uqf.FileFormatError, match="noise"):
        uqf.load(path)


def forged(tmp_path, tensors=None, **changes):
    """A file whose checksum is right but whose content is not."""
    _, content = written(tmp_path)
    length = int.from_bytes(content[:8], "little")
    described = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY]) | changes
    arrays = {"probs": TABLE.probs} if tensors is None else tensors
    described["checksum"] = checksum(described, arrays)
    path = tmp_path / "forged"
    path.write_bytes(safetensors.numpy.save(arrays, {KEY: json.dumps(described)}))
    return path


def with_nan():
    probs = TABLE.probs
    probs[0, 0] = np.nan
    return probs


FORGERIES = {
    "from the future": ({"format": 2}, "format 2, written by uqf .*: install a newer one"),
    "odd format": ({"format": "1"}, "format '1' is unknown"),
    "unknown kind": ({"kind": "pickle"}, "kind 'pickle'"),
    "NaN": ({"tensors": {"probs": with_nan()}}, "probs holds NaN"),
    "wrong dtype": ({"tensors": {"probs": TABLE.probs.astype(np.float32)}}, "probs has dtype float32"),
    "wrong shape": ({"tensors": {"probs": TABLE.probs[:-1]}}, "expected 7 rows"),
    "no tensor": ({"tensors": {}}, "tensors are missing"),
    "one too many": ({"tensors": {"probs": TABLE.probs, "code": np.zeros(1)}}, r"unknown \(\['code'\]\)"),
    "huge alphabet": ({"n_observations": 2**62}, "symbols, at most"),
    "automaton with a huge alphabet": (
        {"kind": "automaton", "n_actions": 10**6, "n_observations": 10**6},
        "at most",
    ),
    "no actions": ({"n_actions": 0}, "n_actions = 0 is no positive number"),
    "window": ({"window": -1}, "window = -1"),
    "temperature": ({"temperature": "hot"}, "temperature = 'hot'"),
    "absurd names": ({"vocabulary": {"actions": ["a"] * 10**5, "observations": None}}, "listed twice"),
    "many names": (
        {"vocabulary": {"actions": list(map(str, range(999))), "observations": None}},
        "999 action codes",
    ),
    "long name": ({"vocabulary": {"actions": ["a" * 10**5, "b"], "observations": None}}, "longer than 1000"),
    "names of numbers": ({"vocabulary": {"actions": [1, 2], "observations": None}}, "all of them strings"),
    "names of another shape": ({"vocabulary": [1]}, "not a model file"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_hostile_content_is_refused(tmp_path, name):
    changes, message = FORGERIES[name]
    with pytest.raises(uqf.FileFormatError, match=message):
        uqf.load(forged(tmp_path, **changes))


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


def _limited_save(path):
    """Saves a policy of about a megabyte where files may have only 10 kB, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    uqf.save(uqf.TablePolicy(np.full((2 * 30_000 + 1, 2), 0.5), 30_000), path)


def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    path, content = written(tmp_path)
    code = f"""
import signal, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from test_model_file import _limited_save
_limited_save({str(path)!r})
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "OSError" in run.stderr
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == [path.name], "nothing half-written is left behind"


def _save_many(path, probability):
    probs = np.tile([probability, 1.0 - probability], (2 * 500 + 1, 1))
    for _ in range(30):
        uqf.save(uqf.TablePolicy(probs, 500), path)


def test_two_processes_saving_to_one_path_never_mix(tmp_path):
    path = tmp_path / "policy"
    _save_many(path, 0.5)
    spawn = multiprocessing.get_context("fork")
    writers = [spawn.Process(target=_save_many, args=(path, p)) for p in (0.25, 0.75)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert np.unique(uqf.load(path).probs[:, 0]).size == 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert uqf.load(path).probs[0, 0] in (0.25, 0.75)
    assert os.listdir(tmp_path) == ["policy"]
