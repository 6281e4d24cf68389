"""What the learned policies look like: singular values, and episodes to watch."""

from __future__ import annotations

import numpy as np

from uqf.page.figures import Axis, Panel, drawing, legend
from uqf.page.parts import embedded
from uqf.paper import gridworld, spocman
from uqf.paper.cells import Row
from uqf.printable import escape
from uqf.types import Record

#: One colour per world where curves are worlds.
SPECTRUM_STYLES = {
    "gridworld-near": "one-step-belief",
    "gridworld-mid": "tpsr-fitted-q",
    "gridworld-far": "belief-q",
    "spocman": "cpsr-fitted-q",
}


def spectra(grid: list[Row], pacman: list[Row]) -> str:
    """Singular values of the Hankel matrices of UQF, one curve per world."""
    panels = []
    for index, (method, labels) in enumerate((("uqf", gridworld.LABELS), ("uqf-returns", gridworld.LABELS))):
        found: dict[str, list[float]] = {}
        for row in grid + pacman:
            if row.cell.method == method and row.cell.seed == 0 and row.result.get("singular_values"):
                found[row.cell.setting["world"]] = row.result["singular_values"]
        if not found:
            continue
        left = 75 + index * 520
        shares = {world: np.array(values) / values[0] for world, values in found.items()}
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
    if not panels:
        return ""
    figure = drawing(panels, 1040, 300, "spectra", "Singular values, falling")
    names = legend([(style, world) for world, style in SPECTRUM_STYLES.items()])
    return (
        "<h2>Singular values</h2><p>How fast they fall says how much there is to remember: directions beyond "
        "the bend are mostly noise. Seed 0, most training episodes.</p>"
        f'<div class="card">{figure}{names}</div>'
    )


def replays(grid: list[Row], pacman: list[Row]) -> str:
    """One card per recorded episode; of each world and method the one with most data."""
    shown: dict[str, tuple[str, Record]] = {}
    for row in grid + pacman:
        if "replay" in row.result:
            labels = spocman.LABELS if row.cell.experiment == spocman.EXPERIMENT else gridworld.LABELS
            title = f"{row.cell.setting['world']} · {labels[row.cell.method]}"
            # Later cells of a world have more data; the last one is shown.
            shown[title] = (title, row.result["replay"])
    if not shown:
        return ""
    cards = "".join(_replay(title, record) for title, record in shown.values())
    return (
        "<h2>Replays</h2><p>The first scoring episode of each learned policy, not a chosen one. Bars are "
        "what the policy thinks each action is worth just before it acts, from the worst to the best; the "
        f"action taken is coloured. <b>@</b> is the agent.</p>{cards}"
    )


def _replay(title: str, record: Record) -> str:
    frames = embedded({"actions": record["actions"], "frames": record["frames"]})
    speeds = "".join(
        f'<option value="{speed}"{" selected" * (speed == 4)}>{speed} steps / s</option>'
        for speed in (1, 2, 4, 10, 25)
    )
    wide = " wide" if record["world"] == "spocman" else ""
    return (
        f'<div class="card"><h3>{escape(title)}</h3><div class="replay{wide}">'
        f'{frames}<pre class="map"></pre><div><p class="status"></p><div class="bars"></div></div>'
        '<div class="controls"><button class="play">Play</button><button class="back">‹ Step</button>'
        '<button class="forward">Step ›</button><input type="range" min="0" value="0" aria-label="step">'
        f'<select aria-label="speed">{speeds}</select></div></div></div>'
    )
