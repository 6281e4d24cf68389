"""What files can provoke ends with a message that names the file, and names of any kind are shown as they stand."""

import contextlib
import io
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import uqf
from log_tables import STEPS
from pomdp_texts import TIGER, obeyed
from uqf.cli import commands
from uqf.cli.tables import show
from uqf.cli.terminal import about

TABLE = uqf.TablePolicy(np.full((7, 3), 1 / 3), 2)


@pytest.fixture
def run(capsys, monkeypatch):
    """(exit code, all that it said) of the program with these arguments, run in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["uqf", *map(str, arguments)])
        try:
            commands.main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_one_name_are_refused(run, tmp_path, suffix):
    path = tmp_path / f"twice.{suffix}"
    table = pa.table(STEPS).append_column("reward", pa.array([1.0] * 5))
    (pa.csv.write_csv if suffix == "csv" else pq.write_table)(table, path)
    code, said = run("inspect", path)
    assert code == 1 and said.startswith(f"uqf: {path}: ") and "columns are called 'reward'" in said


def test_other_columns_may_have_one_name(tmp_path):
    table = pa.table(STEPS).append_column("note", pa.array([1] * 5)).append_column("note", pa.array([2] * 5))
    pq.write_table(table, tmp_path / "log.parquet")
    assert uqf.read_log(tmp_path / "log.parquet").n_steps == 5


def promising(path, **promise):
    metadata = {"n_actions": 2, "n_observations": 3, "codebook": None} | promise
    table = pa.table({"actions": [[0, 1]], "observations": [[0, 2]], "rewards": [[0.0, 1.0]]})
    pq.write_table(table.replace_schema_metadata({b"uqf": json.dumps(metadata).encode()}), path)
    return path


sizes = st.one_of(
    st.integers(),
    st.floats(),
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.just([2]),
    st.integers(10**6, 2**40),
)


def shards(path):
    """All that a folder's reader makes of a file."""
    found = uqf.Shards(path)
    assert all(len(batch) for shard in found for batch in shard.batches())
    return found


@given(sizes, sizes)
def test_metadata_are_held_against_the_columns(tmp_path_factory, n_actions, n_observations):
    path = tmp_path_factory.getbasetemp() / "p.parquet"
    promising(path, n_actions=n_actions, n_observations=n_observations)
    numbers = type(n_actions) is type(n_observations) is int
    honest = numbers and n_actions >= 2 and n_observations >= 3 and n_actions * n_observations <= 2**20
    for read in (uqf.read_log, shards):
        if honest:
            assert read(path).n_actions == n_actions
        else:
            with pytest.raises(uqf.FileFormatError):
                read(path)


def test_a_caller_may_mean_it(tmp_path):
    path = promising(tmp_path / "p.parquet", n_observations=700_000_000)
    data = uqf.read_log(path, n_actions=2, n_observations=700_000_000)
    assert data.n_observations == 700_000_000
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(path)


@pytest.mark.parametrize("discount", ["high", [0.9], {}, -1, 2, True])
def test_settings_that_are_none_are_refused_with_the_file(run, monkeypatch, tmp_path, discount):
    path = tmp_path / "policy.safetensors"
    monkeypatch.setattr("uqf.storage.policies._check", lambda header: None)
    uqf.save(TABLE, path, settings={"discount": discount})
    monkeypatch.undo()
    if discount is True:
        assert uqf.inspect_policy(path).discount == 1.0
        return
    code, said = run("evaluate", path, "--log", "log.csv")
    assert code == 1 and said.startswith(f"uqf: {path}: ") and "discount" in said


@given(st.text(st.characters() | st.sampled_from("[]/\\\x1b\u202e"), max_size=20))
def test_keys_values_and_headings_of_any_kind_are_shown(name):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        show(
            {name: {name: name, f"within {name}": {name: [name]}}, "worry": [name], "x": {"verdict": name}},
            False,
        )
    assert set(obeyed(said.getvalue())) <= {"\n"}


@pytest.mark.parametrize("name", ["[/x]", "[bold]x", "\x1b[2Jx", "x\udcff", "\u202ex"])
def test_a_file_of_any_name_can_be_inspected_and_watched(run, tmp_path, name):
    (tmp_path / os.path.dirname(name)).mkdir(exist_ok=True)
    log, policy, world = (f"{tmp_path}/{name}.{suffix}" for suffix in ("csv", "safetensors", "pomdp"))
    uqf.save(TABLE, policy, settings={name.replace("\udcff", ""): "x"})
    with open(world, "w") as file:
        file.write(TIGER)
    with open(log, "w") as file:
        file.write("action\n1\n")
    for arguments, expected in [
        (["inspect", policy], 0),
        (["watch", policy, "--env", world], 0),
        (["inspect", log], 1),
        (["evaluate", policy, "--env", world, "--episodes", "2"], 0),
    ]:
        code, said = run(*arguments)
        assert code == expected, said
        assert set(obeyed(said)) <= {"\n"}


def test_every_kind_of_refusal_names_the_file():
    for error in (ValueError("odd"), MemoryError(), OverflowError("too large"), RecursionError("deep")):
        with pytest.raises(uqf.FileFormatError, match=r"^log\.csv: .+"), about("log.csv"):
            raise error
    with pytest.raises(ValueError, match=r"^in log\.csv$"), about("log.csv"):
        raise ValueError("in log.csv")
    with pytest.raises(KeyError), about("log.csv"):
        raise KeyError("a bug stays one")


@pytest.mark.parametrize("name", ["[/x].csv", "\x1b[2J.csv"])
def test_progress_on_a_terminal_shows_names_as_they_stand(tmp_path, name):
    """The description of a progress bar is markup unless told otherwise."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("episode,action,observation,reward\n" + "".join(f"{n},{n % 2},0,1\n" for n in range(8)))
    command = [sys.executable, "-m", "uqf", "fit", str(path), "--out", str(tmp_path / "p")]
    code = f"import pty, sys; sys.exit(pty.spawn({command!r}) >> 8)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "MarkupError" not in said and "Traceback" not in said, said
    assert "reading" in said and "\x1b[2J" not in said, said


def test_usage_errors_are_no_tracebacks():
    for arguments in (["inspect", "[/x]", "[/y]"], ["[/x]"], ["watch", "--env"]):
        assert CliRunner().invoke(commands.app, arguments).exit_code == 2
