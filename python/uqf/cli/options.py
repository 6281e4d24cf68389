"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(help="The same seed gives the same figures on every machine.", min=0)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Discount = Annotated[float, typer.Option(help="Worth of a reward one step later.", min=0.0, max=1.0)]
