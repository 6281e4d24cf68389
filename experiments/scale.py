"""How time and memory grow: ``python -m experiments.scale --help``. The figures of docs/scale.md come from here."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from uqf.evaluate import rollout
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.fit import fit
from uqf.learn.learner import Learner
from uqf.learn.uqf import UQF
from uqf.types import Raw, Record
from uqf.worlds.environments import Environment, TabularPOMDP
from uqf.worlds.named import make

#: Steps in a file, about.
SHARD_STEPS = 1_000_000

#: The learner whose cost is measured; the curves change one of these at a time.
LEARNER: Record = {
    "target": "return",
    "rank": 20,
    "projection": "hashed",
    "prefix_dim": 200,
    "suffix_dim": 200,
    "max_prefix": 3,
    "max_suffix": 3,
}


@dataclass(frozen=True)
class Cost:
    """What one fit took, in a process of its own."""

    curve: str
    value: int
    steps: int
    seen_symbols: int
    seconds: float
    cpu_seconds: float
    """Of all threads; what is left of `seconds` on a machine that others use as well."""
    peak_megabytes: float
    """Of the process, the interpreter and all libraries included."""

    @property
    def nanoseconds_per_step(self) -> float:
        return 1e9 * self.cpu_seconds / self.steps


def random_world(n_observations: int, seed: int = 0) -> TabularPOMDP:
    """Ten states, four actions, and as many observations as wished: a world to vary the number of symbols with."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(10), size=(4, 10)), rng.dirichlet(np.ones(n_observations), size=(4, 10))
    return TabularPOMDP(*rows, rng.normal(size=(4, 10)), np.full(10, 0.1), 0.95, horizon=100)


def write_shards(env: Environment, folder: Path, steps: int, *, shard_steps: int = SHARD_STEPS) -> int:
    """Files of random play, about `steps` steps altogether; the number that it became."""
    length = rollout(env, episodes=1000, seed=1).n_steps / 1000
    episodes = max(1, round(min(steps, shard_steps) / length))
    written = first = 0
    while written < steps:
        data = rollout(env, episodes=episodes, first=first, seed=0)
        data.to_parquet(folder / f"{first:012d}.parquet")
        written, first = written + data.n_steps, first + episodes
    return written


def fit_cost(curve: str, value: int, folder: Path, threads: int | None, options: Record) -> Cost:
    """Fits `UQF` to a folder in this process; call it in a fresh one, since memory never shrinks."""
    return clocked(curve, value, lambda: UQF(**(LEARNER | options), threads=threads).fit(folder))


def learner_cost(name: str, discount: float, steps: int, folder: Path, threads: int | None) -> Cost:
    """The same for a learner with its default settings, or for `uqf.fit`, which uses all processors."""
    if name == "UQF":
        return fit_cost(name, steps, folder, threads, {})
    if name == "fit":
        return clocked(name, steps, lambda: fit(folder, discount=discount))
    return clocked(name, steps, lambda: BeliefQ(discount, threads=threads).fit(folder))


def clocked(curve: str, value: int, work: Callable[[], Learner]) -> Cost:
    """What a fit costs."""
    import uqf.reading.parquet_shards  # noqa: F401  (loaded before the clock starts)

    begin, worked = time.perf_counter(), time.process_time()
    diagnostics = work().diagnostics_
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - worked
    seen = diagnostics.get("seen_symbols", 0)
    return Cost(curve, value, diagnostics["steps"], seen, seconds, cpu_seconds, peak_megabytes())


def peak_megabytes() -> float:
    """The most memory that this process has had resident (Linux).

    Not `resource.getrusage`: there a new process begins with the peak of the one that started it.
    """
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def measure(curve: str, value: int, folder: Path, threads: int | None, **options: Raw) -> Cost:
    """`fit_cost` in processes of their own, the better of two."""
    costs = []
    for _ in range(2):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            costs.append(pool.submit(fit_cost, curve, value, folder, threads, options).result())
    return min(costs, key=lambda cost: cost.cpu_seconds)


def curves(steps: int, threads: int | None) -> Iterator[Cost]:
    """One thing varied at a time around `LEARNER`: steps, rank, dimension, symbols."""
    grid = make("gridworld-near")
    for size in np.unique(np.geomspace(steps / 100, steps, 5).round().astype(int)).tolist():
        with tempfile.TemporaryDirectory() as name:
            write_shards(grid, Path(name), size)
            yield measure("steps", size, Path(name), threads)
    with tempfile.TemporaryDirectory() as name:
        write_shards(grid, Path(name), steps // 5)
        for rank in (5, 10, 20, 40, 60):
            yield measure("rank", rank, Path(name), threads, rank=rank)
        for dim in (100, 200, 400, 800):
            yield measure("dimension", dim, Path(name), threads, prefix_dim=dim, suffix_dim=dim)
    for n_observations in (4, 16, 64, 256):
        with tempfile.TemporaryDirectory() as name:
            write_shards(random_world(n_observations), Path(name), steps // 5)
            yield measure("symbols", 4 * n_observations, Path(name), threads)


def table(costs: Sequence[Cost]) -> str:
    """The figures as Markdown."""
    lines = ["| varied | value | steps | seen symbols | seconds | CPU seconds | CPU ns/step | peak MB |"]
    lines += ["|---" * 8 + "|"]
    lines += [
        f"| {cost.curve} | {cost.value:,} | {cost.steps:,} | {cost.seen_symbols} | {cost.seconds:.2f} | "
        f"{cost.cpu_seconds:.2f} | {cost.nanoseconds_per_step:.0f} | {cost.peak_megabytes:.0f} |"
        for cost in costs
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures and prints a table, and the raw figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m experiments.scale", description=__doc__)
    parser.add_argument("what", choices=("curves", "folder"), help="all curves, or a single fit to a folder")
    parser.add_argument("--steps", type=int, default=10_000_000, help="steps of the largest data set")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--learner", choices=("UQF", "BeliefQ", "fit"), default="UQF", help="for `folder`")
    parser.add_argument("--world", default="gridworld-near", help="for `folder`")
    parser.add_argument(
        "--scratch", type=Path, help="where the shards of `folder` go; a temporary folder by default"
    )
    given = parser.parse_args()
    if given.what == "curves":
        costs = list(curves(given.steps, given.threads))
    else:
        with tempfile.TemporaryDirectory(dir=given.scratch) as name:
            begin, world = time.perf_counter(), make(given.world)
            written = write_shards(world, Path(name), given.steps)
            size = sum(file.stat().st_size for file in Path(name).iterdir())
            print(f"{written:,} steps, {size / 1e6:.0f} MB written in {time.perf_counter() - begin:.0f} s")
            fresh = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=fresh) as pool:
                measured = (given.learner, world.discount, given.steps, Path(name), given.threads)
                costs = [pool.submit(learner_cost, *measured).result()]
    print(table(costs))
    print(json.dumps([asdict(cost) for cost in costs]))


if __name__ == "__main__":
    main()
