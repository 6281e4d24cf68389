"""Names that come from files, made harmless before they are shown."""

from __future__ import annotations

#: Harmless, though `str.isprintable` says no: line ends, and the space that holds a number and its unit together.
SHOWN = "\n\N{NO-BREAK SPACE}"


def printable(text: str) -> str:
    r"""The text with everything that a terminal would obey rather than show as an escape, such as ``\x1b``.

    That is every character which is neither printable nor a line end: control sequences, marks that turn the
    direction of writing, halves of characters.
    """
    odd = (letter for letter in set(text) if not letter.isprintable() and letter not in SHOWN)
    escapes = {ord(letter): letter.encode("unicode_escape").decode() for letter in odd}
    return text.translate(escapes) if escapes else text
