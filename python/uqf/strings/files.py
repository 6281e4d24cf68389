"""Files of the PAutomaC and SPiCe competitions: strings, probabilities and probabilistic automata as text."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from uqf.data.checks import FloatArray, floats
from uqf.errors import FileFormatError
from uqf.files import open_ordinary, whole_file
from uqf.learn.spectral.wfa import WFA
from uqf.strings.sample import Strings

PathLike = str | os.PathLike[str]

#: Larger files are refused unless the caller asks for more, and so are alphabets beyond this size.
MAX_BYTES = 2**30
MAX_SYMBOLS = 2**20

#: Weights that the file of any automaton may ask for, and those for every byte of a larger one.
MAX_ENTRIES = 2**22
ENTRIES_PER_BYTE = 64

#: How far a sum of probabilities may be from one: the competitions' files have twelve digits.
TOLERANCE = 1e-6

#: The sections of an automaton's file, and how many numbers index an entry.
SECTIONS = {"I": ("state",), "F": ("state",), "S": ("state", "symbol"), "T": ("state", "symbol", "state")}
ENTRY = re.compile(r"\(\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\)\s*(\S+)")


def read_strings(path: PathLike, *, n_symbols: int | None = None, max_bytes: int = MAX_BYTES) -> Strings:
    """The strings of a PAutomaC or SPiCe file.

    The first line holds the numbers of strings and of symbols, every other line the length of a string and its symbols.
    For a file without that first line (SPiCe's test prefixes) give `n_symbols`. Anything else raises
    `uqf.FileFormatError` with the line.
    """
    lines = _lines(path, max_bytes)
    declared = None
    if n_symbols is None:
        declared, n_symbols = _integers(path, 1, next(lines, (1, ""))[1], count=2)
    if not 0 <= n_symbols <= MAX_SYMBOLS:
        raise FileFormatError(f"{path}: an alphabet of {n_symbols} symbols; 0 to {MAX_SYMBOLS} are read")
    symbols: list[int] = []
    offsets = [0]
    for number, line in lines:
        length, *string = _integers(path, number, line)
        if length != len(string):
            raise FileFormatError(
                f"{path}, line {number}: says length {length}, but {len(string)} symbols follow"
            )
        if string and not 0 <= min(string) <= max(string) < n_symbols:
            raise FileFormatError(
                f"{path}, line {number}: symbols from {min(string)} to {max(string)}, but there are {n_symbols}"
            )
        symbols += string
        offsets.append(len(symbols))
    if declared is not None and declared != len(offsets) - 1:
        raise FileFormatError(f"{path}: the first line says {declared} strings, {len(offsets) - 1} follow")
    return Strings.from_arrays(np.array(symbols, np.int32), np.array(offsets, np.int64), range(n_symbols))


def write_strings(strings: Strings, path: PathLike) -> None:
    """Writes a file that `read_strings` and other programs read; tokens become their places in the alphabet."""
    flat = list(map(str, strings.symbols.tolist()))
    lines = [f"{len(strings)} {strings.n_symbols}"]
    lines += [
        " ".join([str(last - first), *flat[first:last]]) for first, last in pairwise(strings.offsets.tolist())
    ]
    _write(path, lines)


def read_probabilities(path: PathLike, *, max_bytes: int = MAX_BYTES) -> FloatArray:
    """The probabilities of a PAutomaC solution: their number in the first line, then one a line."""
    lines = _lines(path, max_bytes)
    (count,) = _integers(path, 1, next(lines, (1, ""))[1], count=1)
    values = np.array([_number(path, number, line) for number, line in lines])
    if len(values) != count:
        raise FileFormatError(f"{path}: the first line says {count} probabilities, {len(values)} follow")
    return values


def write_probabilities(probabilities: ArrayLike, path: PathLike) -> None:
    """Writes a file that `read_probabilities` reads back bit for bit."""
    values = floats("probabilities", probabilities).tolist()
    _write(path, [str(len(values)), *map(repr, values)])


def read_automaton(path: PathLike, *, max_bytes: int = MAX_BYTES) -> WFA:
    """The probabilistic automaton of a PAutomaC model file, as a WFA of string probabilities.

    Such a file lists start probabilities I, end probabilities F, and for a state that goes on the probabilities S of
    its symbols and T of the next state. Files of hidden Markov models, whose T has two indices, are refused.
    """
    entries = _entries(path, max_bytes)
    if not entries["I"]:
        raise FileFormatError(f"{path}: no start state in a section I")
    rows = [index for section in ("S", "T") for index in entries[section]]
    states = {one for section in ("I", "F") for (one,) in entries[section]} | {row[0] for row in rows}
    n_states = max(states | {row[2] for row in entries["T"]}) + 1
    n_symbols = max((row[1] for row in rows), default=-1) + 1
    limit = max(MAX_ENTRIES, ENTRIES_PER_BYTE * Path(path).stat().st_size)
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
    """Writes a probabilistic automaton: no weight is negative, and the weights of every state sum to one."""
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
    _write(path, lines)


def _entries(path: PathLike, max_bytes: int) -> dict[str, dict[tuple[int, ...], float]]:
    """The probabilities of every section by their indices."""
    entries: dict[str, dict[tuple[int, ...], float]] = {section: {} for section in SECTIONS}
    section = ""
    for number, line in _lines(path, max_bytes):
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
        value = _number(path, number, entry[2])
        if not 0.0 <= value <= 1.0 + TOLERANCE:
            raise FileFormatError(f"{path}, line {number}: {value} is no probability")
        if index in entries[section]:
            raise FileFormatError(f"{path}, line {number}: the entry {index} of {section} is there twice")
        entries[section][index] = value
    return entries


def _lines(path: PathLike, max_bytes: int) -> Iterator[tuple[int, str]]:
    """Line numbers and lines that are not blank, of a file of bounded size."""
    with io.TextIOWrapper(open_ordinary(path), encoding="ascii", errors="replace") as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise FileFormatError(
                f"{path}: {size:,} bytes; files of up to max_bytes = {max_bytes:,} are read"
            )
        for number, line in enumerate(file, 1):
            if stripped := line.strip():
                yield number, stripped


def _integers(path: PathLike, number: int, line: str, count: int | None = None) -> list[int]:
    fields = line.split()
    if (count is not None and len(fields) != count) or not all(
        re.fullmatch(r"\d{1,18}", one) for one in fields
    ):
        wanted = "whole numbers" if count is None else f"{count} whole number{'s' * (count > 1)}"
        raise FileFormatError(
            f"{path}, line {number}: {line[:40]!r} should be {wanted} that are not negative"
        )
    return list(map(int, fields))


def _number(path: PathLike, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise FileFormatError(f"{path}, line {number}: {text[:40]!r} is not a finite number")
    return value


def _check_sum(path: PathLike, what: str, sums: FloatArray) -> None:
    wrong = sums[np.abs(sums - 1.0) > TOLERANCE * 10]
    if wrong.size:
        raise FileFormatError(f"{path}: probabilities {what}, sum to {wrong[0]:.6g} instead of one")


def _listed(table: FloatArray) -> list[str]:
    """The entries that are not zero, each with its indices."""
    places = np.argwhere(table).tolist()
    return [f"\t({','.join(map(str, place))}) {float(table[tuple(place)])!r}" for place in places]


def _write(path: PathLike, lines: list[str]) -> None:
    with whole_file(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
