"""What `uqf evaluate --log` says of the log that a policy learned from, and of another."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app


def evaluated(policy, log, *options):
    result = CliRunner().invoke(
        app, ["evaluate", str(policy), "--log", str(log), *options], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger"), episodes=400, horizon=4, seed=0)


@pytest.mark.parametrize("kind", ["in memory", "a folder", "a folder, UQF"])
def test_a_log_that_the_policy_learned_from_is_recognised_in_any_order(kind, data, tmp_path):
    folder, policy = tmp_path / "log", tmp_path / "policy.safetensors"
    folder.mkdir()
    # The files of the folder hold the episodes in another order.
    data[200:].to_parquet(folder / "a.parquet")
    data[:200].to_parquet(folder / "b.parquet")
    learner = uqf.UQF(3) if kind.endswith("UQF") else uqf.ContextQ(0.9, depth=1, temperature=50.0)
    learner.fit(data if kind == "in memory" else folder).save(policy)
    for log in (folder, tmp_path / "whole.parquet"):
        data.to_parquet(tmp_path / "whole.parquet")
        found = json.loads(evaluated(policy, log, "--json"))["expect"]
        assert found["learned from this log"] and not found["known"]
        assert found["from"] is None and found["mean"] is None
        assert "learned from this very log" in " ".join(evaluated(policy, log).split())
    uqf.rollout(uqf.make("tiger"), episodes=400, horizon=4, seed=1).to_parquet(tmp_path / "other.parquet")
    found = json.loads(evaluated(policy, tmp_path / "other.parquet", "--json"))["expect"]
    assert found["learned from this log"] is None
    if not kind.endswith("UQF"):
        assert (
            "nothing that happens in fewer than" in found["condition"]
            and found["from"] < found["mean"] < found["to"]
        )


def test_no_interval_is_printed_where_the_log_cannot_tell(tmp_path):
    env = uqf.make("gridworld-mid")
    learner = uqf.ContextQ(0.99, depth=1).fit(uqf.rollout(env, episodes=300, seed=0))
    learner.save(tmp_path / "policy")
    uqf.rollout(env, episodes=300, seed=1).to_parquet(tmp_path / "log.parquet")
    shown = " ".join(evaluated(tmp_path / "policy", tmp_path / "log.parquet").split())
    assert "not known from this log; the model's guess is" in shown
    assert "confidence" not in shown
    found = json.loads(evaluated(tmp_path / "policy", tmp_path / "log.parquet", "--json"))["expect"]
    assert found["from"] is found["to"] is found["mean"] is None and np.isfinite(found["guess"])


def test_what_an_episode_can_earn_is_given_on_the_command_line(tmp_path):
    """Tiger pays -100 to 10 a step: over four steps nothing rarer than the log shows can then matter more."""
    data = uqf.rollout(uqf.make("tiger"), episodes=900, horizon=4, seed=0)
    data[:450].to_parquet(tmp_path / "a.parquet")
    data[450:].to_parquet(tmp_path / "b.parquet")
    policy = tmp_path / "p.safetensors"
    uqf.ContextQ(0.9, depth=1, temperature=50.0).fit(data[:450]).save(policy)
    found = json.loads(evaluated(policy, tmp_path / "b.parquet", "--return-range=-400,40", "--json"))[
        "expect"
    ]
    assert found["known"] and found["condition"] is None and found["from"] < found["mean"] < found["to"]
    options = ["compare", str(policy), "--log", str(tmp_path / "b.parquet"), "--return-range=-400,40"]
    shown = CliRunner().invoke(app, options).output
    assert "nothing that happens in fewer than" not in shown
    for wrong, why in (("x", "give two numbers with a comma"), ("-3,4", "the logged ones earn from")):
        run = CliRunner().invoke(app, [*options[:-1], f"--return-range={wrong}"], env={"COLUMNS": "200"})
        assert run.exit_code != 0 and (why in run.output or why in str(run.exception))
