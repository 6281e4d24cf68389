"""``uqf compare``: two policies side by side on one log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import uqf
from uqf.cli.options import AsJson, Clean, Columns, PolicyDiscount, Seed, check_outputs, discount_of
from uqf.cli.terminal import about, progress_line, stoppable


def compare(
    first: Annotated[Path, typer.Argument(help="Policy A, a file that `uqf fit` wrote.")],
    second: Annotated[Path, typer.Argument(help="Policy B, for the same actions and observations.")],
    log: Annotated[Path, typer.Option(help="Log of episodes that taught neither of them.")],
    report: Annotated[
        Path | None, typer.Option(help="Where a page about both goes, such as compare.html.")
    ] = None,
    discount: PolicyDiscount = None,
    columns: Columns = None,
    clean: Clean = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Says which of two policies earns more by a log, if the log can tell, and where they act differently."""
    check_outputs(log, report=(report, ".html"))
    from uqf.cli.logs import read_for
    from uqf.cli.summary import against, estimate_report
    from uqf.cli.tables import show
    from uqf.reports.comparison import ComparisonReport

    header, other = uqf.inspect_policy(first), uqf.inspect_policy(second)
    for name in ("n_actions", "n_observations", "codebook"):
        if getattr(header, name) != getattr(other, name):
            raise ValueError(f"{first} and {second} differ in {name}: compare policies of the same log")
    again = "Nothing was written; the same command starts again."
    with stoppable(again), about(log), progress_line() as progress:
        progress(f"reading {log}", 0, 0)
        data = read_for(header, log, columns, clean)
        page = ComparisonReport(
            uqf.load(first),
            uqf.load(second),
            data,
            discount=discount_of(header, discount),
            seed=seed,
            taught=(header.taught_by(data), other.taught_by(data)),
        ).complete(progress)
        if report is not None:
            page.write(report)
    estimate = page.estimate
    parts = {
        "difference of A and B": {"verdict": estimate.verdict, "agreement": page.differences.agreement},
        "A": estimate_report(estimate.first),
        "B": estimate_report(estimate.second),
        "where they differ most": against(page.differences),
    }
    whole = {"report": page.as_dict(), "page": report and str(report)} if as_json else {}
    show(parts | whole, as_json)
