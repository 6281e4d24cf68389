"""Statistics as files: safetensors with a checked header, never pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from uqf import _core
from uqf.errors import FileFormatError
from uqf.files import whole_file
from uqf.learn.basis import Basis, Target
from uqf.learn.statistics import Statistics, WordRows
from uqf.learn.tally import Counts, Tally
from uqf.vocabulary import Vocabulary

#: Raised by one whenever an older package could misread a file.
FORMAT = 1

#: Key of our header in the metadata of the safetensors file.
KEY = "uqf-statistics"

#: Limits that keep a hostile file from filling the memory.
MOST_BYTES = 2**36
MOST_SYMBOLS = 2**31 - 1

#: Names and types of the tensors; those of words are there only when words are listed.
TENSORS = {
    "symbols": np.int64,
    "symbol_counts": np.float64,
    "lengths": np.int64,
    "length_counts": np.float64,
    "block_keys": np.uint64,
    "block_parts": np.float64,
    "owners": np.int64,
    "owner_offsets": np.int64,
    "owner_keys": np.uint64,
    "owner_parts": np.float64,
    "columns": np.float64,
    "start": np.float64,
    "average": np.float64,
}
WORDS = {"symbols": np.int64, "offsets": np.int64, "counts": np.float64}

Arrays = dict[str, NDArray[Any]]


def save_statistics(statistics: Statistics, path: str | os.PathLike[str]) -> None:
    """Writes statistics to a file that `load_statistics` reads back bit for bit; whole or not at all."""
    state, tally = statistics.sums.__getstate__(), statistics.tally
    owners = list(state["symbol_blocks"])
    cells = [state["symbol_blocks"][owner] for owner in owners]
    tensors = {
        **_pairs("symbol", tally.symbols),
        **_pairs("length", tally.lengths),
        "block_keys": state["block"][0],
        "block_parts": state["block"][1],
        "owners": np.array(owners, np.int64),
        "owner_offsets": np.cumsum([0, *(len(keys) for keys, _ in cells)]),
        "owner_keys": np.concatenate([np.zeros(0, np.uint64), *(keys for keys, _ in cells)]),
        "owner_parts": np.concatenate([np.zeros(0), *(parts for _, parts in cells)]),
        **{name: state[name] for name in ("columns", "start", "average")},
        **_flat_words("prefix", statistics.prefixes),
        **_flat_words("suffix", statistics.suffixes),
    }
    names = tally.vocabulary
    header = {
        "format": FORMAT,
        "basis": asdict(statistics.basis),
        "target": asdict(statistics.target),
        "n_actions": tally.n_actions,
        "n_observations": tally.n_observations,
        "vocabulary": names and [names.actions, names.observations],
        "shape": state["shape"],
        "counts": state["counts"],
        "coverage": state["coverage"],
    }
    header = json.loads(json.dumps(header, allow_nan=False))
    header["checksum"] = _checksum(header, tensors)
    with whole_file(path) as file:
        file.write(safetensors.numpy.save(tensors, {KEY: json.dumps(header)}))


def load_statistics(path: str | os.PathLike[str]) -> Statistics:
    """The statistics of a file that `save_statistics` wrote.

    A file that is cut short, damaged, hostile or from a newer version raises `uqf.FileFormatError`. Nothing in
    it is executed, and it takes no more memory than a few times its size.
    """
    path = Path(path)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise FileFormatError(f"{path}: {size} bytes, at most {MOST_BYTES} are read")
    content = path.read_bytes()
    try:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
        if isinstance(header["format"], int) and header["format"] > FORMAT:
            raise FileFormatError(
                f"{path}: format {header['format']}; this package reads {FORMAT}: install a newer one"
            )
        tensors = safetensors.numpy.load(content)
        if header.pop("checksum") != _checksum(header, tensors):
            raise FileFormatError(f"{path}: the checksum does not match: the file is damaged")
        return _put_together(header, tensors)
    except (
        SafetensorError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise FileFormatError(f"{path}: no statistics of uqf, or damaged ones ({reason})") from error


def _put_together(header: dict[str, Any], tensors: Arrays) -> Statistics:
    basis, target = Basis(**header["basis"]), Target(**header["target"])
    _check_tensors(tensors, basis.projection is None)
    n_actions, n_observations = header["n_actions"], header["n_observations"]
    for size in (n_actions, n_observations):
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{size!r} actions or observations")
    n_symbols = n_actions * n_observations
    if n_symbols > MOST_SYMBOLS:
        raise ValueError(f"{n_symbols} symbols, at most {MOST_SYMBOLS} are possible")
    left, right, targets = header["shape"]
    # The core makes room for the whole shape, so the file must prove it first.
    if targets != 1 or (len(tensors["columns"]), len(tensors["start"])) != (2 * left, 2 * right):
        raise ValueError(f"shape {header['shape']} for {len(tensors['columns'])} sums")
    prefixes, suffixes = (_words(side, tensors, basis, n_symbols) for side in ("prefix", "suffix"))
    listed = (len(prefixes), len(suffixes)) if prefixes is not None and suffixes is not None else None
    expected = listed or (basis.prefix_dim, basis.suffix_dim)
    if (left, right) != expected:
        raise ValueError(f"shape {header['shape']} for a basis of {expected}")
    symbols, lengths = _counts("symbol", tensors), _counts("length", tensors)
    if not lengths or min(lengths) < 1 or min(symbols) < 0 or max(symbols) >= n_symbols:
        raise ValueError("symbols or lengths of episodes out of range")
    offsets, owners = tensors["owner_offsets"], tensors["owners"].tolist()
    keys, parts = tensors["owner_keys"], tensors["owner_parts"]
    if not set(owners) <= symbols.keys() or len(set(owners)) != len(owners):
        raise ValueError("blocks of symbols that were never seen, or twice of one")
    _check_offsets(offsets, len(owners), len(keys))
    state = {
        "shape": (left, right, targets),
        "by_symbol": True,
        "counts": tuple(header["counts"]),
        "coverage": tuple(map(tuple, header["coverage"])),
        "block": (tensors["block_keys"], tensors["block_parts"]),
        "symbol_blocks": {
            owner: (keys[first:last], parts[2 * first : 2 * last])
            for owner, first, last in zip(owners, offsets[:-1], offsets[1:], strict=True)
        },
        **{name: tensors[name] for name in ("columns", "start", "average")},
    }
    names = header["vocabulary"]
    vocabulary = names and Vocabulary(*(None if one is None else tuple(one) for one in names))
    tally = Tally(n_actions, n_observations, vocabulary, symbols, lengths)
    return Statistics(basis, target, tally, _core.HankelStatistics.from_state(state), prefixes, suffixes)


def _check_tensors(tensors: Arrays, listed: bool) -> None:
    expected = dict(TENSORS)
    if listed:
        expected |= {f"{side}_{name}": kind for side in ("prefix", "suffix") for name, kind in WORDS.items()}
    if tensors.keys() != expected.keys():
        raise ValueError(f"tensors missing or unknown: {sorted(tensors.keys() ^ expected.keys())}")
    for name, kind in expected.items():
        if tensors[name].dtype != kind or tensors[name].ndim != 1:
            raise ValueError(f"{name} has dtype {tensors[name].dtype} and shape {tensors[name].shape}")
        if not np.isfinite(tensors[name]).all():
            raise ValueError(f"{name} holds NaN or infinity")


def _check_offsets(offsets: NDArray[np.int64], count: int, total: int) -> None:
    if len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
        raise ValueError("offsets do not cut what they should")


def _pairs(name: str, counts: Counts) -> Arrays:
    return {
        f"{name}s": np.array(list(counts), np.int64),
        f"{name}_counts": np.array(list(counts.values()), np.float64),
    }


def _counts(name: str, tensors: Arrays) -> Counts:
    counts = dict(zip(tensors[f"{name}s"].tolist(), tensors[f"{name}_counts"].tolist(), strict=True))
    if min(counts.values(), default=0.0) <= 0.0:
        raise ValueError(f"counts of {name}s that are not positive")
    return counts


def _flat_words(side: str, words: WordRows | None) -> Arrays:
    if words is None:
        return {}
    return {
        f"{side}_symbols": np.array([symbol for word in words for symbol in word], np.int64),
        f"{side}_offsets": np.cumsum([0, *map(len, words)]),
        f"{side}_counts": np.array(list(words.values()), np.float64),
    }


def _words(side: str, tensors: Arrays, basis: Basis, n_symbols: int) -> WordRows | None:
    if basis.projection is not None:
        return None
    symbols, offsets, counts = (tensors[f"{side}_{name}"] for name in WORDS)
    _check_offsets(offsets, len(counts), len(symbols))
    if symbols.size and (symbols.min() < 0 or symbols.max() >= n_symbols):
        raise ValueError(f"a {side} with symbols out of range")
    flat: Sequence[int] = symbols.tolist()
    words = [tuple(flat[first:last]) for first, last in pairwise(offsets.tolist())]
    found = dict(zip(words, counts.tolist(), strict=True))
    if len(found) != len(words) or () not in found:
        raise ValueError(f"a {side} is listed twice, or the empty word is not")
    return found


def _checksum(header: dict[str, Any], tensors: Arrays) -> str:
    """SHA-256 of header and tensors: a flipped bit in a sum would otherwise pass for a sum."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
