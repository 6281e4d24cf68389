import io
import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app
from uqf.cli.watch import show
from uqf.frames import play


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    path = tmp_path_factory.mktemp("policies") / "spocman.safetensors"
    data = uqf.rollout(uqf.make("spocman"), episodes=20, seed=0)
    uqf.ContextQ().fit(data).save(path)
    return path


@pytest.mark.parametrize("number", [0, 3])
def test_the_episode_is_that_of_a_rollout(policy, number):
    env = uqf.make("spocman")
    for rule in (None, uqf.load(policy)):
        recorded = uqf.rollout(env, rule, episodes=number + 1, seed=7)[number]
        frames = list(play(env, rule, seed=7, episode=number))
        assert [frame.action for frame in frames[:-1]] == recorded.actions.tolist()
        assert [frame.reward for frame in frames[:-1]] == recorded.rewards.tolist()
        assert frames[-1].action is None
        assert all((frame.q_values is None) == (rule is None) for frame in frames[:-1])


@pytest.mark.parametrize("world", uqf.environments())
def test_every_world_can_be_watched_without_a_terminal(world):
    run = CliRunner().invoke(app, ["watch", "--env", world])
    assert run.exit_code == 0
    assert "\x1b" not in run.output
    assert re.search(r"step 0 · earned 0 · does: ", run.output) and "the end" in run.output


def test_values_stand_beside_the_picture_and_the_same_seed_repeats(policy):
    arguments = ["watch", str(policy), "--env", "spocman", "--seed", "5"]
    first, second = (CliRunner().invoke(app, arguments).output for _ in range(2))
    assert first == second
    played = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    start = played["frames"][0]
    values = uqf.load(policy).q_values(uqf.load(policy).initial_state())
    np.testing.assert_allclose(start["q_values"], values)
    assert f"N {values[0]:.4g}" in first and start["picture"].splitlines()[0] in first
    assert played["return"] == sum(frame["reward"] for frame in played["frames"])


def test_a_terminal_gets_pictures_in_place_at_the_asked_speed(policy):
    env = uqf.make("spocman", horizon=6)
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    began = time.perf_counter()
    show(play(env, uqf.load(policy), seed=0), "title", env.action_names, 50.0, console)
    assert time.perf_counter() - began > 5 / 50
    text = console.file.getvalue()
    assert text.count("title") >= 6 and "█" in text and "\x1b[1A" in text


def test_a_world_from_a_file_can_be_watched(tmp_path):
    path = tmp_path / "tiger.pomdp"
    uqf.save_pomdp(uqf.make("tiger"), path)
    run = CliRunner().invoke(app, ["watch", "--env", str(path)])
    assert run.exit_code == 0 and "does: listen" in run.output


def test_wrong_usage_is_explained(policy, tmp_path):
    assert CliRunner().invoke(app, ["watch", str(policy)]).exit_code == 2
    run = CliRunner().invoke(app, ["watch", str(policy), "--env", "tiger"])
    assert isinstance(run.exception, ValueError) and "n_actions = 4" in str(run.exception)


def test_ctrl_c_ends_it_cleanly():
    # Only a terminal is played at a speed; a pseudo-terminal is one.
    pty = pytest.importorskip("pty")
    import os

    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "uqf", "watch", "--env", "spocman", "--speed", "2"],
        stdout=child,
        stderr=child,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(child)
    seen = b""
    while b"step 0" not in seen:
        seen += os.read(parent, 4096)
    process.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(parent, 4096):
            seen += chunk
    except OSError:
        pass  # how Linux says that the other end is closed
    os.close(parent)
    assert process.wait(30) == 130
    assert b"Stopped." in seen and b"Traceback" not in seen
    assert b"\x1b[?25h" in seen, "the cursor is shown again"


def test_worlds_of_gymnasium_are_watched_and_played_with_the_codebook_of_the_policy(tmp_path):
    somewhere = np.random.default_rng(0).normal(size=(200, 4)) * [1.0, 1.0, 0.1, 1.0]
    world = uqf.GymnasiumWorld("CartPole-v1", horizon=30, codebook=uqf.Codebook(max_codes=5).fit(somewhere))
    path = str(tmp_path / "policy.safetensors")
    uqf.ContextQ(0.99).fit(uqf.rollout(world, episodes=40, seed=0)).save(path)
    run = CliRunner().invoke(
        app, ["watch", path, "--env", "CartPole-v1", "--seed", "1"], catch_exceptions=False
    )
    assert run.exit_code == 0
    first = world.simulation(1).first
    assert world.codebook.describe(first) in run.output, "what a code means stands below what was seen"
    played = CliRunner().invoke(
        app, ["evaluate", path, "--env", "CartPole-v1", "--episodes", "3", "--json"], catch_exceptions=False
    )
    assert json.loads(played.output)["CartPole-v1"]["return"] >= 8
