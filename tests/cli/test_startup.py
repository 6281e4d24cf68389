"""What the program loads before it does anything: people wait for it."""

import subprocess
import sys

import pytest

#: SciPy and scikit-learn take seconds to load, pyarrow and NumPy tenths of one.
HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "gymnasium", "pandas", "torch", "uqf.learn", "uqf.reports"}

CODE = """
import sys
from uqf.cli import entry
sys.argv = ["uqf", *sys.argv[1:]]
try:
    entry.main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded(*arguments):
    run = subprocess.run([sys.executable, "-c", CODE, *arguments], capture_output=True, text=True)
    assert run.stdout, run.stderr
    return set(run.stderr.split())


@pytest.mark.parametrize("command", ["demo", "reproduce", "compare", "fit", "evaluate", "inspect", "export"])
def test_help_loads_nothing_heavy(command):
    assert not loaded(command, "--help") & HEAVY


def test_the_program_is_light():
    assert not loaded("--help") & HEAVY
    modules = loaded("--version")
    assert not modules & HEAVY and not any(name.startswith("rich") for name in modules)


@pytest.mark.parametrize("observation", ["1", "1.5"])
def test_a_log_is_inspected_without_pandas(observation, tmp_path):
    rows = "".join(f"{row // 9},go,{observation if row % 2 else 7.25},2\n" for row in range(90))
    (tmp_path / "log.csv").write_text(f"episode,action,observation,reward\n{rows}")
    modules = loaded("inspect", str(tmp_path / "log.csv"), "--clean")
    assert "pyarrow" in modules and not modules & {"pandas", "sklearn", "scipy"}


def test_learners_are_defined_without_scikit_learn():
    code = "import sys, uqf; [getattr(uqf, name) for name in dir(uqf)]; print('uqf.learn.choose.fit' in sys.modules)"
    run = [sys.executable, "-c", f"{code}; print({{'sklearn', 'pandas'}} & set(sys.modules))"]
    assert subprocess.run(run, capture_output=True, text=True).stdout == "True\nset()\n"


FIRST = """
import sys
from uqf.cli import commands, fit

def progress_line():
    print(*sys.modules, file=sys.stderr)
    raise SystemExit(print("begun"))

fit.progress_line = progress_line
sys.argv = ["uqf", "fit", "log.csv", "--out", "policy"]
commands.main()
"""


def test_a_fit_shows_that_it_has_begun_before_it_loads_anything_heavy():
    run = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True)
    assert run.stdout == "begun\n"
    assert not set(run.stderr.split()) & HEAVY
