import json
import os
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import uqf
from log_tables import as_steps
from uqf.cli.commands import app


def test_environments_are_listed_by_the_module_run_as_a_program():
    run = subprocess.run(
        [sys.executable, "-m", "uqf", "environments"], capture_output=True, text=True, check=True
    )
    assert all(name in run.stdout for name in uqf.environments())


def test_environments_for_machines():
    listed = as_json("environments")
    assert list(listed) == uqf.environments()
    assert listed["tiger"] == {"n_actions": 3, "n_observations": 2, "horizon": 20, "discount": 0.95}


def test_completion_is_offered():
    code = (
        "import os; os.environ['_UQF_COMPLETE'] = 'complete_bash'\n"
        "from uqf.cli.commands import app; app(prog_name='uqf')"
    )
    words = {"COMP_WORDS": "uqf watch --env grid", "COMP_CWORD": "3"}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | words
    )
    assert result.stdout.split() == [name for name in uqf.environments() if name.startswith("grid")]


def test_bad_options_are_refused():
    result = CliRunner().invoke(app, ["demo", "--size", "huge"])
    assert result.exit_code == 2


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "tiger.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=600, horizon=5, seed=0).to_parquet(path)
    return path


def as_json(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_from_a_log_to_a_policy_and_what_it_earns(tmp_path, log):
    out = tmp_path / "policy.safetensors"
    report = as_json("fit", log, "--out", out, "--discount", "0.9")
    assert report["data"]["episodes"] == 600
    assert report["chosen"]["episodes"] == 600, "what was chosen is taught by all"
    assert report["expect"]["logged episodes"] == 300, "half is held out to judge"
    assert report["candidates"]["why"].startswith(report["chosen"]["learner"])
    assert list(report["candidates"]) == [
        "why",
        "BeliefQ",
        "ContextQ, the next reward only",
        "ContextQ",
        "SpectralQ",
        "SummaryQ",
        "TableQ",
        "ModelQ",
    ]
    assert report["expect"]["verdict"]
    header = as_json("inspect", out)["policy"]
    assert header["settings"]["discount"] == 0.9
    assert len(header["data fingerprint"]) == 64
    played = as_json("evaluate", out, "--env", "tiger", "--episodes", "500")["tiger"]
    score = uqf.estimate_return(uqf.make("tiger"), uqf.load(out), episodes=500)
    assert played["return"] == score.mean
    other = tmp_path / "other.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=600, horizon=5, seed=1).to_parquet(other)
    estimate = as_json("evaluate", out, "--log", other)["expect"]
    direct = uqf.ope.evaluate(uqf.load(out), uqf.read_log(other), discount=0.9)
    assert estimate["expected return"] == direct.text()
    assert estimate["guess"] == direct.mean and estimate["from"] is None, "so few episodes cannot tell"
    shown = " ".join(CliRunner().invoke(app, ["evaluate", str(out), "--log", str(other)]).output.split())
    assert direct.verdict.split(".")[0] in shown and "not known from this log" in shown


def test_a_log_with_names_keeps_them(tmp_path):
    log, out = tmp_path / "log.csv", tmp_path / "policy.safetensors"
    rng = np.random.default_rng(0)
    rows = [
        f"{episode},{rng.choice(['open', 'wait'])},{rng.choice(['red', 'green'])},{rng.integers(2)}"
        for episode in range(60)
        for _ in range(4)
    ]
    log.write_text("\n".join(["episode,action,observation,reward", *rows]))
    report = as_json("fit", log, "--out", out)
    (worry,) = [worry for worry in report["worry"] if "no propensities" in worry]
    assert report["data"]["propensities"] == "estimated from the last symbol"
    assert 0.2 < report["data"]["smallest propensity"] < report["data"]["mean propensity"] < 0.8
    assert f"{report['data']['smallest propensity']:.2g} at least" in worry, "the estimate is reported"
    assert report["data"]["names"] == "2 actions, 2 observations and one code for unknown ones"
    assert uqf.inspect_policy(out).codebook == uqf.Codebook.named(("open", "wait"), ("green", "red"))
    assert as_json("inspect", log)["log"]["episodes"] == 60
    assert as_json("evaluate", out, "--log", log)["expect"]["logged episodes"] == 60


def test_columns_may_have_other_names(tmp_path, log):
    csv = tmp_path / "log.csv"
    csv.write_text("user,item,observation,gain\n0,a,x,1\n0,b,y,0\n1,a,x,1\n")
    named = as_json("inspect", csv, "--columns", "episode=user,action=item,reward=gain")["log"]
    assert (named["episodes"], named["mean return"]) == (2, 1.0)
    for text in ("reward", "rewrad=gain"):
        result = CliRunner().invoke(app, ["inspect", str(csv), "--columns", text])
        assert result.exit_code == 2
    with pytest.raises(uqf.FileFormatError):
        CliRunner().invoke(app, ["inspect", str(csv)], catch_exceptions=False)


def test_a_missing_folder_is_told_before_the_work(tmp_path):
    with pytest.raises(FileNotFoundError):
        CliRunner().invoke(
            app, ["fit", "no-log.csv", "--out", str(tmp_path / "no" / "p")], catch_exceptions=False
        )


def test_the_report_reads_as_a_report(tmp_path, log):
    out = tmp_path / "policy"
    text = CliRunner().invoke(app, ["fit", str(log), "--out", str(out)], catch_exceptions=False).output
    headings = [
        "What the data look like",
        "What was chosen",
        "What to expect",
        "What to worry about",
        "What was written",
    ]
    places = [text.index(heading) for heading in headings]
    assert places == sorted(places)
    assert "…" not in text, "nothing is cut off"
    assert out.name in text.replace("\n", "")
    shown = CliRunner().invoke(app, ["inspect", str(out)], catch_exceptions=False).output
    assert "policy: settings" in shown
    assert "…" not in shown


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path):
    names = uqf.Codebook.named(("[/bold]", "[red]go"), ("x",))
    uqf.save(uqf.TablePolicy(np.full((5, 2), 0.5), 2), tmp_path / "policy", codebook=names)
    shown = CliRunner().invoke(app, ["inspect", str(tmp_path / "policy")], catch_exceptions=False).output
    assert "[/bold], [red]go" in shown


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "uqf", *map(str, arguments)], capture_output=True, text=True)


