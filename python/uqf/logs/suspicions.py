"""What a careful reader would ask about a log that can be read: spellings, outliers, and when it was observed."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.coding.codebook import Codebook
from uqf.logs.layout import is_cost
from uqf.logs.problems import CLEANED, LogProblem
from uqf.logs.rows import Rows, array, is_number, is_text, raw
from uqf.page.parts import figure
from uqf.types import AnyArray


@dataclass(frozen=True)
class Bounds:
    """When something is suspicious."""

    ratio: float = 1000.0
    """Numbers so many times as far from the middle as all others are outliers, …"""
    share: float = 0.001
    """… if no larger share of the rows has them (one always may)."""
    rows: int = 30
    """Of fewer numbers nobody knows what is usual."""
    evidence: float = 4.0
    """Standard errors by which one reading of the rows must foresee them better than the other."""
    kinds: int = 6
    """Kinds of values into which a column is cut to see what it foresees."""
    steps: int = 50_000
    """Steps that are looked at for it."""


BOUNDS = Bounds()

#: What programs write where nothing was measured: nines, and the ends of whole numbers of 16 and 32 bits.
NOTHING = frozenset(
    {sign * (10.0**digits - 1) for sign in (-1, 1) for digits in range(2, 10)}
    | {-(2.0**15), 2.0**15 - 1, 2.0**16 - 1, -(2.0**31), 2.0**31 - 1, 2.0**32 - 1}
)


def suspicions(rows: Rows, codebook: Codebook | None = None) -> list[LogProblem]:
    """Names in several spellings, numbers that stand for no value, outliers, and costs that are read as rewards."""
    layout, listed, known = rows.layout, list[LogProblem](), rows.layout.known_names(codebook)
    for name in dict.fromkeys((layout.names["action"], *layout.seen)):
        values = rows.values(name, may_miss=True)
        if is_text(values.type):
            listed += _alike(rows, name, spellings(values, known.get(name, ())), values)
        elif is_number(values.type) and name in layout.seen:
            listed += _strange(rows, name, array(values.cast(pa.float64())))
    name = layout.names["reward"]
    reward = rows.values(name, may_miss=True)
    if is_number(reward.type):
        numbers = array(reward.cast(pa.float64()))
        listed += _strange(rows, name, numbers)
        if is_cost(name) and not layout.costs and (numbers > 0.0).any() and not (numbers < 0.0).any():
            remedy = f"say --reward=-{name}, or LogColumns(reward='-{name}'), if they are paid"
            listed.append(
                LogProblem(name, "looks like costs, but is read as rewards", 0, (), "", remedy, False)
            )
    return listed


def spellings(names: pa.Array, known: Collection[str] = ()) -> dict[str, str]:
    """Of names that differ only in case, spaces or Unicode form, the spelling to take, by each of the others.

    It is the one that is `known`, or else the commonest.
    """
    groups, wanted = defaultdict[str, list[tuple[int, str]]](list), {_plain(name): name for name in known}
    for one in names.value_counts():
        name = one["values"].as_py()
        if name is not None and name not in known:
            groups[_plain(name)].append((-one["counts"].as_py(), name))
    best = {name: wanted.get(plain, min(group)[1]) for plain, group in groups.items() for _, name in group}
    return {name: common for name, common in best.items() if name != common}


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _alike(rows: Rows, name: str, others: dict[str, str], values: pa.Array) -> list[LogProblem]:
    if not others:
        return []
    wrong = array(pc.is_in(values, value_set=pa.array(list(others), pa.string())))
    shown = ", ".join(f"{one!r} is {common!r}" for one, common in sorted(others.items())[:4])
    remedy = CLEANED + "each is the commonest of its spellings; as it is every spelling is a name of its own"
    return [_problem(rows, name, "names in other spellings", wrong, shown, remedy)]


def _strange(rows: Rows, name: str, numbers: AnyArray) -> list[LogProblem]:
    nothing = stands_for_nothing(numbers, sensor=name in rows.layout.seen)
    if nothing is None:
        return _outlying(rows, name, numbers)
    remedy = "if it stands for no value, leave these cells empty; as it is it is a number like others"
    wrong, example = numbers == nothing, f"{nothing:.12g}"
    problem = _problem(rows, name, "a number that looks like no value", wrong, example, remedy)
    return [problem, *_strange(rows, name, np.where(wrong, np.nan, numbers))]


def stands_for_nothing(numbers: AnyArray, *, sensor: bool = False) -> float | None:
    """The number by which these say that nothing was measured, if it looks as if there is one.

    It is the least or the largest, comes back, is one of those that programs write for it, and lies farther from all
    others than most of these from each other. A sensor's −1 is one where all others are positive, and not all whole.
    """
    known = numbers[np.isfinite(numbers)]
    for extreme in (known.min(), known.max()) if len(known) else ():
        if extreme not in NOTHING and not (sensor and extreme == -1.0):
            continue
        others = known[known != extreme]
        if (
            len(known) - len(others) < 2
            or len(others) < BOUNDS.rows
            or len(np.unique(others)) <= BOUNDS.kinds
        ):
            continue
        fractions = others.min() >= 0.0 and bool((others % 1.0).any())
        most = np.quantile(others, 0.99, method="lower") - np.quantile(others, 0.01, method="higher")
        apart = np.abs(others - extreme).min() > most
        if apart or (extreme == -1.0 and fractions):
            return float(extreme)
    return None


def _outlying(rows: Rows, name: str, numbers: AnyArray) -> list[LogProblem]:
    known = numbers[np.isfinite(numbers)]
    if len(known) < BOUNDS.rows:
        return []
    sizes, most = np.abs(known), max(1, int(BOUNDS.share * len(known)))
    # The others are within twice what is usual, which is quicker to see than what is usual.
    if np.count_nonzero(sizes * (BOUNDS.ratio / 2 - 1) <= sizes.max()) < len(known) - most:
        return []
    middle = float(np.median(known))
    far = np.abs(known - middle)
    largest = np.sort(np.partition(far, len(far) - most - 1)[-most - 1 :])
    usual = np.maximum(largest[:-1], abs(middle))
    places = np.flatnonzero((usual > 0.0) & (largest[1:] > BOUNDS.ratio * usual))
    if len(places) == 0:
        return []
    wrong = np.abs(numbers - middle) >= largest[places[0] + 1]
    example = f"{figure(numbers[int(np.argmax(wrong))], 4)} where the middle is {figure(middle, 4)}"
    remedy = "if they are errors, leave out these rows or leave their values empty"
    return [
        _problem(rows, name, "numbers far from all others", wrong & np.isfinite(numbers), example, remedy)
    ]


def _problem(rows: Rows, name: str, what: str, wrong: AnyArray, example: str, remedy: str) -> LogProblem:
    first = np.flatnonzero(wrong)
    places = tuple(rows.place(row) for row in first[:3]) if rows.layout.per_step else ()
    return LogProblem(name, what, len(first), places, example, remedy, False)


def observed_before(rows: Rows) -> float | None:
    """The evidence that rows, in whole episodes, show what was seen before their action; None if that is settled."""
    if rows.layout.first_observation or rows.layout.before:
        return None
    ends = rows.offsets[rows.offsets <= BOUNDS.steps]
    columns = [raw(rows.codes(name, may_miss=True)[: ends[-1]]) for name in rows.layout.observation]
    return order_evidence(raw(rows.actions()[: ends[-1]]), columns, ends)


def order_in_words(evidence: float) -> str:
    """What the evidence says of a log that was read as if observations came after the action of their row."""
    if abs(evidence) <= BOUNDS.evidence:
        return "after the action of their row, which these rows leave open"
    if evidence < 0:
        return f"after the action of their row, as the rows show by {-evidence:.0f} standard errors"
    return f"before the action of their row, as the rows show by {evidence:.0f} standard errors, but read as after it"


def order_problem(rows: Rows, evidence: float | None) -> list[LogProblem]:
    """One entry if rows look as if their observation was seen before their action."""
    if evidence is None or evidence <= BOUNDS.evidence:
        return []
    remedy = "say --observed before, or LogColumns(observed='before'); 'after' if that is right"
    what = f"observations were seen {order_in_words(evidence)}"
    return [LogProblem(rows.layout.observation[0], what, 0, (), "", remedy, False)]


def order_evidence(actions: AnyArray, columns: list[AnyArray], offsets: NDArray[np.int64]) -> float:
    """By how many standard errors rows are foreseen better if observations come before the action of their row.

    Two readings of the same rows are compared on held-out episodes. Before: the observation depends on the row above,
    the action on its own row's observation and the action above. After: the action depends on the row above, the
    observation on its own row's action and the observation above. Of several columns the clearest counts; 0 if no
    reading is clearly better than by chance.
    """
    episode = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    later = np.flatnonzero(np.diff(episode, prepend=-1) == 0)
    if len(offsets) < 9 or len(later) < 50:
        return 0.0
    taken, best = _kinds(actions), 0.0
    now, above, half = taken[later], taken[later - 1], episode[later] % 2
    for column in columns:
        seen = _kinds(column)
        shown, before = seen[later], seen[later - 1]
        ahead = _foreseen(shown, (before, above), half) + _foreseen(now, (shown, above), half)
        behind = _foreseen(now, (before, above), half) + _foreseen(shown, (before, now), half)
        totals = np.bincount(episode[later], ahead - behind, len(offsets) - 1)
        error = totals.std(ddof=1) * np.sqrt(len(totals))
        evidence = float(totals.sum() / error) if error > 0 else 0.0
        best = evidence if abs(evidence) > abs(best) else best
    return best


def _foreseen(what: AnyArray, by: tuple[AnyArray, AnyArray], half: AnyArray) -> NDArray[np.float64]:
    """Log-probability of every value given two others, from the other half of the episodes."""
    size = BOUNDS.kinds + 2
    context = (half * size + by[0]) * size + by[1]
    counts = np.bincount(context * size + what, minlength=2 * size**3).reshape(2, -1, size) + 0.5
    probs = counts / counts.sum(axis=2, keepdims=True)
    return np.asarray(np.log(probs[1 - half, context % size**2, what]))


def _kinds(values: AnyArray) -> NDArray[np.int64]:
    """Values by a few kinds: numbers by their quantiles, names by the commonest, missing ones together."""
    if values.dtype.kind in "iuf" and len(np.unique(values[:1000])) > BOUNDS.kinds:
        numbers = values.astype(np.float64)
        cuts = np.nanquantile(numbers, np.arange(1, BOUNDS.kinds) / BOUNDS.kinds)
        return np.where(np.isnan(numbers), BOUNDS.kinds + 1, np.searchsorted(cuts, numbers, side="right"))
    plain = values.astype(str) if values.dtype == object else values
    names, codes, counts = np.unique(plain, return_inverse=True, return_counts=True)
    places = np.full(len(names), BOUNDS.kinds, np.int64)
    common = np.argsort(-counts, kind="stable")[: BOUNDS.kinds]
    places[common] = np.arange(len(common))
    return np.asarray(places[codes])
