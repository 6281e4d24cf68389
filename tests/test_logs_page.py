"""docs/logs.md keeps its promises: its examples run one after the other, and the commands it names exist."""

import re
from pathlib import Path

from typer.testing import CliRunner

from uqf.cli import app

PAGE = (Path(__file__).parents[1] / "docs" / "logs.md").read_text()


def test_examples_run_in_order_and_assert_something(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "docs"}
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        assert "assert " in example
        exec(compile(example, "docs/logs.md", "exec"), names)


def test_named_commands_and_options_exist():
    commands = set(re.findall(r"\buqf (fit|inspect|evaluate)\b", PAGE))
    assert commands == {"fit", "inspect", "evaluate"}
    for command in commands:
        text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
        assert "--columns" in text and "--json" in text
    assert "--log" in CliRunner().invoke(app, ["evaluate", "--help"], env={"COLUMNS": "200"}).output
