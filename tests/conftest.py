"""Hypothesis profiles, and results of both experiments; `strategies` beside this file generates POMDPs and episodes."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time: whether a change passes depends on the change alone. `make test-slow` tries new ones.
settings.register_profile(
    "default", max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", parent=settings.get_profile("default"), max_examples=200, derandomize=False
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session", autouse=True)
def hearing_ctrl_c():
    """Shells let background jobs ignore Ctrl-C, and so would the programs that the tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder in which both experiments ran at their smallest, and what the program said."""
    from typer.testing import CliRunner

    from uqf.cli.commands import app

    folder = tmp_path_factory.mktemp("results")
    run = CliRunner().invoke(app, ["demo", "--size", "smallest", "--out", str(folder)])
    assert run.exit_code == 0, run.output
    return folder, run.output
