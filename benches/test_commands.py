"""Commands as whole programs on a messy log: 64,000 rows of seven columns of text."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from race import Reference, of_children, race

pytestmark = pytest.mark.benchmark(timer=of_children)

RUNS = 1_600
COLUMNS = """[columns]
episode = "Run"
time = "Shift start"
action = "Decision"
observation = ["vibration", "temperature", "load"]
reward = "-Cost"
observed = "before"
"""
PANDAS = "import pandas; print(pandas.read_csv('log.csv', sep=';', decimal=',').describe(include='all'))"


@pytest.fixture(scope="module", name="folder")
def messy(tmp_path_factory):
    """A log, how its columns are called, and another log of the same machine."""
    spec = spec_from_file_location(
        "maintenance", Path(__file__).parents[1] / "examples" / "maintenance_log.py"
    )
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    folder = tmp_path_factory.mktemp("messy")
    (folder / "uqf.toml").write_text(COLUMNS)
    for seed, name in enumerate(("log.csv", "new.csv")):
        example.write_log(folder / name, RUNS, seed)
    return folder


def program(folder, *arguments, code=0):
    """The command, or with `-c` a program of Python, which ends with this code."""
    command = [sys.executable, *(() if arguments[0] == "-c" else ("-m", "uqf")), *arguments]

    def run():
        assert subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL).returncode == code

    return run


def beside(benchmark, folder, case, arguments, reference, rounds, code=0):
    race(
        benchmark, program(folder, *arguments, code=code), [reference],
        stage="commands", case=case, amount=RUNS * 40, unit="rows", rounds=rounds, timer=of_children,
    )  # fmt: skip


@pytest.mark.parametrize(("options", "code"), [([], 1), (["--clean"], 0)], ids=["as it is", "cleaned"])
def test_inspect(benchmark, folder, options, code):
    described = Reference("pandas, read and described", program(folder, "-c", PANDAS))
    command = ["inspect", *options]
    beside(benchmark, folder, " ".join(command), [*command, "log.csv"], described, 5, code)


def inspected(folder):
    return Reference("inspect --clean", program(folder, "inspect", "--clean", "log.csv"), "self")


def test_fit(benchmark, folder):
    fit = ["fit", "--clean", "--report", "page.html", "--out", "policy.safetensors", "log.csv"]
    beside(benchmark, folder, "fit --clean --report", fit, inspected(folder), 1)


def test_evaluate(benchmark, folder):
    program(folder, "fit", "--clean", "--learner", "BeliefQ", "--out", "policy.safetensors", "log.csv")()
    evaluate = ["evaluate", "policy.safetensors", "--clean", "--log", "new.csv"]
    beside(benchmark, folder, "evaluate --clean --log", evaluate, inspected(folder), 3)
