"""Rivals that take turns, so that all of them meet the same load of the machine; the fastest round counts.

Time is that of the processor, not of the wall: what others do on the machine counts as little as it can.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any, Literal

#: A reference shorter than this is run several times in every round: one slow run of a few milliseconds would raise
#: the recorded ratio above what anyone can reach again.
ENOUGH_SECONDS = 0.03
MAX_REPEATS = 10


@dataclass(frozen=True)
class Reference:
    """Something to be compared with.

    work : a call without arguments, timed as a whole
    kind : "rival" (another program), "limit" (what the machine can do at most) or "self" (another setting of ours)
    scale : its time is multiplied by this; for rivals too slow to be given all of the data
    target : the ratio (time of the reference / our time) that we want to reach
    clocked : whether `work` tells its own seconds, being another program
    """

    name: str
    work: Callable[[], Any]
    kind: str = "rival"
    scale: float = 1.0
    target: float | None = None
    clocked: bool = False


def of_children() -> float:
    """Processor time of programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def race(
    benchmark: Any,
    work: Callable[[], Any],
    references: list[Reference],
    *,
    stage: str,
    case: str,
    amount: float,
    unit: str,
    rounds: int = 5,
    timer: Callable[[], float] = process_time,
    statistic: Literal["min", "median"] = "min",
) -> None:
    """Times `work`, which gets through `amount` of `unit`, in turns with the references (short ones several times).

    Another `timer` must also stand in the module's `pytestmark`. With `statistic` "median" the middle round counts.
    """
    taken: dict[str, list[float]] = {reference.name: [] for reference in references}

    def run(reference: Reference) -> float:
        begin = timer()
        told = reference.work()
        return told if reference.clocked else timer() - begin

    repeats = {}
    for reference in references:
        run(reference)
        repeats[reference.name] = min(MAX_REPEATS, 1 + int(ENOUGH_SECONDS / max(run(reference), 1e-9)))

    def let_the_others_run() -> None:
        for reference in references:
            for _ in range(repeats[reference.name]):
                taken[reference.name].append(reference.scale * run(reference))

    benchmark.pedantic(work, setup=let_the_others_run, rounds=rounds, warmup_rounds=1)
    benchmark.extra_info.update(
        stage=stage,
        case=case,
        amount=amount,
        unit=unit,
        statistic=statistic,
        references=[
            {
                "name": reference.name,
                "kind": reference.kind,
                "seconds": {"min": min, "median": median}[statistic](taken[reference.name]),
                "target": reference.target,
            }
            for reference in references
        ],
    )
