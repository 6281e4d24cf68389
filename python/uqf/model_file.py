"""Policies as files: safetensors with a versioned header, never pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import safetensors.numpy
from safetensors import SafetensorError

from uqf._core import Automaton, AutomatonPolicy, SumPolicy, TablePolicy
from uqf.errors import FileFormatError
from uqf.files import whole_file
from uqf.model_header import (
    FORMAT,
    TENSORS,
    Arrays,
    ModelHeader,
    Origin,
    check_header,
    check_tensors,
    checksum,
    described_of,
    header_of,
)
from uqf.sum_policy_tensors import from_tensors, to_tensors
from uqf.trajectories import Trajectories
from uqf.vocabulary import Vocabulary

#: Key of our header in the metadata of the safetensors file.
KEY = "uqf"

#: A limit that keeps a hostile file from filling the memory.
MOST_BYTES = 2**32


def save(
    policy: AutomatonPolicy | SumPolicy | TablePolicy,
    path: str | os.PathLike[str],
    *,
    vocabulary: Vocabulary | None = None,
    settings: Mapping[str, Any] | None = None,
    data: Trajectories | Origin | None = None,
) -> None:
    """Writes a policy; the file appears whole or not at all.

    Parameters
    ----------
    vocabulary : Vocabulary, optional
        Names of actions and observations; those of `data` by default.
    settings : mapping, optional
        How the policy was learned: numbers, strings, lists and mappings, as JSON knows them.
    data : Trajectories or Origin, optional
        The data it was learned from, of which the fingerprint is kept and nothing else.

    A policy that divides by the probabilities of a behaviour policy cannot be saved.
    """
    kind, tensors, shape = _taken_apart(policy)
    origin = Origin.of(data) if isinstance(data, Trajectories) else data
    names = vocabulary if vocabulary is not None or origin is None else origin.vocabulary
    header = ModelHeader(
        kind=kind,
        n_actions=policy.n_actions,
        n_observations=policy.n_observations,
        vocabulary=names,
        settings=dict(settings or {}),
        data_fingerprint=None if origin is None else origin.fingerprint,
        package_version=version("uqf"),
        **shape,
    )
    check_header(header)
    described = described_of(header)
    described["checksum"] = checksum(described, tensors)
    with whole_file(path) as file:
        file.write(safetensors.numpy.save(tensors, {KEY: json.dumps(described)}))


def load(path: str | os.PathLike[str]) -> AutomatonPolicy | SumPolicy | TablePolicy:
    """The policy of a file that `save` wrote; `inspect_model` tells the rest of what it holds.

    A file that is cut short, damaged, hostile or from a newer version raises `uqf.FileFormatError`. Nothing
    in it is executed, and it takes no more memory than a few times its size.
    """
    header, tensors = _read(Path(path))
    try:
        return _put_together(header, tensors)
    except (ValueError, TypeError, OverflowError) as error:
        raise FileFormatError(f"{path}: {error}") from error


def inspect_model(path: str | os.PathLike[str]) -> ModelHeader:
    """The header of a model file, checked as `load` checks it."""
    return _read(Path(path))[0]


def begins_as_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as every model file does: the length of a JSON header, and that header."""
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        length, brace = int.from_bytes(file.read(8), "little"), file.read(1)
    return brace == b"{" and length < path.stat().st_size


def _taken_apart(policy: Any) -> tuple[str, Arrays, dict[str, Any]]:
    if isinstance(policy, TablePolicy):
        return "table", {"probs": policy.probs}, {}
    if isinstance(policy, SumPolicy):
        return "sum", to_tensors(policy), {"temperature": policy.temperature}
    if not isinstance(policy, AutomatonPolicy):
        raise TypeError(
            f"policy is a {type(policy).__name__}: SumPolicy, AutomatonPolicy and TablePolicy can be saved"
        )
    if policy.has_behavior:
        raise ValueError(
            "policy divides by the probabilities of a behaviour policy, which a file does not hold: learn "
            "from data with behavior_probs instead"
        )
    parts = {name: getattr(policy, name) for name, *_ in TENSORS["automaton"]}
    tensors = {name: part for name, part in parts.items() if part is not None}
    return "automaton", tensors, {"window": policy.window, "temperature": policy.temperature}


def _put_together(header: ModelHeader, tensors: Arrays) -> AutomatonPolicy | SumPolicy | TablePolicy:
    if header.kind == "table":
        return TablePolicy(tensors["probs"], header.n_observations)
    if header.kind == "sum":
        return from_tensors(
            tensors,
            n_actions=header.n_actions,
            n_observations=header.n_observations,
            temperature=header.temperature,
        )
    symbols, operators, table = tensors["symbols"], tensors["operators"], tensors.get("table")
    rank = operators.shape[1]
    if operators.shape[0] != len(symbols) or operators.shape[2] != rank:
        raise ValueError(f"operators have shape {operators.shape} for {len(symbols)} symbols")
    if tensors["weights"].shape != (header.n_actions, rank):
        raise ValueError(f"weights have shape {tensors['weights'].shape}, not {(header.n_actions, rank)}")
    if table is not None and table.shape != (len(symbols) + 2, header.n_actions):
        raise ValueError(f"table has shape {table.shape}, not {(len(symbols) + 2, header.n_actions)}")
    return AutomatonPolicy(
        Automaton(symbols, operators, header.n_actions * header.n_observations),
        n_actions=header.n_actions,
        n_observations=header.n_observations,
        start=tensors["start"],
        anchor=tensors["anchor"],
        weights=tensors["weights"],
        table=table,
        normaliser=tensors.get("normaliser"),
        window=header.window,
        temperature=header.temperature,
    )


def _read(path: Path) -> tuple[ModelHeader, Arrays]:
    """Header and tensors of a file, all checks done."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise FileFormatError(f"{path}: {size} bytes, more than any policy of this package has")
    content = path.read_bytes()
    try:
        # The length of the JSON header comes first; the rest is checked by the library, shapes against size.
        length = int.from_bytes(content[:8], "little")
        described = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
        if isinstance(described["format"], int) and described["format"] > FORMAT:
            raise FileFormatError(
                f"{path}: format {described['format']}, written by uqf {described['package_version']}; this "
                f"package reads format {FORMAT}: install a newer one"
            )
        tensors = safetensors.numpy.load(content)
        if described["checksum"] != checksum(described, tensors):
            raise FileFormatError(f"{path}: the checksum does not match: the file is damaged")
        header = header_of(described)
        check_header(header)
        check_tensors(header, tensors)
    except (SafetensorError, LookupError, TypeError, ValueError, RecursionError, OverflowError) as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise FileFormatError(f"{path}: not a model file of uqf, or a damaged one ({reason})") from error
    return header, tensors
