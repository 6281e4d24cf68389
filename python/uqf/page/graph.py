"""A graph on a circle: nodes cannot cover each other, and neither can their labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from uqf.page.labels import shortened, spread
from uqf.printable import escape

#: Sizes in pixels: the circle that nodes lie on, the height and width of two lines of a label, the largest node.
MAX_RADIUS, LABEL, LABEL_WIDTH, LARGEST_NODE = 190.0, 36.0, 220.0, 26.0


@dataclass(frozen=True)
class Node:
    """A node: the letter in it, two lines beside it, its share of all (the area), how good it is (−1 to 1)."""

    letter: str
    title: str
    note: str
    share: float
    tone: float
    words: str
    """For the pointer."""


@dataclass(frozen=True)
class Edge:
    """An arrow from the node with one number to that with another; a loop is drawn as a ring."""

    start: int
    end: int
    share: float


def graph(nodes: Sequence[Node], layers: Mapping[str, Sequence[Edge]], name: str, words: str) -> str:
    """An SVG element. Every layer of edges is a group with `data-layer`; all but the first are hidden."""
    # Few nodes need little room.
    circle = min(MAX_RADIUS, 60.0 + 12.0 * len(nodes))
    half = max(circle + 50.0, LABEL * math.ceil(len(nodes) / 2) / 2 + 24)
    # Labels begin beyond every node and its ring.
    edge = circle + LARGEST_NODE + 30.0
    centre = (edge + LABEL_WIDTH, half)
    places = []
    for number in range(len(nodes)):
        # Half a step off the top, so that as many lie on either side.
        angle = -math.pi / 2 + 2 * math.pi * (number + 0.5) / len(nodes)
        places.append((centre[0] + circle * math.cos(angle), centre[1] + circle * math.sin(angle)))
    chord = 2 * circle * math.sin(math.pi / max(len(nodes), 2))
    largest = max((node.share for node in nodes), default=1.0)
    radii = [max(9.0, min(LARGEST_NODE, chord / 2.6) * math.sqrt(node.share / largest)) for node in nodes]
    parts = [
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0.5 L8,4 L0,7.5 Z"/></marker></defs>'
    ]
    for number, (layer, edges) in enumerate(layers.items()):
        drawn = "".join(_edge(edge, places, radii, centre) for edge in edges)
        hidden = ' style="display:none"' if number else ""
        parts.append(f'<g class="layer" data-layer="{escape(layer)}"{hidden}>{drawn}</g>')
    parts += _labels(nodes, places, radii, centre, edge)
    for node, (px, py), radius in zip(nodes, places, radii, strict=True):
        tone = "good" if node.tone >= 0 else "bad"
        parts.append(
            f'<g class="node"><title>{escape(node.words)}</title><circle class="ground" cx="{px:.1f}" cy="{py:.1f}" '
            f'r="{radius:.1f}"/><circle class="{tone}" cx="{px:.1f}" cy="{py:.1f}" r="{radius:.1f}" '
            f'fill-opacity="{0.15 + 0.75 * min(abs(node.tone), 1.0):.2f}"/>'
            f'<text x="{px:.1f}" y="{py + 4:.1f}" text-anchor="middle">{escape(node.letter)}</text></g>'
        )
    return (
        f'<svg id="{name}" class="graph" style="--wide:{2 * centre[0]:g}px" role="img" aria-label="{escape(words)}" '
        f'viewBox="0 0 {2 * centre[0]:g} {2 * half:g}">'
        f"{''.join(parts)}</svg>"
    )


def _labels(
    nodes: Sequence[Node],
    places: list[tuple[float, float]],
    radii: list[float],
    centre: tuple[float, float],
    edge: float,
) -> list[str]:
    parts = []
    for right in (True, False):
        side = [number for number, (px, _) in enumerate(places) if (px >= centre[0]) == right]
        heights = spread([places[number][1] for number in side], LABEL, LABEL / 2, 2 * centre[1] - LABEL / 2)
        for number, height in zip(side, heights, strict=True):
            px, py = places[number]
            towards = 1.0 if right else -1.0
            border = centre[0] + towards * edge
            begin = px + towards * (radii[number] + 3)
            anchor = "start" if right else "end"
            parts.append(
                f'<polyline class="leader" points="{begin:.1f},{py:.1f} {border - towards * 22:.1f},{height:.1f} '
                f'{border - towards * 5:.1f},{height:.1f}"/>'
            )
            for line, words, style in (
                (-3.0, nodes[number].title, "label"),
                (12.0, nodes[number].note, "note"),
            ):
                short = escape(shortened(words, LABEL_WIDTH - 4))
                parts.append(
                    f'<text class="{style}" x="{border:.1f}" y="{height + line:.1f}" text-anchor="{anchor}">'
                    f"{short}</text>"
                )
    return parts


def _edge(
    edge: Edge, places: list[tuple[float, float]], radii: list[float], centre: tuple[float, float]
) -> str:
    (x1, y1), radius = places[edge.start], radii[edge.start]
    width = 0.8 + 4.2 * edge.share
    opacity = 0.35 + 0.55 * edge.share
    if edge.start == edge.end:
        return (
            f'<circle class="loop" cx="{x1:.1f}" cy="{y1:.1f}" r="{radius + 2 + width / 2:.1f}" '
            f'stroke-width="{width:.1f}" stroke-opacity="{opacity:.2f}"/>'
        )
    x2, y2 = places[edge.end]
    # Bent towards the centre and to the right of its direction: arrows there and back are two.
    middle = ((x1 + x2) / 2, (y1 + y2) / 2)
    length = math.hypot(x2 - x1, y2 - y1)
    aside = 0.12 * length
    bend = (
        middle[0] + 0.35 * (centre[0] - middle[0]) - aside * (y2 - y1) / length,
        middle[1] + 0.35 * (centre[1] - middle[1]) + aside * (x2 - x1) / length,
    )
    begin = _towards((x1, y1), bend, radius + 2)
    end = _towards((x2, y2), bend, radii[edge.end] + 4)
    return (
        f'<path class="edge" d="M{begin[0]:.1f},{begin[1]:.1f} Q{bend[0]:.1f},{bend[1]:.1f} {end[0]:.1f},{end[1]:.1f}" '
        f'stroke-width="{width:.1f}" stroke-opacity="{opacity:.2f}" marker-end="url(#arrow)"/>'
    )


def _towards(place: tuple[float, float], goal: tuple[float, float], distance: float) -> tuple[float, float]:
    length = math.hypot(goal[0] - place[0], goal[1] - place[1]) or 1.0
    return (
        place[0] + distance * (goal[0] - place[0]) / length,
        place[1] + distance * (goal[1] - place[1]) / length,
    )
