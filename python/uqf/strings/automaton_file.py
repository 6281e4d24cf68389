"""Probabilistic automata as the PAutomaC competition writes them."""

from __future__ import annotations

import re

import numpy as np

from uqf.episodes.checks import FloatArray, instance
from uqf.errors import FileFormatError
from uqf.files import as_path
from uqf.learn.spectral.wfa import WFA
from uqf.strings.files import MAX_BYTES, PathLike, finite_number, lines_of, write_lines

#: Weights that the file of any automaton may ask for, and those for every byte of a larger one.
MAX_WEIGHTS = 2**22
WEIGHTS_PER_BYTE = 64

#: How far a sum of probabilities may be from one: the competitions' files have twelve digits.
TOLERANCE = 1e-6

#: The sections of an automaton's file, and how many numbers index an entry.
SECTIONS = {"I": ("state",), "F": ("state",), "S": ("state", "symbol"), "T": ("state", "symbol", "state")}
ENTRY = re.compile(r"\(\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\)\s*(\S+)")


def read_automaton(path: PathLike, *, max_bytes: int = MAX_BYTES) -> WFA:
    """The probabilistic automaton of a PAutomaC model file, as a WFA of string probabilities.

    Such a file lists start probabilities I, end probabilities F, and for a state that goes on the probabilities S of
    its symbols and T of the next state. Files of hidden Markov models, whose T has two indices, are refused.

    Parameters
    ----------
    path : path
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    WFA

    Raises
    ------
    FileFormatError
        With the line that is not as it should be, or the sum that is not one.

    Examples
    --------
    >>> import uqf
    >>> geometric = uqf.WFA([1.0], [[[0.75]]], [0.25])
    >>> uqf.strings.write_automaton(geometric, "own_model.txt")
    >>> uqf.strings.read_automaton("own_model.txt")((0,))
    0.1875
    """
    entries = _entries(path, max_bytes)
    if not entries["I"]:
        raise FileFormatError(f"{path}: no start state in a section I")
    rows = [index for section in ("S", "T") for index in entries[section]]
    states = {one for section in ("I", "F") for (one,) in entries[section]} | {row[0] for row in rows}
    n_states = max(states | {row[2] for row in entries["T"]}) + 1
    n_symbols = max((row[1] for row in rows), default=-1) + 1
    limit = max(MAX_WEIGHTS, WEIGHTS_PER_BYTE * as_path(path).stat().st_size)
    if n_states * n_states * max(n_symbols, 1) > limit:
        raise FileFormatError(
            f"{path}: {n_states} states and {n_symbols} symbols need more than {limit} weights, too many for a file of "
            "this size"
        )
    start, end = np.zeros(n_states), np.zeros(n_states)
    symbols, following = np.zeros((n_states, n_symbols)), np.zeros((n_states, n_symbols, n_states))
    for section, table in zip("IFST", (start, end, symbols, following), strict=True):
        for index, probability in entries[section].items():
            table[index] = probability
    _check_sum(path, "I, of the start states", start.sum(keepdims=True))
    _check_sum(path, "S, of the symbols of a state", symbols.sum(axis=1)[end < 1.0])
    _check_sum(path, "T, of the states after a symbol", following.sum(axis=2)[symbols > 0.0])
    weights = (1.0 - end)[:, np.newaxis, np.newaxis] * symbols[:, :, np.newaxis] * following
    return WFA(start, weights.transpose(1, 0, 2), end)


def write_automaton(wfa: WFA, path: PathLike) -> None:
    """Writes a probabilistic automaton that `read_automaton` reads.

    Parameters
    ----------
    wfa : WFA
        No weight is negative, and the weights of every state sum to one, its end included.
    path : path

    Examples
    --------
    >>> from pathlib import Path
    >>> import uqf
    >>> uqf.strings.write_automaton(uqf.WFA([1.0], [[[0.75]]], [0.25]), "own_model.txt")
    >>> Path("own_model.txt").read_text().split()[:6]
    ['I:', '(state)', '(0)', '1.0', 'F:', '(state)']
    """
    instance("wfa", wfa, WFA, "a uqf.WFA")
    symbols = wfa.operators.sum(axis=2).T
    totals = wfa.omega + symbols.sum(axis=1)
    if min(wfa.alpha.min(), wfa.omega.min(), wfa.seen_operators.min(initial=0.0)) < 0.0:
        raise ValueError("wfa has negative weights: only probabilistic automata can be written")
    if not (np.allclose(totals, 1.0) and np.isclose(wfa.alpha.sum(), 1.0)):
        raise ValueError("wfa: start weights, and the weights of every state, must sum to one to be written")
    lines = ["I: (state)", *_listed(wfa.alpha), "F: (state)", *_listed(wfa.omega)]
    goes_on = np.where(wfa.omega < 1.0, 1.0 - wfa.omega, 1.0)[:, np.newaxis]
    following = wfa.operators.transpose(1, 0, 2) / np.where(symbols > 0.0, symbols, 1.0)[:, :, np.newaxis]
    lines += ["S: (state,symbol)", *_listed(symbols / goes_on)]
    lines += ["T: (state,symbol,state)", *_listed(following)]
    write_lines(path, lines)


def _entries(path: PathLike, max_bytes: int) -> dict[str, dict[tuple[int, ...], float]]:
    """The probabilities of every section by their indices."""
    entries: dict[str, dict[tuple[int, ...], float]] = {section: {} for section in SECTIONS}
    section = ""
    for number, line in lines_of(path, max_bytes):
        if heading := re.fullmatch(r"([IFST]):\s*\(([\w\s,]*)\)", line):
            section, names = heading[1], tuple(name.strip() for name in heading[2].split(","))
            if names != SECTIONS[section]:
                raise FileFormatError(
                    f"{path}, line {number}: section {section} by ({', '.join(names)}); only automata with "
                    f"({', '.join(SECTIONS[section])}) are read"
                )
            continue
        entry = ENTRY.fullmatch(line)
        index = tuple(map(int, entry[1].split(","))) if entry else ()
        if entry is None or not section or len(index) != len(SECTIONS[section]):
            raise FileFormatError(
                f"{path}, line {number}: {line[:40]!r} is not an entry of a section I, F, S or T"
            )
        value = finite_number(path, number, entry[2])
        if not 0.0 <= value <= 1.0 + TOLERANCE:
            raise FileFormatError(f"{path}, line {number}: {value} is no probability")
        if index in entries[section]:
            raise FileFormatError(f"{path}, line {number}: the entry {index} of {section} is there twice")
        entries[section][index] = value
    return entries


def _check_sum(path: PathLike, what: str, sums: FloatArray) -> None:
    wrong = sums[np.abs(sums - 1.0) > TOLERANCE * 10]
    if wrong.size:
        raise FileFormatError(f"{path}: probabilities {what}, sum to {wrong[0]:.6g} instead of one")


def _listed(table: FloatArray) -> list[str]:
    """The entries that are not zero, each with its indices."""
    places = np.argwhere(table).tolist()
    return [f"\t({','.join(map(str, place))}) {float(table[tuple(place)])!r}" for place in places]
