"""The yardstick of accumulation, `count_pairs.rs`: compiled when first needed, kept running, timed by itself."""

import subprocess
from pathlib import Path

import numpy as np

import uqf

SOURCE = Path(__file__).parent / "count_pairs.rs"
PROGRAM = SOURCE.parent.parent / "build" / "count_pairs"


class CountPairs:
    """One counter incremented for every (prefix, suffix) pair of a data set, in a table of (dim, dim) counters."""

    def __init__(
        self, data: uqf.Trajectories, folder: Path, *, max_prefix: int, max_suffix: int, dim: int
    ) -> None:
        if not PROGRAM.exists() or PROGRAM.stat().st_mtime < SOURCE.stat().st_mtime:
            PROGRAM.parent.mkdir(exist_ok=True)
            subprocess.run(["rustc", "--edition", "2024", "-O", SOURCE, "-o", PROGRAM], check=True)
        numbers = np.concatenate([[len(data)], data.offsets, data.symbols]).astype("<u8")
        (folder / "symbols").write_bytes(numbers.tobytes())
        command = [PROGRAM, folder / "symbols", *map(str, (max_prefix, max_suffix, dim))]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def count(self) -> tuple[float, int]:
        """(seconds, sum of all counters) of one run. It has one thread, and of several runs the fastest counts."""
        self.process.stdin.write("\n")
        nanoseconds, total = self.process.stdout.readline().split()
        return int(nanoseconds) / 1e9, int(total)

    def close(self) -> None:
        """Ends the program."""
        self.process.stdin.close()
        self.process.wait()
