"""Statistics of a spectral learner as files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise

import numpy as np

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import instance
from uqf.learn.spectral.basis import Basis, Target
from uqf.learn.spectral.passes import Word, WordCounts
from uqf.learn.spectral.statistics import Statistics
from uqf.learn.spectral.sums import ALL, HankelSums
from uqf.learn.spectral.tally import Counts, Tally
from uqf.storage.tensors import Arrays, Header, naming_damage, read_tensors, write_tensors

#: Raised by one whenever an older package could misread a file.
FORMAT = 2

#: Key of our header in the metadata of the safetensors file.
KEY = "uqf-statistics"

#: Limits that keep a hostile file from filling the memory.
MAX_BYTES = 2**36
MAX_SYMBOLS = 2**31 - 1

#: Tensors and their types: the sums as the core has them, what the tally counts, and words where they are listed.
SUMS: Mapping[str, type[np.generic]] = {
    **dict.fromkeys(("owners", "offsets"), np.int64),
    "keys": np.uint64,
    **dict.fromkeys(("parts", "column", "start", "average"), np.float64),
}
COUNTS = ("symbol", "choice", "length")
WORDS: Mapping[str, type[np.generic]] = {"symbols": np.int64, "offsets": np.int64, "counts": np.float64}


def save_statistics(statistics: Statistics, path: str | os.PathLike[str]) -> None:
    """Writes statistics to a file that `load_statistics` reads back bit for bit; whole or not at all.

    Parameters
    ----------
    statistics : Statistics
        Such as `UQF.statistics_`.
    path : path
        Of the file.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    >>> uqf.save_statistics(uqf.UQF(2, 0.95).partial_fit(data).statistics_, "monday.safetensors")
    """
    instance("statistics", statistics, Statistics, "uqf.Statistics, such as UQF.statistics_")
    sums, tally = statistics.sums, statistics.tally
    tensors = {name: array.ravel() for name, array in sums.arrays.items()}
    tensors |= _pairs(tally) | _flat_words(statistics.words)
    header = {
        "format": FORMAT,
        "basis": asdict(statistics.basis),
        "target": asdict(statistics.target),
        "n_actions": tally.n_actions,
        "n_observations": tally.n_observations,
        "codebook": None if tally.codebook is None else tally.codebook.to_dict(),
        "sums": {name: getattr(sums, name) for name in ("shape", "by_symbol", "counts", "coverage")},
    }
    write_tensors(path, KEY, header, tensors)


def load_statistics(path: str | os.PathLike[str]) -> Statistics:
    """The statistics of a file that `save_statistics` wrote.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    Statistics
        The same bits.

    Raises
    ------
    FileFormatError
        If the file is damaged or its numbers contradict each other.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    >>> uqf.save_statistics(uqf.UQF(2, 0.95).partial_fit(data).statistics_, "monday.safetensors")
    >>> uqf.load_statistics("monday.safetensors").state(2).rank
    2
    """
    header, tensors = read_tensors(path, KEY, "statistics", FORMAT, MAX_BYTES)
    with naming_damage(path, "statistics"):
        return _put_together(header, tensors)


def _put_together(header: Header, tensors: Arrays) -> Statistics:
    basis, target = Basis(**header["basis"]), Target(**header["target"])
    _check_tensors(tensors, basis.projection is None)
    n_actions, n_observations = header["n_actions"], header["n_observations"]
    for size in (n_actions, n_observations):
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{size!r} actions or observations")
    n_symbols = n_actions * n_observations
    if n_symbols > MAX_SYMBOLS:
        raise ValueError(f"{n_symbols} symbols, at most {MAX_SYMBOLS} are possible")
    sums = _sums(header["sums"], {name: tensors[name] for name in SUMS})
    words = _words(tensors, n_symbols) if basis.projection is None else None
    listed = None if words is None else (len(words.prefixes), len(words.suffixes))
    expected = listed or (basis.prefix_dim, basis.suffix_dim)
    if sums.shape != expected:
        raise ValueError(f"shape {sums.shape} for a basis of {expected}")
    symbols, choices, lengths = (_counts(name, tensors) for name in COUNTS)
    if not lengths or min(lengths) < 1 or min(symbols) < 0 or max(symbols) >= n_symbols:
        raise ValueError("symbols or lengths of episodes out of range")
    if min(choices) < 0 or max(choices) >= (n_symbols + n_observations + 1) * n_actions:
        raise ValueError("choices out of range")
    if not set(sums.symbols) <= symbols.keys():
        raise ValueError("blocks of symbols that were never seen")
    written = header["codebook"]
    codebook = None if written is None else Codebook.from_dict(written)
    tally = Tally(n_actions, n_observations, codebook, symbols, choices, lengths)
    return Statistics(basis, target, tally, sums, words)


def _sums(header: Header, arrays: Arrays) -> HankelSums:
    prefixes, suffixes = header["coverage"]
    numbers = [*header["shape"], *header["counts"], *prefixes, *suffixes]
    if len(numbers) != 8 or any(type(number) is not int or number < 0 for number in numbers):
        raise ValueError(f"sizes or counts {numbers}")
    for name in ("parts", "column", "start", "average"):
        arrays[name] = arrays[name].reshape(-1, 2)
    rows, columns, *counts = numbers
    lengths = [len(arrays[name]) for name in ("column", "start", "average", "parts")]
    owners, offsets, keys = arrays["owners"], arrays["offsets"], arrays["keys"]
    if lengths != [rows, columns, columns, len(keys)]:
        raise ValueError(f"{lengths} sums for a shape of {rows}, {columns} and {len(keys)} cells")
    if len(owners) == 0 or owners[0] != ALL or (owners[1:] <= owners[:-1]).any():
        raise ValueError("blocks are missing, or twice of one symbol")
    if len(offsets) != len(owners) + 1 or offsets[0] != 0 or offsets[-1] != len(keys):
        raise ValueError("offsets do not cut the cells into those of their owners")
    begins = np.isin(np.arange(len(keys)), offsets)
    if (np.diff(offsets) < 0).any() or (~begins[1:] & (keys[1:] <= keys[:-1])).any():
        raise ValueError("cells are not in order")
    if len(keys) and int(keys.max()) >= rows * columns:
        raise ValueError("cells lie outside the block")
    return HankelSums(
        shape=(rows, columns),
        by_symbol=bool(header["by_symbol"]),
        counts=(counts[0], counts[1]),
        coverage=((counts[2], counts[3]), (counts[4], counts[5])),
        **arrays,
    )


def _check_tensors(tensors: Arrays, listed: bool) -> None:
    expected = {**SUMS}
    for name in COUNTS:
        expected |= {f"{name}s": np.int64, f"{name}_counts": np.float64}
    if listed:
        expected |= {f"{side}_{name}": kind for side in ("prefix", "suffix") for name, kind in WORDS.items()}
    if tensors.keys() != expected.keys():
        raise ValueError(f"tensors missing or unknown: {sorted(tensors.keys() ^ expected.keys())}")
    for name, kind in expected.items():
        if tensors[name].dtype != kind or tensors[name].ndim != 1:
            raise ValueError(f"{name} has dtype {tensors[name].dtype} and shape {tensors[name].shape}")


def _pairs(tally: Tally) -> Arrays:
    arrays: Arrays = {}
    for name, counts in zip(COUNTS, (tally.symbols, tally.choices, tally.lengths), strict=True):
        arrays[f"{name}s"] = np.array(list(counts), np.int64)
        arrays[f"{name}_counts"] = np.array(list(counts.values()), np.float64)
    return arrays


def _counts(name: str, tensors: Arrays) -> Counts:
    counts = dict(zip(tensors[f"{name}s"].tolist(), tensors[f"{name}_counts"].tolist(), strict=True))
    if min(counts.values(), default=0.0) <= 0.0:
        raise ValueError(f"counts of {name}s that are not positive")
    return counts


def _flat_words(counts: WordCounts | None) -> Arrays:
    arrays: Arrays = {}
    for side, words in [] if counts is None else [("prefix", counts.prefixes), ("suffix", counts.suffixes)]:
        arrays[f"{side}_symbols"] = np.array([symbol for word in words for symbol in word], np.int64)
        arrays[f"{side}_offsets"] = np.cumsum([0, *map(len, words)])
        arrays[f"{side}_counts"] = np.array(list(words.values()), np.float64)
    return arrays


def _words(tensors: Arrays, n_symbols: int) -> WordCounts:
    sides: list[dict[Word, float]] = []
    for side in ("prefix", "suffix"):
        symbols, offsets, counts = (tensors[f"{side}_{name}"] for name in WORDS)
        if len(offsets) != len(counts) + 1 or offsets[0] != 0 or offsets[-1] != len(symbols):
            raise ValueError(f"offsets do not cut the symbols into {side}es")
        if (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets of {side}es that fall")
        if symbols.size and (symbols.min() < 0 or symbols.max() >= n_symbols):
            raise ValueError(f"a {side} with symbols out of range")
        flat = symbols.tolist()
        words = [tuple(flat[first:last]) for first, last in pairwise(offsets.tolist())]
        sides.append(dict(zip(words, counts.tolist(), strict=True)))
        if len(sides[-1]) != len(words) or () not in sides[-1]:
            raise ValueError(f"a {side} is listed twice, or the empty word is not")
    return WordCounts(*sides)
