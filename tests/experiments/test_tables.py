"""The runner of tables: every world and method by name, results that are kept, what is printed."""

import json

import numpy as np
import pytest
from experiments.__main__ import arguments, lines, main, result
from experiments.methods import METHODS
from experiments.tables import TABLES
from experiments.worlds import GYMNASIUM, Trial, world

import uqf
from experiments import methods, worlds
from uqf.paper.cells import Cell, Row

#: Four methods that take no time.
QUICK = ["chance", "memoryless", "ContextQ"]


def test_tables_name_worlds_and_methods_that_exist():
    for table in TABLES.values():
        assert set(table.methods) <= METHODS.keys()
        for name in table.worlds:
            if not name.startswith("popgym"):
                assert world(name).episodes > 0


@pytest.mark.parametrize("name", ["chess", "tmaze", "tmaze-x", "cue-3"])
def test_unknown_worlds_are_refused_with_what_there_is(name):
    with pytest.raises(ValueError, match=rf"'{name}'[\s\S]*tmaze-N"):
        world(name)


def test_a_second_run_makes_nothing_anew_and_more_seeds_add_to_it(tmp_path, capsys):
    run = ["cues", "--worlds", "tmaze-1@50", "cue@30", "--methods", *QUICK, "--out", str(tmp_path)]
    main([*run, "--seeds", "2"])
    first, path = capsys.readouterr(), tmp_path / "cues.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == 2 * 2 * len(QUICK)
    assert {(row["setting"]["world"], row["method"], row["seed"]) for row in rows} == {
        (name, method, seed) for name in ("tmaze-1@50", "cue@30") for method in QUICK for seed in (0, 1)
    }
    assert all(row["result"]["cpu_seconds"] >= 0.0 for row in rows)
    before = path.read_bytes()
    main([*run, "--seeds", "0-1"])
    again = capsys.readouterr()
    assert (path.read_bytes(), again.out, again.err) == (before, first.out, "")
    main([*run, "--seeds", "3"])
    assert len(path.read_text().splitlines()) == 3 * 2 * len(QUICK)


def test_a_line_has_mean_error_worst_and_number_of_logs():
    one = world("gridworld-far")
    rows = [
        Row(
            Cell("t", "uqf.fit", one.setting, seed),
            {"return": value, "cpu_seconds": 1.0, "learner": "BeliefQ"},
            {},
        )
        for seed, value in enumerate((0.2, 0.4, 0.9))
    ]
    _, line, taken = lines(one, rows)
    assert line.split()[:7] == ["uqf.fit", "0.5", "±", "0.21", "0.2", "3", "1"]
    assert "normalised 0.529" in line and taken == "  took BeliefQ (3)"
    _, single, _ = lines(one, rows[:1])
    assert "±  –" in single or "± –" in single


def test_a_folder_of_pomdp_files_is_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(methods, "PLANNING", 0.5)
    monkeypatch.setattr(worlds, "POMDP_STEPS", 10)
    uqf.save_pomdp(uqf.make("tiger").tabular(), tmp_path / "small.POMDP")
    out = tmp_path / "out"
    run = ["pomdp", "--pomdp", str(tmp_path), "--seeds", "1", "--out", str(out)]
    main([*run, "--worlds", "small@40", "--methods", "chance", "uqf.fit", "PBVI, given the model"])
    rows = [json.loads(line) for line in (out / "pomdp.jsonl").read_text().splitlines()]
    found = {row["method"]: row["result"] for row in rows}
    assert found["PBVI, given the model"]["return"] > found["chance"]["return"]
    assert found["uqf.fit"]["learner"] in capsys.readouterr().out
    with pytest.raises(ValueError, match="needs --pomdp FOLDER"):
        main(["pomdp", "--out", str(out)])
    with pytest.raises(FileNotFoundError, match=r"has no \.pomdp file"):
        main(["pomdp", "--pomdp", str(out), "--out", str(out)])


@pytest.mark.parametrize("text", ["0", "5-4", "x", "-1"])
def test_seeds_that_are_none_are_refused(text):
    with pytest.raises(SystemExit):
        arguments(["cues", f"--seeds={text}"])


def test_worlds_of_gymnasium_are_logged_with_what_reset_shows_and_scored_undiscounted():
    trial = Trial(world("FrozenLake-v1@30"), 3)
    assert len(trial.data) == 30 and (trial.data.first_observations == 0).all()
    assert 0.0 <= trial.score(None) <= 1.0
    assert trial.world.weight == 1.0 and trial.env.horizon == GYMNASIUM["FrozenLake-v1"][1]


@pytest.mark.parametrize("length", [1, 5])
def test_whoever_follows_the_cue_of_a_t_maze_earns_the_optimum(length):
    trial = Trial(world(f"tmaze-{length}"), 0)
    env = trial.env
    simulation = env.simulation(0, 0)
    rewards = [simulation.step(0)[1] for _ in range(length)]
    _, reward, ended = simulation.step(1 + simulation.first)
    assert (sum(rewards) + reward, ended) == (pytest.approx(1.0 - 0.02 * length), True)
    data = trial.data
    assert set(np.unique(data.first_observations)) == {0, 1}
    assert set(np.unique(data.observations)) <= {2, 3}, "the cue is shown once"


def test_repeating_the_cue_among_noise_earns_one():
    simulation = world("cue").make(0).simulation(0, 0)
    rewards = [simulation.step(simulation.first)[1] for _ in range(10)]
    assert sum(rewards) == pytest.approx(1.0)


def test_methods_play_as_many_episodes_as_the_log_has():
    trial = Trial(world("CartPole-positions@200"), 5)
    iterated = METHODS["policy_iteration"].learn(trial)
    assert 100 < sum(map(len, iterated.data)) <= 200
    assert trial.score(iterated.policy) > trial.score(None)
    assert trial.env.codebook.columns_ == ("observation.0", "observation.1")


def test_learners_of_the_paper_are_tried_in_its_worlds_only():
    method = METHODS["UQF, chosen from data"]
    assert not method.suits(world("tmaze-1")) and method.suits(world("spocman"))
    found = result(Trial(world("gridworld-near@60"), 0), "UQF, chosen from data")
    assert 0.0 <= found["return"] <= 1.0 and found["cpu_seconds"] > 0.0


@pytest.mark.slow
def test_a_pole_is_balanced_without_its_velocities():
    trials = [Trial(world("CartPole-positions"), seed) for seed in range(2)]
    assert min(result(trial, "uqf.fit")["return"] for trial in trials) > 100
    assert min(result(trial, "policy_iteration")["return"] for trial in trials) > 180


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("FrozenLake-v1", 0.65), ("CliffWalking-v1", -15.0)])
def test_the_front_door_plans_in_gymnasium_worlds(name, least):
    found = [result(Trial(world(name), seed), "uqf.fit") for seed in range(3)]
    assert np.mean([one["return"] for one in found]) > least
    assert {one["learner"] for one in found} == {"TableQ"}
