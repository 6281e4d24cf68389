"""What `--help` shows: paragraphs that flow, words that are not cut, brackets that are not taken for markup."""

import re
from itertools import pairwise

import pytest
import typer
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app

COMMANDS = sorted(typer.main.get_command(app).commands)


def shown(*command):
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_no_word_is_cut_in_a_terminal_of_80_columns(command):
    assert not re.findall(r"\S*\w…", shown(*command))


def test_paragraphs_fill_the_lines():
    # A line of a paragraph that ends early is the last one, or the next word did not fit.
    lines = [line.strip() for line in shown("fit").split("╭")[0].splitlines()]
    for line, following in pairwise(lines):
        if line and following:
            assert len(line) + 1 + len(following.split()[0]) > 76, line


def test_the_program_tells_its_version():
    assert CliRunner().invoke(app, ["--version"]).output == f"uqf {uqf.__version__}\n"
    assert "From a log to a policy" in shown() and "--version" in shown()