def test_exit_codes_and_messages_without_tracebacks(tmp_path, log):
    broken = tmp_path / "log.parquet"
    broken.write_bytes(log.read_bytes()[:100])
    out = tmp_path / "policy.safetensors"
    for arguments, code, message in [
        (("fit", broken, "--out", out), 1, "log.parquet"),
        (("inspect", tmp_path / "missing.safetensors"), 1, "missing.safetensors"),
        (("fit", log), 2, "--out"),
    ]:
        result = run(*arguments)
        assert result.returncode == code
        assert message in result.stderr.replace("\n", "")
        assert "Traceback" not in result.stderr
    assert os.listdir(tmp_path) == ["log.parquet"]
    result = CliRunner().invoke(app, ["evaluate", str(out)])
    assert result.exit_code == 2


@pytest.mark.parametrize("name", ["UQF", "BeliefQ"])
def test_a_learner_of_a_name_is_the_one_of_the_package(tmp_path, log, name):
    """UQF is the paper's: it learns rewards, summed by one linear solve."""
    out = tmp_path / "policy.safetensors"
    as_json("fit", log, "--out", out, "--learner", name, "--seed", 3, "--discount", "0.9")
    learner = getattr(uqf, name)(discount=0.9, seed=3).fit(uqf.read_log(log))
    histories = [episode.history for episode in uqf.rollout(uqf.make("tiger"), episodes=20, seed=9)]
    written = uqf.load(out)
    for history, expected in zip(histories, learner.decision_function(histories), strict=True):
        state = written.initial_state()
        for action, observation in history:
            state = written.update(state, action, observation)
        np.testing.assert_allclose(written.q_values(state), expected, rtol=1e-5)
    assert uqf.inspect_policy(out).settings.get("target", "reward") == "reward"


def test_unknown_learners_are_refused_with_the_names(tmp_path, log):
    result = CliRunner().invoke(
        app, ["fit", str(log), "--out", str(tmp_path / "p"), "--learner", "chess"], env={"COLUMNS": "200"}
    )
    assert result.exit_code == 2 and "BeliefQ" in result.output and "UQF" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "log.csv", "--out", "log.csv"],
        ["fit", "log.csv", "--out", "p", "--report", "p"],
        ["fit", "log.csv", "--out", "p", "--report", "log.csv"],
        ["fit", "p", "--out", "../here/p"],
        ["fit", "log.csv", "--out", "p.onnx"],
        ["fit", "log.csv", "--out", "p", "--report", "r.pdf"],
        ["compare", "p", "q", "--log", "log.csv", "--report", "log.csv"],
        ["export", "p", "--onnx", "p"],
        ["export", "p", "--onnx", "x.safetensors"],
    ],
    ids=" ".join,
)
def test_nothing_is_written_over_what_is_read_or_under_the_name_of_another_kind(
    tmp_path, monkeypatch, arguments
):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("log.csv", "p", "q"):
        (folder / name).write_text("precious, and no log")
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 2, "refused before anything is read"
    assert "another name" in result.output or "name it so" in result.output
    assert {path.read_text() for path in folder.iterdir()} == {"precious, and no log"}


