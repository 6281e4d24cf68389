"""``uqf play``: what it writes, what it says, and its page in a browser."""

import csv
import json

import pytest
from typer.testing import CliRunner

import uqf
from browser import needs_chromium, visit
from uqf.cli.commands import app


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    files = {name: folder / f"play.{name}" for name in ("safetensors", "html", "csv", "parquet")}
    result = CliRunner().invoke(
        app,
        [
            *("play", "gridworld-near", "--episodes", "150", "--json", "--out", str(files["safetensors"])),
            *("--report", str(files["html"]), "--csv", str(files["csv"]), "--log", str(files["parquet"])),
        ],
    )
    assert result.exit_code == 0, result.output
    return files, json.loads(result.stdout)


def test_policy_rounds_and_episodes_are_written(run):
    files, said = run
    env, policy = uqf.make("gridworld-near"), uqf.load(files["safetensors"])
    assert uqf.estimate_return(env, policy, episodes=500, seed=1).mean > 0.4  # random play earns 0.23
    assert said["chosen"]["episodes"] == len(uqf.read_log(files["parquet"]))
    with open(files["csv"]) as file:
        rows = [row for row in csv.DictReader(file) if row["name"]]
    assert rows[0]["name"] == "random" and rows[-1]["name"].startswith("judged: ")
    assert int(rows[-1]["done"]) == said["chosen"]["episodes"]


def test_it_goes_on_from_the_episodes_of_an_earlier_run(run, tmp_path):
    files, said = run
    more = ["play", "gridworld-near", "--episodes", "50", "--seconds", "0", "--json"]
    result = CliRunner().invoke(
        app, [*more, "--out", str(tmp_path / "p.safetensors"), "--resume", str(files["parquet"])]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["chosen"]["episodes"] > said["chosen"]["episodes"]


def test_worlds_that_are_none_are_refused_with_a_near_name(tmp_path):
    out = tmp_path / "p.safetensors"
    result = CliRunner().invoke(app, ["play", "tigr", "--episodes", "50", "--out", str(out)])
    assert result.exit_code == 1 and "did you mean 'tiger'" in str(result.exception)
    assert not out.exists()


@needs_chromium
def test_the_page_shows_the_curve_and_the_choice(run, tmp_path):
    files, said = run
    page = files["html"].read_text()
    found = visit(
        page,
        "answer({marks: document.querySelectorAll('svg circle').length,"
        " rows: document.querySelectorAll('table tr').length,"
        " title: document.querySelector('h1').textContent, overlaps: overlaps()})",
        tmp_path,
    )
    assert not found["errors"] and not found["overlaps"]
    assert "gridworld-near" in found["title"] and found["marks"] > 5
    assert found["rows"] == len(said["finalists"]) + 1
    assert "http" not in page.replace("http://www.w3.org", "")
