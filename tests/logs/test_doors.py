"""All the ways in: files, patterns, lists, tables; headers, uqf.toml, costs."""

import pandas
import polars
import pyarrow as pa
import pyarrow.csv
import pytest

import uqf
from log_tables import STEPS, as_steps


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A log of Tiger as one file, and in three parts of which one has fractions among whole numbers."""
    folder = tmp_path_factory.mktemp("doors")
    data = uqf.rollout(uqf.make("tiger"), episodes=60, seed=0)
    table = as_steps(data)
    pa.csv.write_csv(table, folder / "good.csv")
    for part, first in enumerate(range(0, table.num_rows, 400)):
        pa.csv.write_csv(table.slice(first, 400), folder / f"part-{part}.csv")
    return folder


def test_a_log_may_be_a_file_a_pattern_a_list_or_a_table(folder):
    data = uqf.read_log(folder / "good.csv")
    parts = [folder / f"part-{part}.csv" for part in range(3)]
    table = pa.csv.read_csv(folder / "good.csv")
    tables = [pandas.read_csv(folder / "good.csv"), polars.from_arrow(table), [table[:700], table[700:]]]
    for source in (str(folder / "part-*.csv"), parts, *tables):
        assert uqf.read_log(source) == data
    learners = [uqf.ContextQ(0.95).fit(source) for source in (data, str(folder / "good.csv"), tables[0])]
    assert len({learner.origin_.fingerprint for learner in learners}) == 1
    fitted = [uqf.fit(source, discount=0.95, seconds=0) for source in (data, folder / "good.csv")]
    assert len({one.origin_.fingerprint for one in fitted}) == 1


def test_text_in_one_part_and_numbers_in_another_are_one_column(tmp_path):
    (tmp_path / "1.csv").write_text("episode;action;observation;reward\n0;go;1;2\n")
    (tmp_path / "2.csv").write_text("episode;action;observation;reward\n1;go;1;2,5\n")
    assert uqf.read_log(str(tmp_path / "?.csv"), clean=True).rewards.tolist() == [2.0, 2.5]


def test_whole_numbers_written_as_fractions_are_codes():
    table = pa.table(STEPS | {"action": [0.0, 1.0, 0.0, 0.0, 1.0], "observation": [2.0, 0.0, 1.0, 1.0, 1.0]})
    data = uqf.read_log(table)
    assert data.codebook is None and data.actions.tolist() == [0, 1, 0, 0, 1]
    assert data.observations.tolist() == [2, 0, 1, 1, 1]


def test_all_missing_columns_are_told_at_once_with_the_line_to_type(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("Run_ID,Decision,Temp,Gain,Is_Terminal\n0,go,1,2,no\n")
    with pytest.raises(uqf.FileFormatError) as told:
        uqf.read_log(path)
    for role in ("episode", "action", "observation", "reward"):
        assert f"for the {role}" in str(told.value)
    line = "--columns episode=Run_ID,action=Decision,observation=…,reward=Gain"
    roles = dict(pair.split("=") for pair in line.removeprefix("--columns ").split(","))
    assert all(f"{role}={name}" in str(told.value) for role, name in roles.items())


@pytest.mark.parametrize("reward", [None, "-cost"])
def test_the_line_to_type_has_every_observed_column_and_the_sign_of_costs(tmp_path, reward):
    path = tmp_path / "log.csv"
    path.write_text("Run,Decision,Heat_A,HeatB,load,Cost\n0,go,1,2,3,4\n")
    wanted = uqf.LogColumns("Run", "Decision", ["heat a", "heat_b", "load"], reward)
    with pytest.raises(uqf.FileFormatError) as said:
        uqf.read_log(path, columns=wanted)
    assert "--columns observation=Heat_A+HeatB+load,reward=-Cost or LogColumns(" in str(said.value)
    assert "observation=['Heat_A', 'HeatB', 'load'], reward='-Cost')" in str(said.value)


def test_columns_may_stand_in_a_file_beside_the_log(tmp_path):
    table = pa.table(STEPS).rename_columns(["run", "do", "see", "cost", "p", "over"])
    pa.csv.write_csv(table, tmp_path / "log.csv")
    (tmp_path / "uqf.toml").write_text(
        '[columns]\nepisode = "run"\naction = "do"\nobservation = "see"\nreward = "-cost"\n'
    )
    data = uqf.read_log(tmp_path / "log.csv")
    assert data.rewards.tolist() == [0.0 - reward for reward in STEPS["reward"]]
    other = uqf.read_log(tmp_path / "log.csv", columns=uqf.LogColumns(reward="cost", behavior_prob="p"))
    assert other.rewards.tolist() == STEPS["reward"] and other.behavior_probs is not None


def test_a_fresh_learner_has_no_policy():
    for fresh in (uqf.BeliefQ(), uqf.UQF(2, 0.9), uqf.ContextQ()):
        assert not hasattr(fresh, "policy_") and not hasattr(fresh, "nothing")
