"""``uqf compare``: two policies side by side on one log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import uqf
from uqf.cli.logs import read_for
from uqf.cli.options import AsJson, Clean, Columns, Seed
from uqf.cli.summary import against, estimate_report
from uqf.cli.tables import show
from uqf.cli.terminal import about, fit_progress, stoppable
from uqf.episodes.fingerprint import fingerprint
from uqf.reports.comparison import ComparisonReport
from uqf.reports.writing import check_folder


def register(app: typer.Typer) -> None:
    """Adds the command to the program."""
    app.command()(compare)


def compare(
    first: Annotated[Path, typer.Argument(help="Policy A, a file that `uqf fit` wrote.")],
    second: Annotated[Path, typer.Argument(help="Policy B, for the same actions and observations.")],
    log: Annotated[Path, typer.Option(help="Log of episodes that taught neither of them.")],
    report: Annotated[
        Path | None, typer.Option(help="Where a page about both goes, such as compare.html.")
    ] = None,
    discount: Annotated[
        float | None, typer.Option(help="By default the one that A was learned with.", min=0.0, max=1.0)
    ] = None,
    columns: Columns = None,
    clean: Clean = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Tells which of two policies earns more by a log, if the log can tell, and where they act differently."""
    if report is not None:
        check_folder(report)
    header, other = uqf.inspect_policy(first), uqf.inspect_policy(second)
    for name in ("n_actions", "n_observations", "codebook"):
        if getattr(header, name) != getattr(other, name):
            raise ValueError(f"{first} and {second} differ in {name}: compare policies of the same log")
    weight = header.discount if discount is None else discount
    again = "Nothing was written; the same command starts again."
    with stoppable(Console(stderr=True), again), about(log):
        data = read_for(header, log, columns, clean)
        taught = tuple(fingerprint(data) == one.data_fingerprint for one in (header, other))
        found = ComparisonReport(
            uqf.load(first), uqf.load(second), data, discount=weight, seed=seed, taught=(taught[0], taught[1])
        )
        with fit_progress() as progress:
            found.complete(progress)
        if report is not None:
            found.write(report)
    estimate = found.estimate
    told = {"verdict": estimate.verdict}
    parts = {
        "difference of A and B": told | {"agreement": found.differences.agreement},
        "A": estimate_report(estimate.first),
        "B": estimate_report(estimate.second),
        "where they differ most": against(found.differences),
    }
    whole = {"report": found.as_dict(), "page": report and str(report)}
    show(parts | (whole if as_json else {}), as_json)
