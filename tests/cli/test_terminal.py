"""The line that shows how far a command is."""

import io

from rich.console import Console

from pomdp_texts import obeyed
from uqf.cli.terminal import progress_line


def shown(*events, terminal=True):
    said = io.StringIO()
    console = Console(file=said, force_terminal=terminal, width=80, color_system=None)
    with progress_line(console) as progress:
        for event in events:
            progress(*event)
    return said.getvalue()


def test_a_line_has_the_stage_its_share_and_the_time():
    last = shown(("first pass", 0, 10), ("first pass", 10, 10), ("models", 3, 4)).split("models")[-1]
    assert "50%" in shown(("second pass", 1_000_000, 2_000_000))
    assert "3/4" in last and "0:00:00" in last and "10" not in last


def test_nothing_is_shown_above_the_whole_or_without_a_terminal():
    assert "7/7" in shown(("models", 9, 7)) and "9/7" not in shown(("models", 9, 7))
    assert shown(("models", 1, 2), terminal=False) == ""


def test_names_of_files_cannot_command_the_terminal():
    said = shown(("reading [/x]\x07\u202e.csv", 0, 0))
    assert "[/x]" in said and not set(obeyed(said)) & {"\x07", "\u202e"}
