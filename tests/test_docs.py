"""The pages are true: every Python block runs, commands exist, links lead somewhere."""

import re
import shlex
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from experiments import __main__ as experiments
from uqf.cli.commands import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMANDS = typer.main.get_command(app)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page, language):
    return [code for name, code in BLOCK.findall(page.read_text()) if name == language]


def prose(page):
    return BLOCK.sub("", page.read_text())


def commands(page):
    """Lines of shell blocks, and what stands in backticks and begins like a command of this project."""
    lines = [line for code in blocks(page, "sh") for line in code.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`((?:uqf|make) [^`\n]+)`", prose(page))
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def anchor(heading):
    """GitHub's: lower case, spaces to hyphens, everything else but letters, digits and hyphens left out."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@every_page
def test_python_blocks_run_in_order_and_assert_something(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = blocks(page, "python")
    if not examples:
        pytest.skip(f"{page.name} has no Python")
    assert any("assert " in example for example in examples)
    names = {"__name__": page.stem}
    for number, example in enumerate(examples, 1):
        exec(compile(example, f"{page.name}, block {number}", "exec"), names)


@every_page
def test_commands_are_understood(page):
    for program, *arguments in commands(page):
        if program == "uqf" and arguments[0].startswith("--"):
            assert arguments[0] in ("--help", "--install-completion", "--show-completion")
        elif program == "uqf":
            command = COMMANDS.commands[arguments[0]]
            shown = [word for word in arguments[1:] if word != "…"]
            # Pages may speak of a command without saying all of it; what they say must be right.
            options = [word.split("=")[0] for word in shown if word.startswith("--")]
            known = {name for parameter in command.params for name in parameter.opts} | {"--help"}
            assert set(options) <= known, (page.name, arguments)
            # Whole commands, without words in capitals to be replaced, must also parse; nothing is run.
            if shown == arguments[1:] and shown and not any(word.isupper() for word in shown):
                command.make_context(command.name, list(shown))
        elif program == "make":
            targets = [word for word in arguments if "=" not in word]
            assert set(targets) <= TARGETS, (page.name, arguments)
        elif program == "python":
            assert find_spec(arguments[1]), arguments
            if arguments[1] == "experiments":
                experiments.arguments(arguments[2:])
        else:
            assert program in ("pip", "cargo", "cd", "git"), (page.name, program)


@every_page
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://|mailto:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name} links to {target}"
        if fragment:
            headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", file.read_text()), re.MULTILINE)
            assert fragment in map(anchor, headings), f"{page.name} links to {target}"


def test_every_page_can_be_reached_from_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    missing = [page.name for page in PAGES[1:] if page.name != "README.md" and f"({page.name})" not in index]
    assert not missing


def test_the_readme_names_what_ci_runs():
    readme = (ROOT / "README.md").read_text()
    commands_of_ci = re.findall(r"^(?!set|cd|#)(\S.*)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert commands_of_ci
    assert all(command in readme for command in commands_of_ci)
    assert {"demo", "test"} <= set(re.findall(r"\bmake ([a-z-]+)", readme))


def test_the_map_of_the_code_is_true():
    (code_map,) = blocks(ROOT / "CONTRIBUTING.md", "text")
    places = [line.split()[0] for line in code_map.splitlines()]
    assert all((ROOT / place).exists() for place in places), places
    assert len(set(places)) == len(places), "a folder stands there twice"


def test_no_page_speaks_of_what_is_not_in_the_repository():
    """Paths in backticks that look like files of ours exist."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout")
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for path in re.findall(
            r"`((?:rust|python|tests|benches|experiments|examples)/[\w./-]+)`", prose(page)
        ):
            assert (ROOT / path).exists() or "NAME" in path, f"{page.name} speaks of {path}"


LOGS = ROOT / "docs" / "logs.md"


def test_every_example_about_logs_asserts_something():
    assert all("assert " in example for example in blocks(LOGS, "python"))


def test_the_commands_for_logs_take_what_the_page_says():
    named = set(re.findall(r"\buqf (fit|inspect|evaluate)\b", LOGS.read_text()))
    assert named == {"fit", "inspect", "evaluate"}
    for command in named:
        text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
        assert "--columns" in text and "--json" in text
    assert "--log" in CliRunner().invoke(app, ["evaluate", "--help"], env={"COLUMNS": "200"}).output
