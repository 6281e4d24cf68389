"""Files of the PAutomaC and SPiCe competitions: strings and their probabilities as text."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from uqf.episodes.checks import FloatArray, whole
from uqf.errors import FileFormatError, kind_of
from uqf.files import open_ordinary, whole_file
from uqf.strings.sample import Strings

PathLike = str | os.PathLike[str]

#: Larger files are refused, and so are larger alphabets.
MAX_BYTES = 2**30
MAX_SYMBOLS = 2**20


def read_strings(path: PathLike, *, n_symbols: int | None = None) -> Strings:
    r"""The strings of a PAutomaC or SPiCe file.

    The first line holds the numbers of strings and of symbols, every other line the length of a string and its symbols.

    Parameters
    ----------
    path : path
    n_symbols : int, optional
        Size of the alphabet of a file without that first line (SPiCe's test prefixes).

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
    lines = lines_of(path)
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
    with whole_file(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def read_probabilities(path: PathLike) -> FloatArray:
    r"""The probabilities of a PAutomaC solution: their number in the first line, then one a line.

    Parameters
    ----------
    path : path

    Returns
    -------
    array of floats

    Examples
    --------
    >>> from pathlib import Path
    >>> from uqf.strings import read_probabilities
    >>> _ = Path("own_solution.txt").write_text("2\n0.5\n0.25\n")
    >>> read_probabilities("own_solution.txt")
    array([0.5 , 0.25])
    """
    lines = lines_of(path)
    (count,) = _integers(path, 1, next(lines, (1, ""))[1], count=1)
    values = []
    for number, line in lines:
        try:
            values.append(float(line))
        except ValueError:
            values.append(np.nan)
        if not np.isfinite(values[-1]):
            raise FileFormatError(f"{path}, line {number}: {line[:40]!r} is not a finite number")
    if len(values) != count:
        raise FileFormatError(f"{path}: the first line says {count} probabilities, {len(values)} follow")
    return np.array(values)


def lines_of(path: PathLike) -> Iterator[tuple[int, str]]:
    """Line numbers and lines that are not blank, of a file of bounded size."""
    with io.TextIOWrapper(open_ordinary(path), encoding="ascii", errors="replace") as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_BYTES:
            raise FileFormatError(f"{path}: {size:,} bytes; files of up to {MAX_BYTES:,} are read")
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
