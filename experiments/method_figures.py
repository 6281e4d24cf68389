"""The figures of docs/method.md: python -m experiments.method_figures docs

An episode cut into prefix, symbol and suffix; the Hankel block of Tiger and its factors; how the automaton reads.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import uqf
from uqf.files import whole_file

INK, SOFT, BLUE, RED = "#3b4650", "#8b949b", "#0a6ebd", "#d1571b"
STYLE = f"text{{font:13px system-ui,sans-serif;fill:{INK}}}.s{{fill:{SOFT};font-size:12px}}"


def text(x: float, y: float, words: str, anchor: str = "middle", style: str = "") -> str:
    """Words at a place."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" class="{style}">{words}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> str:
    """A rectangle."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}" rx="2"/>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line with a head."""
    return f'<path d="M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}" stroke="{SOFT}" marker-end="url(#head)" fill="none"/>'


def cut_of_an_episode() -> Iterator[str]:
    """One way to read u, σ and v in an episode, and where the reward stands."""
    parts = ["u"] * 3 + ["σ"] + ["v"] * 2
    colours = {"u": BLUE, "σ": INK, "v": RED}
    for step, part in enumerate(parts, 1):
        x = 20 + 90 * (step - 1)
        yield box(x, 40, 84, 34, "none", colours[part])
        yield text(x + 42, 62, f"a{chr(0x2080 + step)} o{chr(0x2080 + step)}")
        yield text(x + 42, 98, f"r{chr(0x2080 + step)}", style="" if step == 6 else "s")
    for first, count, words in ((0, 3, "prefix u"), (3, 1, "symbol σ"), (4, 2, "suffix v")):
        yield text(20 + 90 * (first + count / 2) - 3, 28, words)
    yield text(555, 122, "y, the reward that uσv ends with", "end")
    yield text(150, 122, "adds y to H_σ[u, v]", style="s")


def hankel_block() -> Iterator[str]:
    """Tiger's exact block over words of up to one symbol beside its two factors."""
    automaton = uqf.WFA.from_pomdp(uqf.make("tiger").tabular()).minimise()
    words = [word for size in range(2) for word in itertools.product(range(automaton.n_symbols), repeat=size)]
    block = uqf.exact_hankel(automaton, prefixes=words, suffixes=words).block
    left, values, right = np.linalg.svd(block)
    rank = int((values > 1e-9 * values[0]).sum())
    root = np.sqrt(values[:rank])
    x = 70.0
    for name, table in (
        ("H", block),
        ("U D", left[:, :rank] * root),
        ("Vᵀ", root[:, np.newaxis] * right[:rank]),
    ):
        scale = np.abs(table).max()
        for (row, column), value in np.ndenumerate(table):
            strength = np.sqrt(abs(value) / scale)
            colour = BLUE if value > 0 else RED
            yield f'<g opacity="{strength:.2f}">{box(x + 20 * column, 40 + 20 * row, 19, 19, colour)}</g>'
        yield text(x + 10 * table.shape[1], 28, f"{name}, {table.shape[0]} × {table.shape[1]}")
        x += 20 * table.shape[1] + 60
        if name != "Vᵀ":
            yield text(x - 32, 115, "≈" if name == "H" else "·")
    yield text(60, 54, "λ", "end", "s")
    yield text(60, 130, "u = σ", "end", "s")
    yield text(70, 200, "columns: suffixes v, λ first; blue is positive, red negative", "start", "s")


def automaton() -> Iterator[str]:
    """How a history is read."""
    names = ["αᵀ", "αᵀA_x₁", "αᵀA_x₁A_x₂", "αᵀA_h"]
    for place, name in enumerate(names):
        x = 80 + 150 * place
        yield f'<ellipse cx="{x}" cy="60" rx="54" ry="22" fill="none" stroke="{BLUE}"/>'
        yield text(x, 65, name)
        if place:
            yield arrow(x - 96, 60, x - 58, 60)
            yield text(x - 76, 40, ("x₁", "x₂", "…")[place - 1], style="s")
    yield arrow(530, 84, 530, 112)
    yield text(530, 130, "· ω  =  g(h), what the last step earns")
    yield text(530, 152, "· (I − γ Σ A_σ)⁻¹ ω  =  Ṽ(h), all that is to come")


FIGURES: dict[str, tuple[Callable[[], Iterator[str]], int, int]] = {
    "method-cut": (cut_of_an_episode, 570, 135),
    "method-hankel": (hankel_block, 620, 215),
    "method-automaton": (automaton, 720, 165),
}


def main() -> None:
    """Writes the figures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    size = 'markerWidth="8" markerHeight="8" refX="6" refY="3"'
    head = f'<marker id="head" orient="auto" {size}><path d="M0 0L6 3L0 6" fill="{SOFT}"/></marker>'
    for name, (shapes, width, height) in FIGURES.items():
        page = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">'
            f"<style>{STYLE}</style><defs>{head}</defs>{box(0, 0, width, height, '#fff')}{''.join(shapes())}</svg>\n"
        )
        with whole_file(folder / f"{name}.svg") as file:
            file.write(page.encode())


if __name__ == "__main__":
    main()
