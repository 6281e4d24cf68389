"""A page as one file: style and script inside, nothing asked of the outside."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from uqf.printable import escape


@cache
def style() -> str:
    """The style sheet of all pages."""
    return _resource("page.css")


def _resource(name: str) -> str:
    return files("uqf.page").joinpath(name).read_text(encoding="utf-8")


def document(title: str, sections: list[str]) -> str:
    """A whole page of these sections, which are markup."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An empty icon, or browsers ask the server for one.
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{style()}</style></head>'
        f"<body><main>{''.join(sections)}</main><script>{_resource('page.js')}</script></body></html>\n"
    )


def tiles(entries: list[tuple[str, str]]) -> str:
    """Large figures beside each other: (figure, what it is)."""
    cards = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(note)}</span></div>'
        for value, note in entries
    )
    return f'<div class="tiles">{cards}</div>'


def embedded(content: Any) -> str:
    """Plain values for the script of the page to read."""
    # Within a script element, markup in names could end it early.
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json">{text}</script>'


def card(*parts: str) -> str:
    """A box around markup."""
    return f'<div class="card">{"".join(parts)}</div>'