def test_a_policy_is_exported_with_its_names(tmp_path):
    onnx = pytest.importorskip("onnx")
    names = uqf.Codebook.named(("open", "wait"), ("green", "red"))
    policy, out = tmp_path / "policy.safetensors", tmp_path / "policy.onnx"
    uqf.save(uqf.TablePolicy(np.full((7, 2), 0.5), 3), policy, codebook=names)
    result = CliRunner().invoke(app, ["export", str(policy), "--onnx", str(out)], catch_exceptions=False)
    assert result.exit_code == 0 and str(out) in result.output.replace("\n", "")
    kept = {one.key: one.value for one in onnx.load(out).metadata_props}
    assert json.loads(kept["codebook"]) == names.to_dict()


def test_a_folder_beyond_memory_is_fitted_in_batches(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=400, horizon=5, seed=0)
    folder = tmp_path / "log"
    folder.mkdir()
    data[:100].to_parquet(folder / "a.parquet")
    data[100:].to_parquet(folder / "b.parquet")
    report = as_json("fit", folder, "--out", tmp_path / "policy.safetensors", "--learner", "UQF")
    assert report["learned"]["episodes"] == 400
    learned = uqf.load(tmp_path / "policy.safetensors")
    expected = uqf.UQF().fit(data).policy_
    np.testing.assert_allclose(learned.operators, expected.operators, rtol=1e-10, atol=1e-12)


def test_a_folder_is_fitted_as_the_function_fits_it(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=200, horizon=5, seed=0)
    folder, out = tmp_path / "log", tmp_path / "policy.safetensors"
    folder.mkdir()
    data[:50].to_parquet(folder / "a.parquet")
    data[50:].to_parquet(folder / "b.parquet")
    report = as_json("fit", folder, "--out", out, "--discount", "0.9")
    assert report["data"]["episodes"] == report["chosen"]["episodes"] == 200
    assert report["expect"]["logged episodes"] == 100
    expected = uqf.fit(folder, discount=0.9).policy_.parts()
    for name, part in uqf.load(out).parts().items():
        np.testing.assert_array_equal(part, expected[name], err_msg=name)


def test_a_folder_beyond_memory_may_have_other_columns(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=100, horizon=5, seed=0)
    table = as_steps(data).rename_columns(["user", "item", "click", "gain", "done", "p"])
    pq.write_table(table, tmp_path / "log.parquet")
    names = "episode=user,action=item,observation=click,reward=gain,terminated=done,behavior_prob=p"
    out = tmp_path / "policy.safetensors"
    report = as_json("fit", tmp_path / "log.parquet", "--out", out, "--learner", "UQF", "--columns", names)
    assert report["learned"]["steps"] == data.n_steps
    expected = uqf.UQF().fit(data).policy_
    np.testing.assert_allclose(uqf.load(out).operators, expected.operators, rtol=1e-10, atol=1e-12)
    with pytest.raises(uqf.FileFormatError):
        CliRunner().invoke(
            app,
            ["fit", str(tmp_path / "log.parquet"), "--out", str(out), "--learner", "UQF"],
            catch_exceptions=False,
        )


def test_a_messy_text_is_fitted_by_one_learner_and_compared(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=100, horizon=5, seed=0)
    rows = [
        f"{number};{action};{observation};€ {reward:.1f}".replace(".", ",")
        for number, episode in enumerate(data)
        for (action, observation), reward in zip(episode.history, episode.rewards, strict=True)
    ]
    log, out = tmp_path / "log.csv", tmp_path / "policy.safetensors"
    log.write_text("\n".join(["episode;action;observation;reward", *rows]))
    report = as_json("fit", log, "--out", out, "--learner", "UQF", "--clean")
    assert report["learned"]["steps"] == data.n_steps
    assert as_json("compare", out, out, "--log", log, "--clean")["difference of A and B"]["agreement"] == 1.0


@pytest.mark.parametrize("seed", [0, 5])
def test_the_command_writes_the_policy_that_the_function_learns(tmp_path, seed):
    log, out = tmp_path / "log.parquet", tmp_path / "policy.safetensors"
    data = uqf.rollout(uqf.make("tiger"), episodes=100, horizon=5, seed=1)
    data.to_parquet(log)
    as_json("fit", log, "--out", out, "--discount", "0.9", "--holdout", "0.3", "--seed", seed)
    learner = uqf.fit(data, discount=0.9, holdout=0.3, seed=seed)
    written, expected = uqf.load(out).parts(), learner.policy_.parts()
    assert written.keys() == expected.keys()
    for name, part in expected.items():
        np.testing.assert_array_equal(written[name], part, err_msg=name)
    learner.save(tmp_path / "other.safetensors")
    assert uqf.inspect_policy(tmp_path / "other.safetensors") == uqf.inspect_policy(out)
