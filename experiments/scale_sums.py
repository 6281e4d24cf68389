"""What it costs to add a day, and what travels between machines: ``python -m experiments.scale_sums``."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from uqf.evaluate import rollout
from uqf.learn.spectral.basis import Basis, Counting, Target
from uqf.learn.spectral.passes import OperatorSums, operator_sums
from uqf.learn.spectral.statistics import Statistics, first_pass
from uqf.reading.reader import Reader
from uqf.types import Raw, Record
from uqf.worlds.named import make

Result = TypeVar("Result")


def timed(work: Callable[..., Result], *arguments: Raw) -> tuple[Result, float]:
    """The result and the processor seconds that it took."""
    begin = time.process_time()
    result = work(*arguments)
    return result, time.process_time() - begin


def days(world: str, episodes: int, number: int = 4) -> Iterator[Record]:
    """So many days of so many episodes, added one after the other; processor seconds of all threads."""
    basis, target, env = Basis(projection="hashed"), Target("return", 0.95), make(world)
    total = Statistics.of(Reader(rollout(env, episodes=episodes)), basis, target)
    for day in range(1, number):
        data = rollout(env, episodes=episodes, first=day * episodes, threads=1)
        fresh, summing = timed(Statistics.of, Reader(data), basis, target)
        total, adding = timed(total.plus, fresh)
        _, learning = timed(total.state, 20)
        yield {
            "world": world,
            "day": day,
            "steps": data.n_steps,
            "symbols": len(total.tally.symbols),
            "summing s": round(summing, 3),
            "adding s": round(adding, 3),
            "learning s": round(learning, 3),
            "pickled MB": round(len(pickle.dumps(total)) / 1e6, 1),
        }


def parcels(world: str, episodes: int, dim: int, rank: int) -> Record:
    """Size of the sums that a worker sends, and the time to add two of them."""
    basis = Basis(projection="hashed", prefix_dim=dim, suffix_dim=dim)
    counting = Counting(basis, Target("return", 0.95), 1.0, None)
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(dim, rank)), rng.normal(size=(dim, rank))
    blocks = [rollout(make(world), episodes=episodes, seed=seed) for seed in (0, 1)]
    sizes: Record = {"world": world, "dimension": dim, "rank": rank}
    firsts: list[Statistics] = [first_pass(counting, 1, block) for block in blocks]
    seconds: list[OperatorSums] = [operator_sums(counting, *maps, 1, block) for block in blocks]
    for name, pair in (("first pass", firsts), ("second pass", seconds)):
        _, adding = timed(pair[0].plus, pair[1])
        sizes[f"{name} MB"] = round(len(pickle.dumps(pair[0])) / 1e6, 2)
        sizes[f"adding {name} ms"] = round(1e3 * adding, 1)
    return sizes


def main() -> None:
    """Prints all figures."""
    for row in (*days("gridworld-near", 12_500), *days("spocman", 3_000)):
        print(row)
    for dim, rank in ((200, 20), (200, 40), (800, 40)):
        print(parcels("spocman", 12_000, dim, rank))


if __name__ == "__main__":
    main()
