"""Files of the PAutomaC and SPiCe competitions: strings and their probabilities as text."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from uqf.episodes.checks import FloatArray, floats, positive, whole
from uqf.errors import FileFormatError, kind_of
from uqf.files import open_ordinary, whole_file
from uqf.strings.sample import Strings

PathLike = str | os.PathLike[str]

#: Larger files are refused unless the caller asks for more, and so are larger alphabets.
MAX_BYTES = 2**30
MAX_SYMBOLS = 2**20


def read_strings(path: PathLike, *, n_symbols: int | None = None, max_bytes: int = MAX_BYTES) -> Strings:
    r"""The strings of a PAutomaC or SPiCe file.

    The first line holds the numbers of strings and of symbols, every other line the length of a string and its symbols.

    Parameters
    ----------
    path : path
    n_symbols : int, optional
        Size of the alphabet of a file without that first line (SPiCe's test prefixes).
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    Strings
        Their tokens are the numbers from 0 to n_symbols − 1.

    Raises
    ------
    FileFormatError
        With the line that is not as it should be.

    Examples
    --------
    >>> from pathlib import Path
    >>> from uqf.strings import read_strings
    >>> _ = Path("own.train").write_text("3 4\n2 3 0\n0\n1 2\n")
    >>> list(read_strings("own.train"))
    [(3, 0), (), (2,)]
    """
    lines = lines_of(path, positive("max_bytes", max_bytes))
    declared = None
    if n_symbols is not None:
        whole("n_symbols", n_symbols)
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
    """Writes a file that `read_strings` and other programs read; tokens become their places in the alphabet.

    Parameters
    ----------
    strings : Strings
    path : path

    Examples
    --------
    >>> from uqf.strings import Strings, read_strings, write_strings
    >>> write_strings(Strings(["ab", "b"]), "own.train")
    >>> list(read_strings("own.train"))
    [(0, 1), (1,)]
    """
    if not isinstance(strings, Strings):
        raise TypeError(f"strings is {kind_of(strings)}: give Strings(…) of them")
    flat = list(map(str, strings.symbols.tolist()))
    lines = [f"{len(strings)} {strings.n_symbols}"]
    lines += [
        " ".join([str(last - first), *flat[first:last]]) for first, last in pairwise(strings.offsets.tolist())
    ]
    write_lines(path, lines)


def read_probabilities(path: PathLike, *, max_bytes: int = MAX_BYTES) -> FloatArray:
    """The probabilities of a PAutomaC solution: their number in the first line, then one a line.

    Parameters
    ----------
    path : path
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    array of floats

    Examples
    --------
    >>> from uqf.strings import read_probabilities, write_probabilities
    >>> write_probabilities([0.5, 0.25], "own_solution.txt")
    >>> read_probabilities("own_solution.txt")
    array([0.5 , 0.25])
    """
    lines = lines_of(path, max_bytes)
    (count,) = _integers(path, 1, next(lines, (1, ""))[1], count=1)
    values = np.array([finite_number(path, number, line) for number, line in lines])
    if len(values) != count:
        raise FileFormatError(f"{path}: the first line says {count} probabilities, {len(values)} follow")
    return values


def write_probabilities(probabilities: ArrayLike, path: PathLike) -> None:
    """Writes a file that `read_probabilities` reads back bit for bit.

    Parameters
    ----------
    probabilities : (n,)
    path : path

    Examples
    --------
    >>> from pathlib import Path
    >>> from uqf.strings import write_probabilities
    >>> write_probabilities([0.5, 0.25], "own_solution.txt")
    >>> Path("own_solution.txt").read_text().split()
    ['2', '0.5', '0.25']
    """
    numbers = floats("probabilities", probabilities)
    if not np.isfinite(numbers).all():
        raise ValueError("probabilities: give finite numbers; `read_probabilities` takes no others")
    values = numbers.tolist()
    write_lines(path, [str(len(values)), *map(repr, values)])


def lines_of(path: PathLike, max_bytes: int) -> Iterator[tuple[int, str]]:
    """Line numbers and lines that are not blank, of a file of bounded size."""
    positive("max_bytes", max_bytes)
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
        many = "" if count is None else f"{count} "
        wanted = "1 whole number that is" if count == 1 else f"{many}whole numbers that are"
        raise FileFormatError(f"{path}, line {number}: {line[:40]!r} should be {wanted} not negative")
    return list(map(int, fields))


def finite_number(path: PathLike, number: int, text: str) -> float:
    """A number in a line, or an error that names it."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise FileFormatError(f"{path}, line {number}: {text[:40]!r} is not a finite number")
    return value


def write_lines(path: PathLike, lines: list[str]) -> None:
    """Writes a file, whole or not at all."""
    with whole_file(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
