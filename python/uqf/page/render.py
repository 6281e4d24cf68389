"""Pages from templates. This is the only place where text becomes markup, and it escapes all of it."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from uqf.page.parts import figure, percent, plus_minus, signed
from uqf.printable import printable
from uqf.types import Raw


def render(template: str, **values: object) -> str:
    r"""A template of ``page/templates`` with these values.

    Values are escaped wherever they stand. Characters that turn the direction of writing, or that a terminal would
    obey, are shown as escapes such as ``\u202e``.
    """
    return printable(_environment().get_template(template).render(values))


def visible(value: Raw) -> Raw:
    """Plain values for a script of the page: strings as they are shown, since scripts show them as they come."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {visible(key): visible(one) for key, one in value.items()}
        case list() | tuple():
            return [visible(one) for one in value]
        case _:
            return value


@cache
def _environment() -> Environment:
    loader = PackageLoader("uqf.page")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    filters = figure, percent, plus_minus, signed, visible
    environment.filters |= {one.__name__: one for one in filters} | {"count": "{:,}".format}
    return environment
