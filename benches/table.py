"""One table from a run of pytest-benchmark: our times, what stands beside them, and the ratios.

python benches/table.py RUN.json            prints it
python benches/table.py RUN.json --record   also writes recorded.json and the table in README.md
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDED = HERE / "recorded.json"
MARKS = ("<!-- table -->\n", "<!-- end of table -->\n")


@dataclass(frozen=True)
class Row:
    """A measured time beside a reference. `ratio` = reference / ours: more is better."""

    benchmark: str
    stage: str
    case: str
    seconds: float
    amount: float
    unit: str
    reference: str
    kind: str
    reference_seconds: float
    target: float | None

    @property
    def ratio(self) -> float:
        return self.reference_seconds / self.seconds

    @property
    def key(self) -> str:
        """What the row is called from run to run."""
        return f"{self.benchmark} | {self.reference}"


def rows_of(run: dict[str, Any]) -> list[Row]:
    """One row per benchmark and reference, in the order in which they ran."""
    rows = []
    for bench in run["benchmarks"]:
        info = bench["extra_info"]
        shared = {name: info[name] for name in ("stage", "case", "amount", "unit")}
        for reference in info["references"]:
            rows.append(
                Row(
                    benchmark=bench["fullname"],
                    seconds=bench["stats"][bench["extra_info"]["statistic"]],
                    reference=reference["name"],
                    kind=reference["kind"],
                    reference_seconds=reference["seconds"],
                    target=reference["target"],
                    **shared,
                )
            )
    return rows


def time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def ratio_text(row: Row, ratio: float) -> str:
    """Rivals and settings as a factor, limits as a share of what the machine can do."""
    if row.kind == "limit":
        return f"{100 * ratio:.3g} %"
    return f"{ratio:,.0f} ×" if ratio >= 100 else f"{ratio:.3g} ×"


def table_lines(rows: list[Row]) -> list[str]:
    """Markdown, aligned so that it also reads well in a terminal."""
    header = ["stage", "case", "ours", "per item", "beside", "takes", "ratio", "target"]
    cells = [header]
    for row in rows:
        target = "" if row.target is None else ratio_text(row, row.target)
        if row.target is not None:
            target += " ✓" if row.ratio >= row.target else " ✗"
        each = (
            "" if row.amount == 1 else f"{time_text(row.seconds / row.amount)} a {row.unit.removesuffix('s')}"
        )
        ours, theirs = time_text(row.seconds), time_text(row.reference_seconds)
        cells.append(
            [row.stage, row.case, ours, each, row.reference, theirs, ratio_text(row, row.ratio), target]
        )
    widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines


def circumstances(run: dict[str, Any]) -> str:
    """Machine, date and versions in one line."""
    machine = run["machine_info"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return f"{run['datetime'][:10]}, {machine['name']}, Python {machine['python_version']}, {versions}."


def recorded_ratios(machine: str) -> dict[str, float]:
    """What was recorded on a machine of this name: ratios depend on vectors, caches and the kernels of BLAS."""
    machines = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    return {row["key"]: row["ratio"] for row in machines.get(machine, {"rows": []})["rows"]}


def is_there(key: str) -> bool:
    """Whether the benchmark of a row still exists."""
    path, test = key.split(" | ")[0].split("::")
    file = HERE.parent / path
    return file.exists() and f"def {test.split('[')[0]}(" in file.read_text()


def record(run: dict[str, Any], rows: list[Row]) -> None:
    """Keeps the ratios for `check.py`, and the table for readers.

    What this run could not measure, such as rows beside a rival that is not installed, stays as it was recorded before;
    so do runs of other machines.
    """
    name = run["machine_info"]["name"]
    ratios = {key: ratio for key, ratio in recorded_ratios(name).items() if is_there(key)}
    ratios |= {row.key: float(f"{row.ratio:.4g}") for row in rows}
    machines = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    machines[name] = {
        "circumstances": circumstances(run),
        "rows": [{"key": key, "ratio": ratio} for key, ratio in ratios.items()],
    }
    RECORDED.write_text(json.dumps(machines, indent=1, ensure_ascii=False) + "\n")
    page = HERE / "README.md"
    before, rest = page.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    table = "\n".join([circumstances(run), "", *table_lines(rows)])
    page.write_text(f"{before}{MARKS[0]}{table}\n{MARKS[1]}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    run = json.loads(arguments.run.read_text())
    rows = rows_of(run)
    print("\n".join([circumstances(run), *table_lines(rows)]))
    if arguments.record:
        record(run, rows)


if __name__ == "__main__":
    main()
