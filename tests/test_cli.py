import subprocess
import sys

from typer.testing import CliRunner

import uqf
from uqf.cli import app


def test_demo_shows_every_world_and_repeats_itself():
    first, second = (CliRunner().invoke(app, ["demo", "--episodes", "50", "--seed", "3"]) for _ in range(2))
    assert first.exit_code == 0
    assert first.output == second.output
    assert all(name in first.output for name in uqf.environments())


def test_environments_are_listed_by_the_module_run_as_a_program():
    run = subprocess.run(
        [sys.executable, "-m", "uqf", "environments"], capture_output=True, text=True, check=True
    )
    assert all(name in run.stdout for name in uqf.environments())


def test_bad_options_are_refused():
    result = CliRunner().invoke(app, ["demo", "--episodes", "0"])
    assert result.exit_code == 2
