import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from uqf.cli import app

DOCS = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL))
def test_examples_run_and_assert_something(example):
    assert "assert " in example
    exec(compile(example, "docs/experiments.md", "exec"), {"__name__": "docs"})


def test_named_commands_exist():
    commands = re.findall(r"^uqf ([^#\n]*?) *(?:#.*)?$", DOCS, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        run = CliRunner().invoke(app, [*command.split(), "--help"])
        assert run.exit_code == 0
        assert all(option in run.output for option in re.findall(r"--\w+", command))
