"""Names that come from files, made harmless before they are shown."""

from __future__ import annotations

import html


def printable(text: str) -> str:
    r"""The text with everything that a terminal would obey rather than show as an escape, such as ``\x1b``.

    That is every character which is neither printable nor a line end or a space that keeps a line together: control
    sequences, marks that turn the direction of writing, halves of characters.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in "\n\xa0" else letter.encode("unicode_escape").decode()
        for letter in text
    )


def escape(text: str) -> str:
    """The text for a page of HTML, attributes included."""
    return html.escape(printable(text))
