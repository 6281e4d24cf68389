"""Logs whose actions are measurements: cut into cells on request, refused with the way out otherwise."""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app

BINNED = uqf.LogColumns(episode="run", action="valve", observation="pressure", reward="gain", action_bins=4)


def table(runs=150, steps=8, seed=0):
    """A valve that should be nearly shut after low pressure and nearly open after high pressure."""
    rng = np.random.default_rng(seed)
    rows = {"run": np.repeat(np.arange(runs), steps), "valve": rng.random(runs * steps)}
    pressure = rng.choice(["low", "high"], runs * steps)
    before = np.concatenate([["low"], pressure[:-1]])
    gain = 1.0 - np.abs(rows["valve"] - np.where(before == "low", 0.1, 0.9))
    return pa.table({**rows, "pressure": pressure, "gain": gain})


def written(folder, frame, mark="."):
    lines = [";".join(frame.column_names)]
    for row in zip(*(column.to_pylist() for column in frame.columns), strict=True):
        lines.append(";".join(str(value).replace(".", mark) for value in row))
    (folder / "valve.csv").write_text("\n".join(lines) + "\n")
    return folder / "valve.csv"


@pytest.fixture(scope="module")
def frame():
    return table()


def test_cells_are_learned_from_the_log_and_go_along_with_it(tmp_path, frame):
    data = uqf.read_log(frame, columns=BINNED)
    bins = data.codebook.action_bins
    assert data.n_actions == bins.n == 4 and data.codebook.observation_names == ("high", "low")
    assert (data.actions == bins.encode(frame["valve"].to_numpy())).all()
    assert np.bincount(data.actions).tolist() == [300] * 4
    data.to_parquet(tmp_path / "coded.parquet")
    assert uqf.read_log(tmp_path / "coded.parquet") == data
    for path in (written(tmp_path, frame), tmp_path / "raw.parquet"):
        pq.write_table(frame, tmp_path / "raw.parquet")
        assert uqf.read_log(path, columns=BINNED) == data
    named = uqf.LogColumns(episode="run", action="valve", observation="pressure", reward="gain")
    assert uqf.read_log(frame, columns=named, codebook=data.codebook) == data, "a policy's own cells"
    lists = pa.table(
        {"action": [[0.1, 0.9], [0.5]], "observation": [[0, 1], [1]], "reward": [[1.0, 2.0], [3.0]]}
    )
    assert uqf.read_log(lists, columns=uqf.LogColumns(action_bins=3)).actions.tolist() == [0, 2, 1]


def test_shards_of_a_converted_log_share_their_cells(tmp_path, frame):
    several = frame.append_column("noise", pa.array(np.random.default_rng(3).random(len(frame))))
    columns = dataclasses.replace(BINNED, observation=["pressure", "noise"])
    uqf.convert(written(tmp_path, several), tmp_path / "shards", columns=columns, episodes_per_file=60)
    shards = uqf.Shards(tmp_path / "shards")
    assert len(shards) == 3 and shards.codebook == uqf.read_log(several, columns=columns).codebook
    assert shards.codebook.action_bins.n == 4 and shards.codebook.ignored_columns == ("noise",)


def test_an_agent_does_numbers_that_were_logged(tmp_path, frame):
    data = uqf.read_log(frame, columns=BINNED)
    learner = uqf.fit(data, discount=0.5)
    learner.save(tmp_path / "valve.safetensors")
    agent = uqf.Agent(tmp_path / "valve.safetensors")
    agent.reset()
    agent.act()
    agent.observe("high", action=0.77)
    opened = agent.act()
    assert isinstance(opened, float) and 0.75 < opened < 1.0 and opened in frame["valve"].to_pylist()
    agent.observe("low")
    assert agent.act() < 0.25
    assert learner.policy_.n_actions == 4


def test_without_a_request_measurements_are_refused_with_the_way_out(tmp_path, frame):
    plain = uqf.LogColumns(episode="run", action="valve", observation="pressure", reward="gain")
    (problem,) = uqf.log_problems(written(tmp_path, frame), columns=plain)
    assert (
        problem.what == "numbers that are no codes" and "--action-bins" in problem.remedy and problem.severe
    )
    assert uqf.log_problems(written(tmp_path, frame), columns=BINNED) == []
    negative = {"episode": [0, 0], "action": [-1, 1], "observation": [0, 0], "reward": [0.0, 0.0]}
    binned = uqf.read_log(pa.table(negative), columns=uqf.LogColumns(action_bins=2))
    assert [binned.codebook.decode_action(code) for code in binned.actions] == [-1, 1]


def test_propensities_of_numbers_are_not_taken_for_those_of_cells(tmp_path, frame):
    frame = frame.append_column("behavior_prob", pa.array(np.full(len(frame), 0.5)))
    assert uqf.read_log(frame, columns=BINNED).behavior_probs is None
    (problem,) = uqf.log_problems(written(tmp_path, frame), columns=BINNED)
    assert problem.column == "behavior_prob" and "not used" in problem.remedy and not problem.severe


def test_messy_numbers_are_cleaned_before_they_are_cut(tmp_path, frame):
    path = written(tmp_path, frame, mark=",")
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(path, columns=BINNED)
    assert uqf.read_log(path, columns=BINNED, clean=True) == uqf.read_log(frame, columns=BINNED)
    plain = uqf.LogColumns(episode="run", action="valve", observation="pressure", reward="gain")
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(path, columns=plain, clean=True)
    problems = {problem.column: problem for problem in uqf.log_problems(path, columns=plain)}
    assert "--action-bins" in problems["valve"].remedy and "--action-bins" not in problems["gain"].remedy


def test_an_action_that_is_missing_cuts_the_episode_and_codes_stay_codes(tmp_path):
    text = "episode;action;observation;reward\n0;1;3;1\n0;NA;3;1\n0;0;3;1\n1;0;2;1\n"
    (tmp_path / "gaps.csv").write_text(text)
    with pytest.warns(UserWarning, match="2 steps lost"):
        data = uqf.read_log(tmp_path / "gaps.csv", clean=True)
    assert data.actions.tolist() == [1, 0] and data.lengths.tolist() == [1, 1] and data.codebook is None


def test_the_command_line_cuts_and_shows_cells(tmp_path, frame):
    path, columns = written(tmp_path, frame), "episode=run,action=valve,observation=pressure,reward=gain"
    refused = CliRunner().invoke(app, ["inspect", str(path), "--columns", columns])
    assert refused.exit_code == 1 and "--action-bins 8" in " ".join(refused.output.split())
    options = ["--columns", columns, "--action-bins", "4"]
    shown = CliRunner().invoke(app, ["inspect", str(path), *options], catch_exceptions=False).output
    assert "4 cells of the action valve" in shown and "valve <" in shown
    out, page = tmp_path / "valve.safetensors", tmp_path / "report.html"
    arguments = ["fit", str(path), *options, "--out", str(out), "--report", str(page), "--discount", "0.5"]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    told = CliRunner().invoke(app, ["inspect", str(out)], catch_exceptions=False).output
    assert "≤ valve <" in told
    done = uqf.inspect_policy(out).codebook.action_name(3)
    assert done.startswith("valve 0.8") and done in page.read_text()
    judged = CliRunner().invoke(app, ["evaluate", str(out), "--log", str(path), "--columns", columns])
    assert judged.exit_code == 0, judged.output
