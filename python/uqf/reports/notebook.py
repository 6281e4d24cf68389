"""A fitted learner in a notebook: the essentials, in a box of its own style."""

from __future__ import annotations

from uqf.episodes.sums import episodes_within
from uqf.learn.learner import Learner
from uqf.page.parts import figure, percent, signed
from uqf.printable import escape
from uqf.reports.differences import Differences
from uqf.reports.study import Study

#: Steps that are looked at: a cell must show at once.
MAX_STEPS = 20_000

#: Situations that are told.
MAX_TOLD = 3

#: Notebooks have style sheets of their own, light or dark: nothing but sizes and lines are set.
BOX = (
    "font:14px/1.55 system-ui,sans-serif;border:1px solid rgba(128,128,128,.4);border-radius:8px;"
    "padding:12px 16px;max-width:760px"
)
CELL = "text-align:left;padding:2px 18px 2px 0;background:none"


def fragment(learner: Learner) -> str:
    """Markup of a fitted learner; more if it came from `uqf.fit`, which keeps held-out episodes."""
    told = learner.diagnostics_
    name = type(learner).__name__
    rows = [
        ("learned from", f"{told['episodes']:,} episodes" if "episodes" in told else ""),
        ("discount", f"{learner.discount:g}"),
        ("temperature", figure(getattr(learner.policy_, "temperature", 0.0))),
    ]
    situations = ""
    if hasattr(learner, "trial_"):
        found = _differences(learner)
        rows += [
            ("does what the log did", f"in {percent(found.agreement)} of {found.steps:,} held-out steps"),
            (
                "gains over the log",
                f"{signed(found.gain)} ± {found.stderr:.2g} per episode, changing one step at a time",
            ),
        ]
        listed = "".join(f"<li>{escape(one.told)}</li>" for one in found.situations[:MAX_TOLD])
        situations = (
            f"<div>Where it differs most:</div><ol style='margin:2px 0'>{listed}</ol>" if listed else ""
        )
    why = told.get("chosen", {}).get("why")
    lines = "".join(
        f"<tr style='background:none'><td style='{CELL};opacity:.7'>{label}</td>"
        f"<td style='{CELL}'>{escape(value)}</td></tr>"
        for label, value in rows
        if value
    )
    return (
        f"<div style='{BOX}'><b>{escape(name)}</b>, fitted"
        f"{f'<div>{escape(why)}</div>' if why else ''}"
        f"<table style='border-collapse:collapse;margin:6px 0;font:inherit'>{lines}</table>{situations}"
        "<div style='opacity:.7'><code>learner.report(data, 'report.html')</code> writes a page about it</div></div>"
    )


def _differences(learner: Learner) -> Differences:
    trial = learner.trial_
    held_out = trial.held_out[: episodes_within(trial.held_out, MAX_STEPS)]
    study = Study(trial.policy, held_out, trial.taught, held_out, learner.discount, learner, "")
    return Differences.from_log(study)
