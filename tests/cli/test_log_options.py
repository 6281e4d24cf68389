"""The way in and out from the command line: order, costs, remembered columns, cautious starts, drift."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app

#: Columns of the log below.
COLUMNS = "episode=unit,action=do,observation=heat,time=at"


def log_of(path, seed, episodes=150, hot=0.3, actions=("cool", "Wait")):
    """Heat is seen before the decision; cooling costs 1, waiting in the heat 4."""
    rng = np.random.default_rng(seed)
    lines = ["unit,at,heat,do,cost"]
    for unit in range(episodes):
        heat, cools = "mild", True
        for at in range(8):
            stays = heat == "hot" and not cools
            heat = "hot" if stays or rng.random() < hot else "mild"
            cools = rng.random() < (0.6 if heat == "hot" else 0.3)
            cost = 1 if cools else 4 * (heat == "hot")
            lines.append(f"{unit},{at},{heat},{actions[0 if cools else 1]},{cost}")
    path.write_text("\n".join([lines[0], *rng.permutation(lines[1:])]))


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    log_of(folder / "log.csv", 0)
    log_of(folder / "later.csv", 1, 80)
    given = ("--columns", COLUMNS, "--reward=-cost", "--observed", "before", "--discount", "0.5")
    for name, more in (("policy", ()), ("cautious", ("--share", "0.25", "--report", folder / "page.html"))):
        shown = run("fit", folder / "log.csv", "--out", folder / f"{name}.safetensors", *given, *more)
        assert shown.exit_code == 0, shown.output
    return folder


def test_inspect_says_when_it_was_observed_and_counts_values(folder):
    shown = run("inspect", folder / "log.csv", "--columns", COLUMNS, "--reward=-cost", "--json")
    report = json.loads(shown.stdout)
    assert "before the action of their row" in report["log"]["observed"]
    assert any("--observed before" in one["remedy"] for one in report["problems"])
    assert sum(report["values of do"].values()) == 1200 == sum(report["values of heat"].values())
    assert report["log"]["largest reward"] == 0.0 and report["log"]["smallest reward"] == -4.0


def test_a_file_remembers_the_columns_of_its_log(folder):
    header = uqf.inspect_policy(folder / "policy.safetensors")
    assert header.settings["columns"]["observed"] == "before"
    shown = run("evaluate", folder / "policy.safetensors", "--log", folder / "later.csv", "--json")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["data"]["discount"] == 0.5


def test_a_policy_is_compared_with_what_the_log_does_or_with_a_rule(folder):
    shown = run("compare", folder / "policy.safetensors", "--log", folder / "later.csv", "--json")
    assert shown.exit_code == 0, shown.output
    report = json.loads(shown.stdout)
    assert report["A"]["expected return"] and report["B, what the log itself does"]["episodes"] == 80
    (folder / "rule.csv").write_text("heat,action\nhot,cool\n,Wait\n")
    shown = run(
        "compare", folder / "policy.safetensors", folder / "rule.csv", "--log", folder / "later.csv", "--json"
    )
    assert json.loads(shown.stdout)["difference of A and B"]["agreement"] > 0.99
    same = folder / "policy.safetensors"
    shown = run("compare", same, same, "--log", folder / "later.csv", "--json")
    assert "are the same policy" in json.loads(shown.stdout)["difference of A and B"]["verdict"]


def test_a_cautious_start_is_saved_deployed_and_exported(folder):
    header = uqf.inspect_policy(folder / "cautious.safetensors")
    assert header.kind == "mixture" and header.settings["share"] == 0.25
    whole, cautious = (uqf.Agent(folder / f"{name}.safetensors", n=4000) for name in ("policy", "cautious"))
    log = uqf.read_log(folder / "log.csv", columns=uqf.LogColumns.of(header.settings["columns"]))
    begun = log.actions[log.offsets[:-1]][log.first_observations == 0]
    shares = []
    for agent in (whole, cautious):
        agent.reset(["hot"] * 4000)
        shares.append(np.mean([action == "cool" for action in agent.act()]))
    assert (
        shares[0] == 1.0
        and abs(shares[1] - (0.25 + 0.75 * np.mean(np.array(log.codebook.action_names)[begun] == "cool")))
        < 0.06
    )
    assert "deciding 25% of the steps" in (folder / "page.html").read_text()
    given = (
        "--columns",
        COLUMNS,
        "--reward=-cost",
        "--observed",
        "before",
        "--learner",
        "ContextQ",
        "--share",
        0.5,
    )
    assert run("fit", folder / "log.csv", "--out", folder / "half.safetensors", *given).exit_code == 0
    shown = run("export", folder / "half.safetensors", "--onnx", folder / "half.onnx")
    assert shown.exit_code == 0, shown.output


def test_what_has_moved_since_the_log_that_taught_is_told_with_counts(folder, tmp_path):
    against = ("--against", folder / "policy.safetensors")
    shown = run("inspect", folder / "later.csv", *against, "--json")
    assert "nothing: it looks like the log of 150 episodes" in json.loads(shown.stdout)["moved"][0]
    log_of(tmp_path / "hot.csv", 2, 80, hot=0.7)
    moved = json.loads(run("inspect", tmp_path / "hot.csv", *against, "--json").stdout)["moved"]
    assert any(one.startswith("observation hot: 6") or one.startswith("observation hot: 7") for one in moved)
    assert any(one.startswith("mean reward of a step: −") for one in moved)
    log_of(tmp_path / "other.csv", 3, 20, actions=("cool", "sleep"))
    shown = run("inspect", tmp_path / "other.csv", *against, "--json")
    (told,) = json.loads(shown.stdout)["moved"]
    assert told.startswith("action 'do': ") and "'sleep'" in told


def test_a_messy_log_is_compared_with_the_one_that_taught_as_it_is_read(folder, tmp_path):
    log_of(tmp_path / "loud.csv", 4, 80, actions=("COOL", "Wait "))
    against = ("--against", folder / "policy.safetensors", "--clean", "--json")
    report = json.loads(run("inspect", tmp_path / "loud.csv", *against).stdout)
    assert "nothing: it looks like the log of 150 episodes" in report["moved"][0]
    assert set(report["values of do"]) == {"cool", "Wait"}
    shown = run("inspect", tmp_path / "loud.csv", "--columns", COLUMNS, "--reward=-cost")
    assert "'Wait '" in shown.stdout  # what is not seen is not mistaken for another name


def test_doubts_are_printed_as_soon_as_the_log_is_read_and_once_among_the_worries(folder, tmp_path):
    given = ("--out", tmp_path / "policy.safetensors", "--columns", COLUMNS, "--reward=-cost")
    for learner, often in (("--learner=ContextQ",), 0), ((), 1):
        shown = run("fit", folder / "log.csv", *given, *learner)
        assert shown.stderr.count("--observed before") == 1
        assert " ".join(shown.stdout.split()).count("--observed before") == often
    assert "before the action of their row" in " ".join(shown.stdout.split())


def test_a_report_counts_everything_that_was_mended(tmp_path):
    log_of(tmp_path / "log.csv", 0)
    head, *rows = (tmp_path / "log.csv").read_text().split("\n")
    rows = [f"{row},5;{number % 7 or 'n/a'}".replace(",", ";", 4) for number, row in enumerate(rows)]
    lines = [head.replace(",", ";") + ";noise", *rows, rows[0]]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    given = (
        "--columns",
        COLUMNS.replace("heat", "heat+noise"),
        "--reward=-cost",
        "--observed",
        "before",
        "--clean",
    )
    out = (
        "--out",
        tmp_path / "policy.safetensors",
        "--report",
        tmp_path / "page.html",
        "--learner",
        "TableQ",
    )
    shown = run("fit", tmp_path / "log.csv", *given, *out)
    assert shown.exit_code == 0, shown.output
    page = (tmp_path / "page.html").read_text()
    told = (
        "1 duplicate step left out",
        "decimal commas in 1,201 rows",
        "missing values",
        "they are read as numbers",
    )
    assert [words for words in told if words not in page] == []
    assert "--clean" not in page
