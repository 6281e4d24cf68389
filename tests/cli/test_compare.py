"""Pages and comparisons from the command line."""

import json

import pytest
from typer.testing import CliRunner

import uqf
from reports_log import machine
from uqf.cli.commands import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    log = machine(300, 0)
    log.to_parquet(folder / "log.parquet")
    machine(200, 1).to_parquet(folder / "other.parquet")
    uqf.ContextQ(0.9).fit(log).save(folder / "a.safetensors")
    uqf.SpectralQ(0.9).fit(log).save(folder / "b.safetensors")
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_a_fit_tells_the_essentials_and_writes_the_page(folder):
    page, policy = folder / "report.html", folder / "fitted.safetensors"
    shown = run("fit", folder / "log.parquet", "--out", policy, "--report", page)
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.output.split())
    assert "The policy against the log" in words and "takes the same action as the log in" in words
    assert "as logged, up to the longest episode" in words and "settle it" in words.replace(
        "these are enough", "settle it"
    )
    assert "<h2>What to expect</h2>" in page.read_text()
    uqf.load(policy)


def test_json_has_everything_that_the_page_shows(folder):
    shown = run("fit", folder / "log.parquet", "--out", folder / "c.safetensors", "--json")
    assert shown.exit_code == 0, shown.output
    report = json.loads(shown.stdout)["report"]
    assert set(report) == {
        "judged as", "discount", "log", "differences", "rules", "memory", "expectations", "episodes", "acting",
        "outcomes"
    }  # fmt: skip
    assert report["log"]["episodes"] == 300 and report["expectations"]["frontier"]["followed"]
    assert report["rules"]["card"][0]["action"] and report["episodes"]["episodes"][0]["steps"]


def test_a_spectral_fit_of_a_folder_has_a_page_too(folder, tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    machine(300, 2).to_parquet(log / "part.parquet")
    page = tmp_path / "report.html"
    shown = run("fit", log, "--out", tmp_path / "p.safetensors", "--learner", "UQF", "--report", page)
    assert shown.exit_code == 0, shown.output
    assert 'id="spectrum"' in page.read_text()


def test_two_policies_are_compared(folder):
    page = folder / "compare.html"
    pair, log = (folder / "a.safetensors", folder / "b.safetensors"), ("--log", folder / "other.parquet")
    shown = run("compare", *pair, *log, "--report", page)
    assert shown.exit_code == 0, shown.output
    assert "A takes the same action as B in" in " ".join(shown.output.split())
    assert "<h2>A against B</h2>" in page.read_text()
    found = json.loads(run("compare", *pair, *log, "--json").stdout)
    first, second = map(uqf.load, pair)
    direct = uqf.ope.compare(first, second, uqf.read_log(folder / "other.parquet"), discount=0.9)
    assert found["difference of A and B"]["verdict"] == direct.verdict
    assert found["report"]["estimate"]["difference"] == direct.difference


def test_policies_of_different_worlds_are_not_compared(folder, tmp_path):
    other = tmp_path / "tiger.safetensors"
    uqf.ContextQ(0.9).fit(uqf.rollout(uqf.make("tiger"), episodes=50)).save(other)
    shown = run("compare", folder / "a.safetensors", other, "--log", folder / "other.parquet")
    assert shown.exit_code == 1 and "differ in n_observations" in str(shown.exception)


def test_a_page_without_a_folder_is_refused_at_once(folder):
    page = folder / "missing" / "report.html"
    shown = run("fit", folder / "log.parquet", "--out", folder / "d.safetensors", "--report", page)
    assert "there is no folder" in str(shown.exception) and not (folder / "d.safetensors").exists()
