"""What the library says to people: calls of tests/messages/*.md and the exact errors and warnings beneath them.

``python tests/test_messages.py`` writes the messages of today beneath the calls; look at the difference before it is
committed. A call without a message beneath it must succeed in silence: it prepares the next ones. Every page has a
folder of its own, in which its calls write files.
"""

import ast
import contextlib
import re
import tempfile
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "messages"
BLOCK = re.compile(r"(?<=^```python\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)


def calls(code):
    """(blank lines before it, statement, the comment beneath it) in order."""
    lines = code.splitlines()
    end = 0
    for statement in ast.parse(code).body:
        blank = [""] * (statement.lineno - 1 - end)
        end = statement.end_lineno
        said = []
        while end < len(lines) and lines[end].startswith("#"):
            said.append(lines[end].removeprefix("#").removeprefix(" "))
            end += 1
        yield blank, "\n".join(lines[statement.lineno - 1 : statement.end_lineno]), "\n".join(said)


def outcome(statement, names):
    """Kind and words of what a statement warns of and raises; nothing if it succeeds in silence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = []
        try:
            exec(compile(statement, "<call>", "exec"), names)
        except Exception as raised:
            error = [raised]
    said = [*(warning.message for warning in caught), *error]
    return "\n".join(f"{type(one).__name__}: {one}" for one in said).replace(f"{Path.cwd()}/", "")


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_messages_are_those_of_the_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, said, expected = {}, [], []
    for code in BLOCK.findall(page.read_text(encoding="utf-8")):
        for _, statement, wanted in calls(code):
            said.append((statement, outcome(statement, names)))
            expected.append((statement, wanted))
    assert any(wanted for _, wanted in expected)
    assert said == expected


def written(code, names):
    """The block with the messages of today."""
    parts = []
    for blank, statement, _ in calls(code):
        said = (f"# {line}".rstrip() for line in outcome(statement, names).splitlines())
        parts += [*blank, statement, *said]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    for page in FOLDER.resolve().glob("*.md"):
        names = {}
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text = BLOCK.sub(lambda found: written(found[1], names), text)  # noqa: B023
        page.write_text(text, encoding="utf-8")
