"""What the library says to people: calls of tests/messages/*.md and the exact errors that stand beneath them.

``python tests/test_messages.py`` writes the messages of today beneath the calls; look at the difference before it is
committed. A call without an error beneath it must succeed: it prepares the next ones.
"""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "messages"
BLOCK = re.compile(r"(?<=^```python\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)


def calls(code):
    """(statement, the comment beneath it) in order."""
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        end = statement.end_lineno
        said = []
        while end < len(lines) and lines[end].startswith("#"):
            said.append(lines[end].removeprefix("#").removeprefix(" "))
            end += 1
        yield "\n".join(lines[statement.lineno - 1 : statement.end_lineno]), "\n".join(said)


def outcome(statement, names):
    """Kind and words of the error that a statement raises; nothing if it succeeds."""
    try:
        exec(compile(statement, "<call>", "exec"), names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_messages_are_those_of_the_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, said, expected = {}, [], []
    for code in BLOCK.findall(page.read_text(encoding="utf-8")):
        for statement, wanted in calls(code):
            said.append((statement, outcome(statement, names)))
            expected.append((statement, wanted))
    assert any(wanted for _, wanted in expected)
    assert said == expected


def written(code, names):
    """The block with the errors of today; blank lines stay before the statement that they stood before."""
    parts = []
    for statement, _ in calls(code):
        blank = [""] * (f"\n\n{statement}" in code)
        parts += [
            *blank,
            statement,
            *(f"# {line}".rstrip() for line in outcome(statement, names).splitlines()),
        ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    for page in FOLDER.glob("*.md"):
        names = {}
        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(lambda found: written(found[1], names), text), encoding="utf-8")  # noqa: B023
