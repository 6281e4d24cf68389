"""Policies as files: exact round trips, and what else a file tells."""

import os
import pickle

import numpy as np
import pytest

import uqf
from random_policies import KINDS, behaviour
from uqf.episodes.fingerprint import fingerprint
from uqf.storage.tensors import begins_as_tensors


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_saved_and_loaded(tmp_path, kind):
    policy = KINDS[kind]()
    uqf.save(policy, tmp_path / "policy", settings={"rank": 3, "seed": 7})
    loaded = uqf.load(tmp_path / "policy")
    assert type(loaded) is type(policy)
    assert repr(loaded) == repr(policy)
    np.testing.assert_array_equal(behaviour(loaded), behaviour(policy))
    header = uqf.inspect_policy(tmp_path / "policy")
    assert (header.n_actions, header.n_observations) == (3, 2)
    assert header.settings == {"rank": 3, "seed": 7} and header.package_version == uqf.__version__
    assert header.kind == type(policy).__name__.removesuffix("Policy").lower()
    uqf.save(loaded, tmp_path / "again", settings=header.settings)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "policy").read_bytes()


TABLE = uqf.TablePolicy(np.full((7, 2), 0.5), 3)


def test_names_and_the_origin_of_the_data_are_kept(tmp_path):
    names = uqf.Codebook.named(("left", "right"), ("wall", "door"))
    data = uqf.Trajectories([0, 1], [0, 1], [0, 1], [0, 2], n_actions=2, n_observations=3, codebook=names)
    uqf.save(TABLE, tmp_path / "policy", data=data)
    header = uqf.inspect_policy(tmp_path / "policy")
    assert header.codebook == names
    assert header.data_fingerprint == fingerprint(data) == fingerprint(data[:])
    assert fingerprint(data) != fingerprint(
        uqf.Trajectories([0, 1], [0, 1], [0, 2], [0, 2], n_actions=2, n_observations=3)
    )
    with pytest.raises(ValueError):
        uqf.save(TABLE, tmp_path / "policy", settings={"x": float("nan")})
    assert uqf.inspect_policy(tmp_path / "policy") == header, "refused saves leave the file as it was"
    assert os.listdir(tmp_path) == ["policy"]


def test_a_learner_keeps_the_origin_of_its_data_and_not_the_data(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=3000, horizon=10, seed=0)
    learner = uqf.ContextQ().fit(data)
    learner.save(tmp_path / "policy")
    assert uqf.inspect_policy(tmp_path / "policy").data_fingerprint == fingerprint(data)
    assert len(pickle.dumps(learner)) < data.n_steps


def test_a_policy_file_is_known_by_its_beginning(tmp_path):
    uqf.save(TABLE, tmp_path / "policy")
    assert begins_as_tensors(tmp_path / "policy")
    (tmp_path / "log").write_text('{"action": {}}')
    assert not begins_as_tensors(tmp_path / "log")
    assert not begins_as_tensors(tmp_path / "nothing") and not begins_as_tensors(tmp_path)


def test_other_objects_are_not_saved(tmp_path):
    with pytest.raises(TypeError):
        uqf.save({}, tmp_path / "policy")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("length", [190, 200, 201, 255])
@pytest.mark.parametrize("letter", ["a", "é"])
def test_names_as_long_as_file_systems_take_are_saved(tmp_path, length, letter):
    name = letter * ((length - 12) // len(letter.encode())) + ".safetensors"
    name = "b" * (length - len(name.encode())) + name
    assert len(name.encode()) == length
    uqf.save(TABLE, tmp_path / name)
    (tmp_path / f".{'x' * 16}").touch()
    uqf.save(TABLE, tmp_path / name)
    assert np.array_equal(uqf.load(tmp_path / name).probs, TABLE.probs)
    assert len(os.listdir(tmp_path)) == 2, "nothing is left behind, and nobody else's file is removed"


def test_names_of_other_kinds_of_files_are_refused(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=20, seed=0)
    learner = uqf.ContextQ(0.9).fit(data)
    for suffix in (".onnx", ".csv", ".HTML", ".pomdp", ".parquet"):
        with pytest.raises(ValueError):
            learner.save(tmp_path / f"x{suffix}")
    for suffix in (".safetensors", ".csv"):
        with pytest.raises(ValueError):
            learner.export_onnx(tmp_path / f"x{suffix}")
        with pytest.raises(ValueError):
            uqf.save_pomdp(uqf.make("tiger"), tmp_path / f"x{suffix}")
    assert not os.listdir(tmp_path)
    for free in ("policy", "policy.v2", "policy.SafeTensors"):
        learner.save(tmp_path / free)
    assert len(os.listdir(tmp_path)) == 3
