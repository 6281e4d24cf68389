import json
import multiprocessing
from operator import attrgetter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from uqf.paper import Cell, Store

CELLS = [Cell("trial", method, {"world": "w", "episodes": n}, 0) for n in (1, 2) for method in ("a", "b")]


def result_of(cell):
    return {"return": float(cell.setting["episodes"]), "frames": ["é\n", "</script>"]}


def test_a_finished_cell_is_never_run_again(tmp_path):
    ran = []

    def work(cell):
        ran.append(cell.key)
        return result_of(cell)

    assert Store(tmp_path, "trial").run(CELLS, work) == 4
    assert Store(tmp_path, "trial").run(reversed(CELLS), work) == 0
    assert ran == [cell.key for cell in CELLS]


def test_several_processes_give_what_one_gives(tmp_path):
    one, two = Store(tmp_path / "one", "trial"), Store(tmp_path / "two", "trial")
    shown = []
    assert (
        one.run(CELLS, attrgetter("setting")) == two.run(CELLS, attrgetter("setting"), shown.append, 2) == 4
    )
    assert sorted(cell.key for cell in shown) == sorted(cell.key for cell in CELLS)
    assert [row.result for row in one.finished(CELLS)] == [row.result for row in two.finished(CELLS)]


def test_settings_are_compared_by_content_not_by_order():
    swapped = Cell("trial", "a", {"episodes": 1, "world": "w"}, 0)
    assert swapped.key == CELLS[0].key
    assert len({cell.key for cell in CELLS} | {Cell("trial", "a", CELLS[0].setting, 1).key}) == 5


def test_an_interrupted_run_loses_only_the_cell_it_was_in(tmp_path):
    store = Store(tmp_path, "trial")

    def interrupted(cell):
        if cell == CELLS[2]:
            raise KeyboardInterrupt
        return result_of(cell)

    with pytest.raises(KeyboardInterrupt):
        store.run(CELLS, interrupted)
    assert [row.cell for row in store.rows()] == CELLS[:2]
    assert store.run(CELLS, result_of) == 2
    assert [row.result for row in store.finished(CELLS)] == [result_of(cell) for cell in CELLS]


@pytest.mark.parametrize("kept", [1, 40, -1])
def test_a_line_cut_short_by_a_crash_is_dropped_and_run_again(tmp_path, kept):
    store = Store(tmp_path, "trial")
    store.run(CELLS[:1], result_of)
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + whole[:kept])
    assert len(store.rows()) == 1
    assert store.run(CELLS, result_of) == 3
    assert [row.cell for row in store.rows()] == CELLS


def test_rows_say_where_they_come_from(tmp_path):
    store = Store(tmp_path, "trial")
    store.run(CELLS, result_of)
    assert {"uqf", "numpy", "python", "machine", "processor", "cores", "time"} <= set(store.rows()[0].origin)


def _write(folder, seed):
    cells = [Cell("trial", "a", {"world": "w" * 5000}, 100 * seed + number) for number in range(40)]
    Store(folder, "trial").run(cells, lambda cell: {"seed": cell.seed})


def test_runs_that_share_a_folder_lose_no_line(tmp_path):
    (tmp_path / "trial.jsonl").write_bytes(b"cut short by a crash")
    writers = [
        multiprocessing.get_context("fork").Process(target=_write, args=(tmp_path, n)) for n in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    found = sorted(row.result["seed"] for row in Store(tmp_path, "trial").rows())
    assert found == [100 * seed + number for seed in range(4) for number in range(40)]


@given(st.integers(0, 3), st.binary(max_size=30))
def test_a_damaged_line_is_named_with_its_file(tmp_path_factory, place, damage):
    store = Store(tmp_path_factory.mktemp("cells"), "trial")
    store.run(CELLS, result_of)
    lines = store.path.read_bytes().split(b"\n")
    lines[place] = lines[place][: len(lines[place]) // 2] + damage
    assume(b"\n" not in damage and not _is_json(lines[place]))
    store.path.write_bytes(b"\n".join(lines))
    with pytest.raises(uqf.FileFormatError) as caught:
        store.rows()
    assert str(caught.value).startswith(f"{store.path}, line {place + 1}: ")


def _is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
