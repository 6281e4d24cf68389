"""`UQF` on a cluster of processes, one of which is killed in each of its passes: ``python -m experiments.cluster``."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import tempfile
import time
from pathlib import Path

import distributed

from experiments.scale import LEARNER, write_shards
from uqf.learn.uqf import UQF
from uqf.worlds.named import make

#: Stages in which the files are read.
PASSES = ("first pass", "second pass")


class Killer:
    """Kills a worker when a quarter of a pass is done."""

    def __init__(self, client: distributed.Client) -> None:
        self.client, self.killed = client, dict[str, int]()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self.killed and stage in PASSES and 4 * done >= total > 0:
            alive = set(self.client.run(os.getpid, on_error="ignore").values()) - set(self.killed.values())
            self.killed[stage] = min(alive)
            os.kill(self.killed[stage], signal.SIGKILL)


def fitted(folder: Path) -> tuple[bytes, float]:
    """(operators, seconds) of one process."""
    begin = time.perf_counter()
    learner = UQF(**LEARNER, threads=1).fit(folder)
    return learner.value_wfa_.operators.tobytes(), time.perf_counter() - begin


def main() -> None:
    """Prints the seconds of both ways, who was killed, and whether the bits are the same."""
    parser = argparse.ArgumentParser(prog="python -m experiments.cluster", description=__doc__)
    parser.add_argument("--steps", type=int, default=12_000_000)
    parser.add_argument("--workers", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = write_shards(make("gridworld-near"), folder, given.steps)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            alone, seconds = pool.apply(fitted, (folder,))
        print(f"{written:,} steps in {len(list(folder.iterdir()))} files; one process: {seconds:.1f} s")
        with (
            distributed.LocalCluster(
                given.workers, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            killer, begin = Killer(client), time.perf_counter()
            learner = UQF(**LEARNER, threads=1).fit(folder, executor=client, progress=killer)
            seconds = time.perf_counter() - begin
        same = learner.value_wfa_.operators.tobytes() == alone
        print(
            f"{given.workers} workers, killed in {' and '.join(killer.killed)}: {seconds:.1f} s; same bits: {same}"
        )


if __name__ == "__main__":
    main()
