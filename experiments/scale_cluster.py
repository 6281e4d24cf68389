"""A fit on a cluster of processes, two of which are killed on the way: ``python -m experiments.scale_cluster``."""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path

import distributed

from experiments.scale import LEARNER, write_shards
from uqf.learn.uqf import UQF
from uqf.worlds.named import make


def main() -> None:
    """Fits alone, on the cluster, and on the cluster while workers die; says whether the bits are the same."""
    parser = argparse.ArgumentParser(prog="python -m experiments.scale_cluster", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--shard-steps", type=int, default=500_000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--killed", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        steps = write_shards(make("gridworld-near"), folder, given.steps, shard_steps=given.shard_steps)
        print(f"{steps:,} steps in {len(list(folder.iterdir()))} files, {given.workers} workers")
        alone = fitted(folder, "alone", None, 0)
        with (
            distributed.LocalCluster(
                given.workers, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            for killed in (0, given.killed):
                same = fitted(folder, f"cluster, {killed} killed", client, killed) == alone
                print(f"  the same bits: {same}")


def fitted(folder: Path, name: str, client: distributed.Client | None, killed: int) -> bytes:
    """The operators of a fit; while it runs so many workers are killed, one after every third shard."""
    victims = sorted(client.run(os.getpid).values())[:killed] if client else []
    seen = set()

    def progress(stage: str, done: int, total: int) -> None:
        seen.add((stage, done))
        if victims and len(seen) % 3 == 0:
            os.kill(victims.pop(), signal.SIGKILL)

    begin = time.perf_counter()
    learner = UQF(**LEARNER, threads=1).fit(folder, executor=client, progress=progress)
    print(f"{name}: {time.perf_counter() - begin:.1f} s, {killed - len(victims)} workers killed")
    return learner.value_wfa_.operators.tobytes()


if __name__ == "__main__":
    main()
