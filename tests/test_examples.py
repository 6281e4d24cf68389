"""The examples run as they stand: programs, and notebooks, whose cells also check what they show."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
EXECUTE = EXAMPLES / "execute.py"

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def run(folder, *arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("example", sorted({*EXAMPLES.glob("*.py")} - {EXECUTE}), ids=lambda path: path.name)
def test_examples_run(tmp_path, example):
    ended = run(tmp_path, example)
    assert ended.returncode == 0, ended.stderr
    assert "mean return" in ended.stdout


@every_notebook
def test_notebooks_run(tmp_path, path):
    ended = run(tmp_path, EXECUTE, path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_the_command_of_the_first_notebook_writes_the_page_as_it_is_printed(tmp_path):
    cells = ["".join(cell["source"]) for cell in json.loads(NOTEBOOKS[0].read_text())["cells"]]
    (command,) = [cell.split("```sh\nuqf ")[1].split("```")[0] for cell in cells if "```sh\nuqf " in cell]
    (log,) = [cell for cell in cells if 'open("maintenance.csv", "w"' in cell]
    (tmp_path / "log.py").write_text(f"{cells[1]}\n{log}")
    assert run(tmp_path, "log.py").returncode == 0
    ended = run(tmp_path, "-m", "uqf", *shlex.split(command.replace("\\\n", " ")))
    assert ended.returncode == 0, ended.stderr
    assert "How it decides" in (tmp_path / "maintenance.html").read_text()


@every_notebook
def test_notebooks_explain_check_and_draw(path):
    notebook = json.loads(path.read_text())
    cells = notebook["cells"]
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert cells[0]["cell_type"] == "markdown" and cells[0]["source"][0].startswith("# ")
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sum("assert " in one for one in code) >= 2
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs), "run examples/execute.py --keep"
    assert not any(output["output_type"] == "error" for output in outputs)
    assert path.stat().st_size < 400_000


def test_keeping_stores_what_was_printed_and_drawn(tmp_path):
    source = "import matplotlib.pyplot as plt\nprint('seen')\nplt.plot([1, 2])\nplt.show()"
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title"]},
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "b",
            "metadata": {},
            "outputs": [],
            "source": [source],
        },
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "small.ipynb"
    path.write_text(json.dumps(notebook))
    assert run(tmp_path, EXECUTE, path).returncode == 0
    assert json.loads(path.read_text()) == notebook, "without --keep nothing changes"
    assert run(tmp_path, EXECUTE, path, "--keep").returncode == 0
    printed, drawn = json.loads(path.read_text())["cells"][1]["outputs"]
    assert printed["text"] == ["seen\n"]
    assert drawn["data"]["image/png"].startswith("iVBOR")


def test_a_failing_cell_is_named(tmp_path):
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "a",
        "metadata": {},
        "outputs": [],
        "source": ["1 / 0"],
    }
    (tmp_path / "broken.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    ended = run(tmp_path, EXECUTE, tmp_path / "broken.ipynb")
    assert ended.returncode != 0
    assert "broken.ipynb, cell 0" in ended.stderr and "ZeroDivisionError" in ended.stderr
