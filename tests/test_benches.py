"""The table of the benches and the guard over its ratios, on a small made-up run."""

import json

import check
import pytest
import table


def run_of(*benchmarks):
    return {
        "datetime": "2026-01-02T03:04:05",
        "machine_info": {
            "python_version": "3.11.2",
            "versions": {"uqf": "0.1.0"},
            "name": "a chip, AVX2",
        },
        "benchmarks": list(benchmarks),
    }


def bench(name, seconds, *references):
    listed = [
        {"name": reference, "kind": kind, "seconds": taken, "target": target}
        for reference, kind, taken, target in references
    ]
    info = {
        "stage": "second pass",
        "case": name,
        "amount": 1000,
        "unit": "steps",
        "statistic": "min",
        "references": listed,
    }
    stats = {"min": seconds, "median": 2 * seconds}
    return {"fullname": f"benches/test_x.py::test_{name}", "stats": stats, "extra_info": info}


RUN = run_of(
    bench("small", 0.5, ("BLAS", "limit", 0.25, 0.4), ("NumPy", "rival", 100.0, None)),
    bench("large", 2e-5, ("one thread", "self", 3e-5, 1.8)),
)


def test_one_row_for_every_reference():
    first, second, third = table.rows_of(RUN)
    assert (first.ratio, second.ratio) == (0.5, 200.0)
    assert third.ratio == pytest.approx(1.5)
    assert len({row.key for row in (first, second, third)}) == 3


def test_the_table_tells_ratios_shares_and_targets():
    header, rule, *lines = table.table_lines(table.rows_of(RUN))
    assert len({len(line) for line in (header, rule, *lines)}) == 1, "columns are aligned"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [line[2:4] for line in cells] == [["500 ms", "500 µs a step"]] * 2 + [["20 µs", "20 ns a step"]]
    assert [line[6:] for line in cells] == [["50 %", "40 % ✓"], ["200 ×", ""], ["1.5 ×", "1.8 × ✗"]]


def test_recording_replaces_the_table_and_keeps_the_rest(tmp_path, monkeypatch):
    page = tmp_path / "README.md"
    page.write_text(f"before\n{table.MARKS[0]}old\n{table.MARKS[1]}after\n")
    monkeypatch.setattr(table, "HERE", tmp_path)
    monkeypatch.setattr(table, "RECORDED", tmp_path / "recorded.json")
    table.record(RUN, table.rows_of(RUN))
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "2026-01-02, a chip, AVX2, Python 3.11.2, uqf 0.1.0." in text
    kept = json.loads((tmp_path / "recorded.json").read_text())["a chip, AVX2"]
    assert [row["ratio"] for row in kept["rows"]] == [0.5, 200.0, 1.5]


def test_what_a_run_could_not_measure_stays_recorded_while_its_benchmark_exists(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "HERE", tmp_path / "benches")
    monkeypatch.setattr(table, "RECORDED", tmp_path / "recorded.json")
    (tmp_path / "benches").mkdir()
    (tmp_path / "benches" / "README.md").write_text(f"{table.MARKS[0]}{table.MARKS[1]}")
    (tmp_path / "benches" / "test_old.py").write_text("def test_there(): ...")
    keys = [f"benches/test_old.py::{name}[1] | rival" for name in ("test_there", "test_gone")]
    rows = {"rows": [{"key": key, "ratio": 7.0} for key in keys]}
    table.RECORDED.write_text(json.dumps({"a chip, AVX2": rows, "another": rows}))
    table.record(RUN, table.rows_of(RUN))
    kept = json.loads(table.RECORDED.read_text())
    mine = kept["a chip, AVX2"]["rows"]
    assert {"key": keys[0], "ratio": 7.0} in mine and len(mine) == 4
    assert kept["another"] == rows, "runs of other machines stay"


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    path = tmp_path / "recorded.json"
    rows = [{"key": row.key, "ratio": row.ratio} for row in table.rows_of(RUN)]
    path.write_text(json.dumps({"a chip, AVX2": {"rows": rows}}))
    monkeypatch.setattr(table, "RECORDED", path)
    return tmp_path


def written(folder, run):
    path = folder / "run.json"
    path.write_text(json.dumps(run))
    return str(path)


def test_a_fifth_slower_passes(recorded, capsys):
    slower = run_of(bench("small", 0.6, ("BLAS", "limit", 0.25, None), ("NumPy", "rival", 100.0, None)))
    assert check.main(written(recorded, slower)) == 0
    assert "not measured: benches/test_x.py::test_large | one thread" in capsys.readouterr().out


@pytest.mark.parametrize(("again", "outcome"), [(0.7, 1), (0.5, 0)])
def test_a_ratio_that_stays_worse_fails(recorded, monkeypatch, capsys, again, outcome):
    """0.7 s instead of 0.5 s is 40 % worse; a second look that finds 0.5 s settles it."""
    asked = []

    def measure(benchmarks):
        asked.append(benchmarks)
        return table.rows_of(run_of(bench("small", again, ("BLAS", "limit", 0.25, None))))

    monkeypatch.setattr(check, "measure", measure)
    slower = run_of(bench("small", 0.7, ("BLAS", "limit", 0.25, None)))
    assert check.main(written(recorded, slower)) == outcome
    assert asked[0] == ["benches/test_x.py::test_small"]
    assert ("WORSE" in capsys.readouterr().out) == bool(outcome)


def test_a_new_row_is_not_worse(recorded):
    fresh = run_of(bench("new", 5.0, ("BLAS", "limit", 0.1, None)))
    assert check.main(written(recorded, fresh)) == 0


def test_a_run_of_another_machine_is_not_compared(recorded, capsys):
    slower = run_of(bench("small", 50.0, ("BLAS", "limit", 0.25, None)))
    slower["machine_info"]["name"] = "a chip, AVX-512"
    assert check.main(written(recorded, slower)) == 0
    assert "nothing is compared: no run on a chip, AVX-512 is recorded" in capsys.readouterr().out
