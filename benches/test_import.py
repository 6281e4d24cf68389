"""What `import uqf` costs beyond the import of numpy and scipy, in a fresh interpreter: at most 0.25 s."""

import subprocess
import sys

from race import Reference, race


def importing(names):
    return lambda: subprocess.run([sys.executable, "-c", f"import {names}"], check=True)


def test_import(benchmark):
    race(
        benchmark,
        importing("numpy, scipy, uqf"),
        [Reference("without uqf", importing("numpy, scipy"), "limit")],
        stage="import", case="numpy, scipy, uqf", amount=1, unit="imports", rounds=10,
    )  # fmt: skip
