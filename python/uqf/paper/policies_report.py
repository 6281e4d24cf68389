"""What the learned policies look like: singular values, and episodes to watch."""

from __future__ import annotations

import numpy as np

from uqf.page.figures import Axis, Drawing, Panel
from uqf.paper import gridworld, spocman
from uqf.paper.cells import Row
from uqf.types import Record

#: One colour per world where curves are worlds.
SPECTRUM_STYLES = {
    "gridworld-near": "one-step-belief",
    "gridworld-mid": "tpsr-fitted-q",
    "gridworld-far": "belief-q",
    "spocman": "cpsr-fitted-q",
}


def spectra(grid: list[Row], pacman: list[Row]) -> Drawing | None:
    """Singular values of the Hankel matrices of UQF, one curve per world; None if there are none."""
    panels = []
    for index, (method, labels) in enumerate((("uqf", gridworld.LABELS), ("uqf-returns", gridworld.LABELS))):
        spectra: dict[str, list[float]] = {}
        for row in grid + pacman:
            if row.cell.method == method and row.cell.seed == 0 and row.result.get("singular_values"):
                spectra[row.cell.setting["world"]] = row.result["singular_values"]
        if not spectra:
            continue
        left = 75 + index * 520
        shares = {world: np.array(values) / values[0] for world, values in spectra.items()}
        floor = max(1e-6, min(float(share[share > 0].min()) for share in shares.values()))
        longest = max(len(share) for share in shares.values())
        x = Axis(1, max(longest, 2), left, left + 420)
        panel = Panel(
            f"Hankel matrix of {labels[method]}",
            x,
            Axis(floor, 1.0, 250, 36, logarithmic=True),
            "number of the singular value",
            "" if index else "part of the largest",
        )
        for world, share in shares.items():
            points = [(k + 1.0, float(value), 0.0) for k, value in enumerate(share) if value >= floor]
            panel.line(points, SPECTRUM_STYLES[world], world)
        panels.append(panel)
    return Drawing(panels, 1040, 300, "spectra", "Singular values, falling") if panels else None


def replays(grid: list[Row], pacman: list[Row]) -> dict[str, Record]:
    """Recorded episodes by title; of each world and method the one with most data."""
    shown = {}
    for row in grid + pacman:
        if "replay" in row.result:
            labels = spocman.LABELS if row.cell.experiment == spocman.EXPERIMENT else gridworld.LABELS
            title = f"{row.cell.setting['world']} · {labels[row.cell.method]}"
            # Later cells of a world have more data; the last one is shown.
            shown[title] = row.result["replay"]
    return shown
