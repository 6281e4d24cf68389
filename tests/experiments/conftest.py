import pytest
from typer.testing import CliRunner

from uqf.cli.commands import app


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder in which both experiments ran at their smallest, and what the program said."""
    folder = tmp_path_factory.mktemp("results")
    run = CliRunner().invoke(app, ["demo", "--size", "smallest", "--out", str(folder)])
    assert run.exit_code == 0, run.output
    return folder, run.output
