"""``uqf fit``: from a log to a policy, with a report on both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import uqf
from uqf.cli.options import (
    DISCOUNT,
    ActionBins,
    AsJson,
    Clean,
    Columns,
    Discount,
    Observed,
    Reward,
    Seed,
    Share,
    check_outputs,
    log_columns,
    made_learner,
)
from uqf.cli.terminal import about, progress_line, stoppable

if TYPE_CHECKING:
    from uqf.storage.policies import Storable
    from uqf.types import Record

#: Names that --learner takes.
LEARNERS = sorted(name for name in dir(uqf) if name.endswith("Q") or name == "UQF")


def fit(
    log: Annotated[
        Path,
        typer.Argument(
            help="Log of episodes: .parquet, .arrow, .csv, .jsonl, a folder of them or '2024-*.csv'."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the policy goes, such as policy.safetensors.")],
    discount: Discount = DISCOUNT,
    holdout: Annotated[
        float, typer.Option(help="Share of the episodes that judge the learners.", min=0.01, max=0.9)
    ] = 0.5,
    report: Annotated[
        Path | None, typer.Option(help="Where a page about the log and the policy goes, such as report.html.")
    ] = None,
    learner: Annotated[
        str | None, typer.Option(help=f"No comparison, this learner alone: {', '.join(LEARNERS)}.")
    ] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option(help="A column of numbers that --report shows before and after, such as breakdown."),
    ] = None,
    share: Share = None,
    columns: Columns = None,
    action_bins: ActionBins = None,
    observed: Observed = None,
    reward: Reward = None,
    clean: Clean = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learns a policy from a log, as `uqf.fit` does, and writes it.

    The learners are compared on held-out episodes, and the best one then learns from all of them. What is printed
    says what the data look like, what was chosen, where it differs from the log, what return to expect, and what to
    worry about. With --report all of it is a page to look at: one file. The policy is written last and whole: an
    interrupted run leaves an older file as it was.

    With --share 0.1 the file holds a cautious start: the policy decides a tenth of the steps, drawn by chance, and the
    rest is done as in the log. What is expected is then expected of that.

    A folder of .parquet files may be larger than memory: it is read a batch at a time, and learners are compared on a
    sample of its episodes. With --learner nothing is compared and nothing is held out; UQF is the paper's.
    """
    if learner is not None and learner not in LEARNERS:
        raise typer.BadParameter(f"{learner!r} is not one of {', '.join(LEARNERS)}", param_hint="--learner")
    paths = check_outputs(log, out=(out, ".safetensors"), report=(report, ".html"))
    again = f"{out} is as it was; the same command starts again."
    with stoppable(again), about(log), progress_line() as progress:
        from uqf.cli.logs import facts_of, read_data
        from uqf.cli.summary import fit_report, plain_values
        from uqf.cli.tables import show
        from uqf.logs.suspicions import order_in_words
        from uqf.reports.report import Report
        from uqf.reports.study import Study

        progress(f"reading {log}", 0, 0)
        streamed = log.is_dir() or (learner is not None and log.suffix == ".parquet")
        data, opened = read_data(log, log_columns(columns, action_bins, observed, reward), clean, streamed)
        facts = facts_of(opened, data, outcome or [])
        whole: Record = {"policy": str(out)}
        if learner is None:
            fitted = uqf.fit(data, discount=discount, holdout=holdout, seed=seed, progress=progress)
        else:
            fitted = made_learner(learner, discount, seed).fit(data, progress=progress)
        named = opened.columns.to_dict()
        settings = fitted.file_settings() | ({"columns": named} if named else {})
        policy: Storable = fitted.policy_
        if learner is None or share is not None:
            study = Study.of(fitted, data, discount=discount, seed=seed, progress=progress).cautious(share)
            policy = policy if share is None else uqf.mix(policy, study.log, share)
            settings |= {} if share is None else {"share": share}
        if learner is None:
            page = Report(study, seed, facts)
            if report is not None or as_json:
                page.complete(progress)
            progress("evaluating", 0, 0)
            parts = fit_report(fitted, page)
            if opened.evidence is not None:
                parts["data"]["observed"] = order_in_words(opened.evidence)
            if report is not None:
                page.write(report)
            whole |= {"report": page.as_dict(), "page": report and str(report)} if as_json else {}
        else:
            parts = {"learned": plain_values(fitted.diagnostics_)}
            if report is not None:
                study = Study.of(fitted, data, discount=None, seed=seed, progress=progress).cautious(share)
                Report(study, seed, facts).complete(progress).write(report)
        uqf.save(policy, out, settings=settings, data=fitted.origin_)
    show(parts | (whole if as_json else {"written": list(map(str, paths))}), as_json)
