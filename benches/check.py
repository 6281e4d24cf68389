"""Compares the ratios of a run with the recorded ones: `python benches/check.py RUN.json`.

Only runs of a machine with the same processor, vectors, cache and BLAS kernels are compared. A ratio is worse when it
fell by more than a quarter of its recorded value. Those are measured again, twice at most, and the best counts: other
people's work on the machine slows rounds down, and seldom all of them. Fails when one stays worse.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from table import Row, recorded_ratios, rows_of

#: A ratio below this share of the recorded one is worse: time × 1.25.
WORSE = 1 / 1.25
AGAIN = 2


def worse_rows(rows: list[Row], recorded: dict[str, float]) -> list[Row]:
    """Rows whose ratio is worse than recorded; rows that were never recorded are new, not worse."""
    return [row for row in rows if row.ratio < WORSE * recorded.get(row.key, 0.0)]


def measure(benchmarks: list[str]) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--benchmark-only",
            f"--benchmark-json={path}",
            *benchmarks,
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return rows_of(json.loads(path.read_text()))


def main(path: str) -> int:
    run = json.loads(Path(path).read_text())
    rows, machine = rows_of(run), run["machine_info"]["name"]
    recorded = recorded_ratios(machine)
    if not recorded:
        print(f"nothing is compared: no run on {machine} is recorded; make bench-record does")
    worse = worse_rows(rows, recorded)
    for _ in range(AGAIN):
        if worse:
            print(f"measuring again: {len(worse)} ratios look worse", flush=True)
            keys = {row.key for row in worse}
            again = [row for row in measure(sorted({row.benchmark for row in worse})) if row.key in keys]
            worse = worse_rows(again, recorded)
    for row in worse:
        print(f"WORSE  {row.key}: ratio {row.ratio:.3g}, recorded {recorded[row.key]:.3g}")
    for key in sorted(recorded.keys() - {row.key for row in rows}):
        print(f"not measured: {key}")
    print(f"{len(rows)} ratios, {len(worse)} worse than recorded by more than 25 %")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
