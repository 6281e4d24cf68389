"""Ctrl-C at any moment: the program ends with code 130, without a traceback, and leaves nothing behind."""

import os
import subprocess
import sys

import pytest

import uqf

#: Presses Ctrl-C when a line of the program is reached, by a function that stands in for one of it.
START = """
import os, signal, sys
from types import SimpleNamespace
from uqf.cli import entry

def press(*ignored, **ignored_too):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):  # the handler runs between two of these
        pass

def command(run):
    sys.modules["uqf.cli.commands"] = SimpleNamespace(main=run)
    entry.main()
"""


def ended(code, *arguments, cwd=None):
    run = subprocess.run(
        [sys.executable, "-c", START + code, *map(str, arguments)], capture_output=True, text=True, cwd=cwd
    )
    return run.returncode, run.stdout, run.stderr


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "tiger.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=100, horizon=5, seed=0).to_parquet(path)
    return path


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("builtins.__import__", id="while loading"),
        pytest.param("uqf.logs.source.Log.read", id="reading"),
        pytest.param("uqf.learn.learner.Learner._keep_origin", id="learning"),
        pytest.param("os.fsync", id="writing"),
    ],
)
def test_a_fit_leaves_the_old_policy_and_nothing_else(tmp_path, log, moment):
    out = tmp_path / "policy.safetensors"
    out.write_text("old")
    code = f"""
import importlib
module, _, name = {moment!r}.rpartition(".")
if module == "builtins":
    import builtins
    real = builtins.__import__
    def load(name, *rest):
        if name == "uqf.reports.study":
            press()
        return real(name, *rest)
    builtins.__import__ = load
else:
    try:
        owner = importlib.import_module(module)
    except ImportError:
        parent, _, inner = module.rpartition(".")
        owner = getattr(importlib.import_module(parent), inner)
    setattr(owner, name, press)
sys.argv = ["uqf", "fit", {str(log)!r}, "--out", {str(out)!r}]
entry.main()
"""
    code, _, said = ended(code)
    assert code == 130 and "Traceback" not in said, said
    assert "Stopped." in said and (moment.startswith("builtins") or "the same command starts again" in said)
    assert out.read_text() == "old" and os.listdir(tmp_path) == [out.name]


def test_it_is_heard_where_an_exception_would_be_lost(tmp_path):
    lost = """
class Last:
    def __del__(self):
        press()

def swallow():
    with whole_file("out") as file:
        file.write(b"half")
        try:
            {call}
        except BaseException:
            print("swallowed", flush=True)

from uqf.files import whole_file
command(swallow)
"""
    for call in ("Last()", "press()"):
        assert ended(lost.format(call=call), cwd=tmp_path) == (130, "", "\nStopped. \n")
        assert os.listdir(tmp_path) == []


def test_after_the_end_it_changes_nothing():
    late = """
import atexit

class Last:
    def __init__(self):
        self.kill, self.process, self.signal = os.kill, os.getpid(), signal.SIGINT

    def __del__(self):
        self.kill(self.process, self.signal)

sys.last = Last()  # goes after the signal handlers
atexit.register(press)
command(lambda: sys.exit(3))
"""
    assert ended(late) == (3, "", "")


def test_a_background_job_that_ignores_it_goes_on():
    ignored = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
command(lambda: (press(), print("done")))
"""
    assert ended(ignored) == (0, "done\n", "")


def test_ctrl_c_keeps_the_episodes_and_says_how_to_go_on(tmp_path):
    """Pressed when the first lineage begins, after the opening."""
    code = """
import uqf.playing.lineages
uqf.playing.lineages.Fitted.play = press
from uqf.cli.commands import main
sys.argv[0] = "uqf"
command(main)
"""
    out = tmp_path / "policy.safetensors"
    code, said, error = ended(code, "play", "tiger", "--episodes", "100", "--out", out)
    kept = tmp_path / "policy.played.parquet"
    assert (code, said) == (130, "") and not out.exists()
    played = len(uqf.read_log(kept))
    assert played >= 30
    assert error == (
        f"\nStopped. {kept} has the {played} episodes so far; to go on from them: --episodes {100 - played} "
        f"--resume {kept}\n"
    )
