"""``uqf compare``: two policies side by side on one log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import uqf
from uqf.cli.options import (
    AsJson,
    Clean,
    Columns,
    Observed,
    PolicyDiscount,
    ReturnRange,
    Reward,
    Seed,
    bounds_of,
    check_outputs,
    discount_of,
    log_columns,
)
from uqf.cli.terminal import about, progress_line, stoppable

if TYPE_CHECKING:
    from uqf.policies.policy import Policy
    from uqf.policies.rule import Rule
    from uqf.types import Record


def compare(
    first: Annotated[Path, typer.Argument(help="Policy A, a file that `uqf fit` wrote.")],
    log: Annotated[Path, typer.Option(help="Log of episodes that neither of them learned from.")],
    second: Annotated[
        Path | None,
        typer.Argument(
            help="Policy B, for the same actions and observations; or a .csv table of an old rule. Without it A is "
            "compared with what the log itself does."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Where a page about both goes, such as compare.html.")
    ] = None,
    discount: PolicyDiscount = None,
    return_range: ReturnRange = None,
    columns: Columns = None,
    observed: Observed = None,
    reward: Reward = None,
    clean: Clean = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Says which of two policies earns more by a log, if the log shows it, and where they act differently."""
    check_outputs(log, report=(report, ".html"))
    again = "Nothing was written; the same command starts again."
    with stoppable(again), about(*(one for one in (first, second, log) if one)), progress_line() as progress:
        from uqf.cli.logs import read_for
        from uqf.cli.summary import against, estimate_report
        from uqf.cli.tables import show
        from uqf.policies.mixture import behaviour
        from uqf.reports.comparison import ComparisonReport

        header = uqf.inspect_policy(first)
        is_rule = second is not None and second.suffix == ".csv"
        other = None if second is None or is_rule else uqf.inspect_policy(second)
        for name in ("n_actions", "n_observations", "codebook") if other else ():
            if getattr(header, name) != getattr(other, name):
                raise ValueError(f"{first} and {second} differ in {name}: compare policies of the same log")
        progress(f"reading {log}", 0, 0)
        data = read_for(header, log, log_columns(columns, None, observed, reward), clean)
        rival: Policy | Rule = (
            behaviour(data) if second is None else uqf.rule(second) if is_rule else uqf.load(second)
        )
        page = ComparisonReport(
            uqf.load(first),
            rival,
            data,
            discount=discount_of(header, discount),
            return_range=bounds_of(return_range),
            seed=seed,
            taught=(header.taught_by(data), other is not None and other.taught_by(data)),
        ).complete(progress)
        if report is not None:
            page.write(report)
    estimate = page.estimate
    called, returns = "B", data.returns(page.study.discount)
    rated: Record = estimate_report(estimate.second)
    if second is None:
        called = "B, what the log itself does"
        error = float(returns.std() / len(returns) ** 0.5)
        rated = {"mean return": float(returns.mean()), "standard error": error, "episodes": len(returns)}
    verdict = estimate.verdict
    if second is not None and second.read_bytes() == first.read_bytes():
        verdict = f"{first} and {second} are the same policy: they cannot differ. {verdict}"
    parts = {
        "difference of A and B": {"verdict": verdict, "agreement": page.differences.agreement},
        "A": estimate_report(estimate.first),
        called: rated,
        "where they differ most": against(page.differences),
    }
    whole = {"report": page.as_dict(), "page": report and str(report)} if as_json else {}
    show(parts | whole, as_json)
