"""The README keeps its promises: its examples run, and the commands and paths it names exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_run_and_assert_something(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "assert " in example
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})


def test_there_is_an_example():
    assert EXAMPLES


def test_named_commands_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"\bmake ([a-z-]+)", README)) <= targets
    commands = re.findall(r"^(?!set|cd|#)(\S.*)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert commands
    assert all(command in README for command in commands)


def test_the_map_of_the_code_is_true():
    (code_map,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    for line in code_map.splitlines():
        assert (ROOT / line.split()[0]).exists(), line
