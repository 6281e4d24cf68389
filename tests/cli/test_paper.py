"""The commands that run experiments."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from uqf.cli.commands import app
from uqf.paper import Store, gridworld, spocman
from uqf.paper.cells import code


def test_a_second_run_does_nothing_and_says_the_same(finished):
    folder, output = finished
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = CliRunner().invoke(app, ["demo", "--size", "smallest", "--out", str(folder)])
    for cells in (gridworld.GridWorld("smallest").cells(), spocman.SPocMan("smallest").cells()):
        assert f"{cells[0].experiment}: {len(cells)} cells, 0 run now" in again.output
    said, says = (
        [line for line in text.splitlines() if "run now" not in line] for text in (output, again.output)
    )
    assert says == said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_no_figure_is_cut_where_the_terminal_has_80_columns(finished):
    again = CliRunner().invoke(
        app, ["demo", "--size", "smallest", "--out", str(finished[0])], env={"COLUMNS": "80"}
    )
    assert "0." in again.output and "…" not in again.output


def test_machines_get_json_and_nothing_else(finished):
    run = CliRunner().invoke(
        app, ["reproduce", "spocman", "--size", "smallest", "--json", "--out", str(finished[0])]
    )
    answer = json.loads(run.stdout)
    assert set(answer) == {"spocman", "report"}
    assert answer["spocman"]["time_ratios"].keys() == {
        spocman.LABELS[method]
        for method in ("context-q", "belief-q", "spectral-q", "uqf", "uqf-returns", "uqf-start")
    }


def test_rows_of_other_code_are_pointed_out(finished, tmp_path):
    ran = (finished[0] / "spocman.jsonl").read_text()
    (tmp_path / "spocman.jsonl").write_text(ran.replace(code(), "older", 2))
    run = CliRunner().invoke(app, ["reproduce", "spocman", "--size", "smallest", "--out", str(tmp_path)])
    assert "2 of them were made by other code" in run.output
    assert "other code" not in finished[1]


INTERRUPTED = """
import os, signal, sys
from uqf.cli import entry
from uqf.paper import spocman

def work(self, cell):
    if cell.method != "random":
        os.kill(os.getpid(), signal.SIGINT)
    return {"return": 0.0, "stderr": 0.0, "seconds": None}

spocman.SPocMan.work = work
sys.argv = ["uqf", *sys.argv[1:]]
entry.main()
"""


def test_ctrl_c_keeps_finished_cells_and_says_how_to_go_on(tmp_path):
    command = ["reproduce", "spocman", "--size", "smallest", "--out", str(tmp_path)]
    run = subprocess.run([sys.executable, "-c", INTERRUPTED, *command], capture_output=True, text=True)
    assert run.returncode == 130
    assert f"uqf reproduce spocman --size smallest --out {tmp_path}" in run.stderr
    assert [row.cell.method for row in Store(tmp_path, "spocman").rows()] == ["random"]


def test_chosen_methods_run_into_the_same_folder(tmp_path):
    def reproduce(*more):
        return CliRunner().invoke(
            app, ["reproduce", "gridworld", "--size", "smallest", "--out", str(tmp_path), *more]
        )

    for methods in (["random"], ["uqf", "spectral-q"]):
        run = reproduce(*(word for method in methods for word in ("--only", method)))
        assert run.exit_code == 0
    assert "9 cells, 6 run now, 3 found finished" in run.output
    rows = Store(tmp_path, "gridworld").rows()
    assert [row.cell.method for row in rows] == ["random"] * 3 + ["spectral-q", "uqf"] * 3
    wrong = reproduce("--only", "chess")
    assert wrong.exit_code == 2
    assert "'chess' is not one of" in wrong.output


@pytest.mark.parametrize("size", ["demo", "full"])
def test_quick_methods_see_ten_seeds_and_slow_ones_enough_for_an_error(size):
    for experiment in (gridworld.GridWorld(size), spocman.SPocMan(size)):
        seeds = {}
        for cell in experiment.cells():
            if "learner" in cell.setting:
                seeds.setdefault(cell.method, set()).add(cell.seed)
        quick = {method for method in seeds if method in ("uqf", "spectral-q", "memoryless", "context-q")}
        assert all(seeds[method] == set(range(10)) for method in quick)
        # In the grid world a fit of BeliefQ takes thirty times as long as one of UQF, and the demo two minutes.
        assert seeds["belief-q"] >= set(range(4 if size == "demo" else 10))
        assert {0, 1} <= seeds["cpsr-fitted-q"] < seeds["uqf"]


def test_the_tables_say_how_many_seeds_there_were(finished):
    assert "over 1 seeds" in finished[1] and "CPU" in finished[1]


def test_unknown_experiments_are_refused():
    assert CliRunner().invoke(app, ["reproduce", "chess"]).exit_code == 2
