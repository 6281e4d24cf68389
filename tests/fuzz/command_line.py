"""The door of the command line; `doors.py` says what a door is."""

import contextlib
import io
import sys
from pathlib import Path

import typer
from mutators import NAMES, bent_arguments, pick

from uqf.cli import commands

#: Mostly quick ones: two policies that can be compared take a third of a second, so these differ.
COMMANDS = [
    ["inspect", "tiger.safetensors"],
    ["inspect", "tiger.parquet", "--json"],
    ["inspect", "codes.csv", "--columns", "reward=reward,episode=episode", "--discount", "0.5"],
    ["evaluate", "tiger.safetensors", "--env", "tiger", "--episodes", "3"],
    ["evaluate", "tiger.safetensors", "--log", "tiger.parquet", "--method", "is"],
    ["watch", "tiger.safetensors", "--env", "tiger", "--seed", "3", "--json"],
    ["watch", "--env", "0.pomdp"],
    ["fit", "tiger.parquet", "--out", "out", "--learner", "UQF", "--discount", "0.5"],
    ["compare", "tiger.safetensors", "table.safetensors", "--log", "codes.csv", "--report", "out"],
    ["inspect", "steps.csv", "--clean", "--columns", "observation=observation"],
    ["environments", "--json"],
    ["reproduce", "gridworld", "--size", "smallest", "--help"],
    ["export", "tiger.safetensors", "--onnx", "out"],
    ["--help"],
]


class Arguments:
    """Command lines, run in this process from a folder of valid and strange files."""

    def __init__(self, folder: Path) -> None:
        # Built once: that alone takes longer than most command lines.
        commands.app = typer.main.get_command(commands.app)
        files = [path.name for path in sorted(folder.iterdir()) if path.name not in ("input", "out")]
        # Whole experiments would take too long: their commands occur only with --help.
        harmless = [word for command in COMMANDS for word in command if word != "reproduce"]
        numbers = ["-1", "0", "1e400", "nan", "inf", "99999999999999999999", "0.5", "x"]
        roles = [
            "reward=",
            "=x",
            "episode=reward,reward=episode",
            "action=action,action=observation",
            "a=b=c",
            ",",
        ]
        names = [name for name in NAMES if "/" not in name and name.isascii() and "\0" not in name]
        self.words = [*files, *harmless, *numbers, *roles, *names]

    def make(self, rng):
        arguments = bent_arguments(pick(rng, COMMANDS), self.words, rng)
        if "reproduce" in arguments:
            arguments.append("--help")
        if "--episodes" not in arguments and "evaluate" in arguments:
            arguments += ["--episodes", "3"]
        # Only a path in this folder may be written to, and none of the valid files.
        for place in range(1, len(arguments)):
            if arguments[place - 1] in ("--out", "--report", "--onnx"):
                arguments[place] = "out"
        return arguments

    def enter(self, arguments) -> bool:
        said = io.StringIO()
        sys.argv = ["uqf", *arguments]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                commands.main()
                code = 0
            except SystemExit as ended:
                code = ended.code or 0
        assert code in (0, 1, 2), code
        assert "\x1b" not in said.getvalue(), said.getvalue()
        assert code != 1 or "uqf: " in said.getvalue(), said.getvalue()
        return code == 0
