"""Runs notebooks without Jupyter: python examples/execute.py examples/*.ipynb

Code cells run in order in one namespace, and write files to the current folder. With --keep, what cells print and draw
is stored in the notebook, so that readers see it without running anything.
"""

import argparse
import base64
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

#: Figures are stored at this many dots per inch: sharp enough, and small.
DOTS = 80


def execute(notebook: dict[str, Any], name: str) -> None:
    """Runs all code cells, and replaces their outputs."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            code = compile("".join(cell["source"]), f"{name}, cell {number}", "exec")
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(code, namespace)
            cell["outputs"] = text(printed.getvalue()) + [figure(one) for one in plt.get_fignums()]
            plt.close("all")


def text(printed: str) -> list[dict[str, Any]]:
    """What was printed, as an output of a cell."""
    lines = printed.splitlines(keepends=True)
    return [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []


def figure(number: int) -> dict[str, Any]:
    """A figure as an output of a cell."""
    image = io.BytesIO()
    # Without the version of matplotlib in the file, the same picture has the same bytes.
    plt.figure(number).savefig(image, dpi=DOTS, metadata={"Software": None})
    data = {"image/png": base64.b64encode(image.getvalue()).decode(), "text/plain": ["<figure>"]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def main() -> None:
    """Executes the notebooks that are named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", type=Path, nargs="+")
    parser.add_argument("--keep", action="store_true", help="write the outputs into the notebooks")
    arguments = parser.parse_args()
    for path in arguments.notebooks:
        notebook = json.loads(path.read_text())
        execute(notebook, path.name)
        if arguments.keep:
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
