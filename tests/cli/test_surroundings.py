"""Every command in hard places: no home, no assertions, warnings as errors, folders to read only, full disks."""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import uqf
from uqf.cli.commands import app

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="about rights and limits of Linux")

#: What lets root write everywhere, and the request to do without it from the next program on.
DAC_OVERRIDE, DROP = 1, 24

#: Of every command: arguments, in which {out} is the folder to write to.
COMMANDS = {
    "convert": "log.csv {out}/shards",
    "compare": "policy.safetensors --log log.parquet --report {out}/page.html",
    "demo": "--size smallest --out {out}/results",
    "environments": "",
    "evaluate": "policy.safetensors --log log.parquet",
    "export": "policy.safetensors --onnx {out}/policy.onnx",
    "fit": "log.csv --learner ContextQ --out {out}/policy.safetensors --report {out}/page.html",
    "inspect": "log.csv --clean",
    "play": "tiger --episodes 30 --out {out}/policy.safetensors --csv {out}/play.csv --log {out}/played.parquet",
    "reproduce": "gridworld --size smallest --out {out}/results",
    "watch": "policy.safetensors --env tiger",
}

WRITERS = [name for name, arguments in COMMANDS.items() if "{out}" in arguments]


@pytest.fixture(scope="module")
def folder():
    """A log, a policy and a folder to write to, for everybody to read."""
    place = Path(tempfile.mkdtemp())
    data = uqf.rollout(uqf.make("tiger"), episodes=100, horizon=5, seed=0)
    data.to_parquet(place / "log.parquet")
    uqf.ContextQ(0.9).fit(data).save(place / "policy.safetensors")
    rows = [
        f"{episode},{action},{seen},{reward}"
        for episode, one in enumerate(data)
        for action, seen, reward in zip(one.actions, one.observations, one.rewards, strict=True)
    ]
    (place / "log.csv").write_text("\n".join(["episode,action,observation,reward", *rows]) + "\n")
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def out(folder):
    place = Path(tempfile.mkdtemp(dir=folder))
    place.chmod(0o777)
    return place


def without_privileges():
    if os.geteuid() == 0:
        assert ctypes.CDLL(None).prctl(DROP, DAC_OVERRIDE, 0, 0, 0) == 0


def run(folder, name, out, prepare=without_privileges):
    arguments = COMMANDS[name].format(out=out).split()
    # Python itself writes half a file of compiled code where there is room for no more, and reads it the next time.
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, "-O", "-W", "error", "-m", "uqf", name, *arguments],
        cwd=folder, env=kept | {"PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, preexec_fn=prepare,
    )  # fmt: skip


def test_every_command_is_tried():
    assert set(COMMANDS) == {command.name or command.callback.__name__ for command in app.registered_commands}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_run_without_home_or_assertions_and_warn_of_nothing(folder, out, name):
    ended = run(folder, name, out)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "Warning" not in ended.stderr
    assert (os.listdir(out) != []) == (name in WRITERS)


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_in_which_nobody_may_write_is_an_error_that_names_the_file(folder, out, name):
    out.chmod(0o555)
    ended = run(folder, name, out)
    assert (ended.returncode, ended.stdout) == (1, "") or name == "demo"
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith(f"uqf: {out}/") and line.endswith(": Permission denied")
    assert os.listdir(out) == []


@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_is_full_is_an_error_that_names_the_file(folder, out, name):
    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    ended = run(folder, name, out, fill)
    assert ended.returncode == 1
    line = ended.stderr.strip().splitlines()[-1]
    assert line.startswith(f"uqf: {out}/") and line.endswith(": File too large")
    # Lines of rounds are on the disk as soon as they are known; other files appear whole or not at all.
    left = [path.suffix for path in out.rglob("*") if path.is_file()]
    assert set(left) <= {".csv", ".jsonl"}
