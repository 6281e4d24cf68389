"""Worlds of others: Gymnasium's, and folders of .pomdp files."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app
from uqf.paper import gymnasium_places, worlds
from uqf.paper.gymnasium_places import GYMNASIUM, POSITION_ONLY, GymnasiumPlace


@pytest.fixture
def small(monkeypatch):
    for name, value in {"LOGGED": 40, "STEPS": 10, "PLAYED": 20, "PLANNING": 0.5}.items():
        monkeypatch.setattr(worlds, name, value)


@pytest.mark.usefixtures("small")
def test_a_folder_of_pomdp_files_is_played_by_every_method(tmp_path):
    uqf.save_pomdp(uqf.make("tiger").tabular(), tmp_path / "tiger.POMDP")
    run = CliRunner().invoke(app, ["worlds", str(tmp_path), "--seeds", "2", "--json"], catch_exceptions=False)
    results = json.loads(run.stdout)
    methods = {result["method"] for result in results}
    assert len(results) == 12 and {"chance", "uqf.fit", "PBVI, given the model"} < methods
    assert {result["seed"] for result in results} == {0, 1}
    assert all(result["learner"] for result in results if result["method"] == "uqf.fit")
    shown = CliRunner().invoke(app, ["worlds", str(tmp_path), "--seeds", "1"], catch_exceptions=False).output
    assert "memoryless Q-learning" in shown and "uqf.fit took" in shown


def test_a_folder_without_worlds_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no \.pomdp file"):
        worlds.places(tmp_path)


def test_gymnasium_worlds_are_logged_with_what_reset_shows():
    pytest.importorskip("gymnasium")
    assert [place.name for place in GYMNASIUM] == [place.name for place in worlds.places(None)][
        : len(GYMNASIUM)
    ]
    lake = GymnasiumPlace("FrozenLake-v1", 30, 20, played=10)
    data = lake.log(3)
    assert len(data) == 30 and (data.first_observations == 0).all()
    assert 0.0 <= lake.score(None, 3) <= 1.0


def test_the_codebook_is_learned_from_the_log_and_policies_may_be_learned_online(monkeypatch):
    pytest.importorskip("gymnasium")
    monkeypatch.setattr(gymnasium_places, "ROUNDS", 3)
    place = GymnasiumPlace(POSITION_ONLY, 200, 50, played=10)
    found = {one.method: one for one in worlds.contest(place, range(5, 6), online=True)}
    assert found["uqf.fit"].score > found["chance"].score
    assert found["policy_iteration, online"].score > found["chance"].score
    assert found["policy_iteration, online"].seconds > 0.0
    assert place.world(5).codebook.columns_ == ("observation.0", "observation.1")


@pytest.mark.slow
def test_a_pole_is_balanced_without_its_velocities():
    pytest.importorskip("gymnasium")
    place = next(place for place in GYMNASIUM if place.name == POSITION_ONLY)
    found = list(worlds.contest(place, range(2), online=True))
    assert min(one.score for one in found if one.method == "uqf.fit") > 100
    assert min(one.score for one in found if one.method == "policy_iteration, online") > 180


@pytest.mark.slow
@pytest.mark.parametrize(("place", "least"), [(GYMNASIUM[0], 0.65), (GYMNASIUM[2], -15.0)])
def test_the_front_door_plans_in_gymnasium_worlds(place, least):
    pytest.importorskip("gymnasium")
    found = list(worlds.contest(place, range(3)))
    assert np.mean([one.score for one in found if one.method == "uqf.fit"]) > least
    assert {one.learner for one in found if one.learner} == {"TableQ"}
