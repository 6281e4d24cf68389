"""Ctrl-C at any moment: the program ends within a second, without a traceback, and leaves nothing behind."""

import os
import random
import secrets
import signal
import subprocess
import sys
import time

import pytest

import uqf

#: Tells when it begins to listen; what comes before is the interpreter's own beginning.
PROGRAM = "from uqf.cli import entry; print('listening', flush=True); entry.main()"

#: Seconds after Ctrl-C until the end. More than promised, since the tests share the machine with others.
PATIENCE = 4


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "tiger.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=2000, horizon=20, seed=0).to_parquet(path)
    return path


def interrupted(arguments, moment):
    """(seconds from Ctrl-C to the end, exit code, what it said on stderr)."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout.readline() == "listening\n"
    try:
        program.wait(moment)
    except subprocess.TimeoutExpired:
        program.send_signal(signal.SIGINT)
    began = time.perf_counter()
    _, said = program.communicate(timeout=60)
    return time.perf_counter() - began, program.returncode, said


def stops_at(moments, log, folder):
    out = folder / "policy.safetensors"
    out.write_text("old")
    for moment in moments:
        for arguments in (["inspect", log], ["fit", log, "--out", out]):
            seconds, code, said = interrupted(arguments, moment)
            place = f"{arguments[0]} after {moment:.3f} s: code {code}, {seconds:.2f} s\n{said}"
            assert code in (0, 130) and "Traceback" not in said, place
            assert seconds < PATIENCE, place
            assert os.listdir(folder) == [out.name]
            if code == 130:
                assert said == "" or "Stopped." in said, place
            if (
                out.read_bytes() != b"old"
            ):  # Ctrl-C may come when the new file is there already: then it is whole
                assert arguments[0] == "fit" and uqf.load(out).n_actions == 3
                out.write_text("old")
            else:
                assert arguments[0] == "inspect" or code == 130, place


def test_ctrl_c_while_loading_and_soon_after(log, tmp_path):
    seed = secrets.randbelow(2**31)
    print(f"seed {seed}")
    stops_at(sorted(random.Random(seed).uniform(0.0, 2.5) for _ in range(4)), log, tmp_path)


@pytest.mark.slow
def test_ctrl_c_at_any_moment(log, tmp_path):
    seed = secrets.randbelow(2**31)
    print(f"seed {seed}")
    stops_at((random.Random(seed).uniform(0.0, 8.0) for _ in range(20)), log, tmp_path)


#: Presses Ctrl-C in a call that does not listen: the interpreter is not asked until it returns.
DEAF = """
import ctypes, os, signal, sys, threading, time
from types import SimpleNamespace
from uqf.cli import entry
from uqf.files import whole_file

def deaf():
    with whole_file("out") as file:
        file.write(b"half")
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        ctypes.CDLL(None).sleep(20)

sys.modules["uqf.cli.commands"] = SimpleNamespace(main=deaf)
entry.main()
"""

#: Presses it where an exception cannot be raised, and where it is swallowed.
SWALLOWED = """
import os, signal, sys, time
from types import SimpleNamespace
from uqf.cli import entry

class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

def swallow():
    if {callback}:
        Last()
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(20)
    except:
        time.sleep(20)

sys.modules["uqf.cli.commands"] = SimpleNamespace(main=swallow)
entry.main()
"""


#: Presses it when the program is done and the interpreter ends.
TOO_LATE = """
import atexit, os, signal, sys
from types import SimpleNamespace
from uqf.cli import entry

class Last:
    def __init__(self):
        self.kill, self.process, self.signal = os.kill, os.getpid(), signal.SIGINT

    def __del__(self):
        self.kill(self.process, self.signal)

sys.last = Last()  # goes after the signal handlers
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.modules["uqf.cli.commands"] = SimpleNamespace(main=lambda: sys.exit(3))
entry.main()
"""


def test_ctrl_c_after_the_end_changes_nothing():
    run = subprocess.run([sys.executable, "-c", TOO_LATE], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (3, "")


@pytest.mark.parametrize("program", [DEAF, SWALLOWED.format(callback=True), SWALLOWED.format(callback=False)])
def test_a_call_that_does_not_listen_is_not_waited_for(program, tmp_path):
    began = time.perf_counter()
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (130, "")
    assert time.perf_counter() - began < 15
    assert os.listdir(tmp_path) == []


def test_a_background_job_that_ignores_ctrl_c_goes_on():
    code = """
import os, signal, sys
from types import SimpleNamespace
from uqf.cli import entry
signal.signal(signal.SIGINT, signal.SIG_IGN)
work = lambda: (os.kill(os.getpid(), signal.SIGINT), print("done"))
sys.modules["uqf.cli.commands"] = SimpleNamespace(main=work)
entry.main()
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "done\n"
