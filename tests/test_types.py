"""`Any` switches the type checker off: it stands only beside a comment that says why."""

import io
import tokenize
from pathlib import Path

import pytest

PYTHON = Path(__file__).parent.parent / "python" / "uqf"


def without_reason(code):
    """Numbers of lines that use `Any` with no comment "Any: …" in them nor among the comments just above.

    A text just below an alias explains it and counts as a reason.
    """
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    imports = {token.start[0] for token in tokens if token.type == tokenize.NAME and token.string == "import"}
    used = {token.start[0] for token in tokens if token.type == tokenize.NAME and token.string == "Any"}
    lines = code.splitlines()
    for line in sorted(used - imports):
        found, above = [comments.get(line, "")], line - 1
        while above and lines[above - 1].lstrip().startswith("#"):
            found.append(comments[above])
            above -= 1
        explained = lines[line : line + 1] and lines[line].startswith('"""')
        if not explained and not any("Any: " in comment for comment in found):
            yield line


@pytest.mark.parametrize(
    "path",
    sorted((*PYTHON.rglob("*.py"), *PYTHON.rglob("*.pyi"))),
    ids=lambda path: str(path.relative_to(PYTHON)),
)
def test_every_any_has_its_reason(path):
    bare = [f"{path.name}:{line}" for line in without_reason(path.read_text())]
    assert not bare, f"{bare}: give a type, a name of uqf.types, or a comment 'Any: …' that says why"


@pytest.mark.parametrize(
    ("code", "bare"),
    [
        ("from typing import Any\nx: Any = 1", [2]),
        ("import typing\nx: typing.Any = 1", [2]),
        ("def f(\n    x: list[Any],  # a list\n): ...", [2]),
        ("x: Any = 1  # Any: it is what came", []),
        ("# Any: it is what came\nx: Any = 1", []),
        ('Raw = Any\n"""Whatever came."""', []),
        ('Raw = Any\n\n"""Whatever came."""', [1]),
        ('"""Any start will do."""', []),
    ],
)
def test_a_bare_any_is_found(code, bare):
    assert list(without_reason(code)) == bare
