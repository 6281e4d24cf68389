"""``python -m experiments TABLE``: one runner for all tables.

Results go to ``OUT/TABLE.jsonl``, one line for every (world, method, seed), and are never made again: an interrupted
run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

import uqf
from experiments.methods import METHODS
from experiments.tables import TABLES
from experiments.worlds import Trial, World, pomdp_files, world
from uqf.learn.learner import Learner
from uqf.paper.cells import Cell, Result, Row, Store, code
from uqf.paper.contest import mean_and_error


def cells_of(table: str, worlds: Sequence[World], methods: Sequence[str], seeds: range) -> list[Cell]:
    """The methods of a log follow each other: they share it."""
    return [
        Cell(table, method, one.setting, seed)
        for one in worlds
        for seed in seeds
        for method in methods
        if METHODS[method].suits(one)
    ]


def result(trial: Trial, name: str) -> Result:
    """What a method earns, the CPU seconds of its learning, and the learner that `uqf.fit` took."""
    method = METHODS[name]
    if not method.plays:
        _ = trial.data  # played before the clock starts
    begin = time.process_time()
    learned = method.learn(trial)
    seconds = time.process_time() - begin
    if learned is not None and hasattr(learned, "score_in"):
        earned = learned.score_in(trial)
    elif isinstance(learned, uqf.Played):
        earned = trial.score(learned.policy, learned.env)
    elif isinstance(learned, uqf.PolicyIteration):
        earned = trial.score(learned.policy)
    else:
        earned = trial.score(learned.policy_ if isinstance(learned, Learner) else learned)
    chosen = {"learner": type(learned).__name__} if name == "uqf.fit" else {}
    return {"return": earned, "cpu_seconds": seconds, **chosen}


def lines(one: World, rows: Sequence[Row]) -> Iterator[str]:
    """The results of a world as text: mean ± standard error, the worst, the number of logs, CPU seconds."""
    yield f"{'method':40} {'return':>18} {'worst':>9} {'logs':>5} {'CPU s':>8}"
    for method in dict.fromkeys(row.cell.method for row in rows):
        results = [row.result for row in rows if row.cell.method == method]
        returns = np.array([each["return"] for each in results])
        seconds = np.mean([each["cpu_seconds"] for each in results])
        mean, error = mean_and_error(returns)
        text = f"{mean:.4g} ± {'–' if np.isnan(error) else f'{error:.2g}'}"
        shown = f"{method:40} {text:>18} {returns.min():9.4g} {len(results):5} {seconds:8.2g}"
        if one.bounds is not None:
            chance, best = one.bounds
            shown += f"   normalised {(mean - chance) / (best - chance):.3f} ± {error / (best - chance):.3f}"
        yield shown
        taken = Counter(each["learner"] for each in results if "learner" in each)
        if taken:
            yield "  took " + ", ".join(f"{learner} ({count})" for learner, count in taken.most_common())


def seeds_of(text: str) -> range:
    """``10`` is the first ten; ``9900-9909`` is from the first to the last."""
    first, dash, last = text.partition("-")
    seeds = range(int(first), int(last) + 1) if dash else range(int(first))
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number of seeds, or first-last such as 9900-9909")
    return seeds


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What was typed."""
    about = "\n".join(f"  {name:10} {table.about}" for name, table in TABLES.items())
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=f"{__doc__}\ntables:\n{about}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", choices=TABLES, metavar="TABLE")
    parser.add_argument("--worlds", nargs="+", metavar="NAME", help="instead of those of the table")
    parser.add_argument("--methods", nargs="+", metavar="NAME", choices=METHODS, help="the same")
    parser.add_argument("--seeds", type=seeds_of, default=range(3), help="how many, or 9900-9909; default 3")
    parser.add_argument("--pomdp", type=Path, metavar="FOLDER", help="where .pomdp files are")
    parser.add_argument("--out", type=Path, default=Path("results"), help="where results are kept")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> None:
    """Runs what is missing of a table and prints it, world by world."""
    options = arguments(given)
    table, store = TABLES[options.table], Store(options.out, options.table)
    names = options.worlds or (*table.worlds, *(table.files if options.pomdp else ()))
    if not names:
        if options.pomdp is None:
            raise ValueError(f"{options.table} needs --pomdp FOLDER: its worlds are .pomdp files")
        names = pomdp_files(options.pomdp)
    # Worlds of a table are not files, even if a file has the same name.
    worlds = [world(name, None if name in table.worlds else options.pomdp) for name in names]
    methods, trials = options.methods or table.methods, lru_cache(1)(Trial)
    for one in worlds:
        cells = cells_of(options.table, [one], methods, options.seeds)
        store.run(
            cells,
            lambda cell, one=one: result(trials(one, cell.seed), cell.method),  # type: ignore[misc]
            lambda cell: print(f"… {cell.method}, seed {cell.seed}", file=sys.stderr),
        )
        rows = store.finished(cells)
        print(f"\n{one.name}: {one.episodes:,} episodes", *lines(one, rows), sep="\n", flush=True)
        older = sum(row.origin.get("code") != code() for row in rows)
        if older:
            print(f"{older} results were made by other code; remove {store.path} to make them again")


if __name__ == "__main__":
    main()
