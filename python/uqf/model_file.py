"""Policies as files: safetensors with a versioned header, never pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from uqf._core import Automaton, AutomatonPolicy, SumPolicy, TablePolicy
from uqf.errors import FileFormatError
from uqf.files import whole_file
from uqf.sum_policy_tensors import SUM_TENSORS, from_tensors, to_tensors
from uqf.trajectories import Trajectories
from uqf.vocabulary import Vocabulary

#: Raised by one whenever an older package could misread a file.
FORMAT = 1

#: The hash function of all projections.
PROJECTION_HASH = "xxh3-64"

#: Key of our header in the metadata of the safetensors file.
KEY = "uqf"

#: Limits that keep a hostile file from filling the memory.
MOST_BYTES = 2**32
MOST_SYMBOLS = 2**24
LONGEST_NAME = 1000

#: Tensors of each kind of policy: name, dtype, number of axes, whether it must be there.
TENSORS: dict[str, list[tuple[str, type, int, bool]]] = {
    "table": [("probs", np.float64, 2, True)],
    "automaton": [
        ("symbols", np.int64, 1, True),
        ("operators", np.float64, 3, True),
        ("start", np.float64, 1, True),
        ("anchor", np.float64, 1, True),
        ("weights", np.float64, 2, True),
        ("table", np.float64, 2, False),
        ("normaliser", np.float64, 1, False),
    ],
    "sum": SUM_TENSORS,
}

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class ModelHeader:
    """What a model file says about itself."""

    kind: str
    """"sum", "automaton" or "table"."""
    n_actions: int
    n_observations: int
    window: int | None = None
    temperature: float = 0.0
    vocabulary: Vocabulary | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    """How the policy was learned: parameters of the learner, kind, seed and hash of the projection, …"""
    data_fingerprint: str | None = None
    """SHA-256 of the data that it was learned from; see `fingerprint`."""
    projection_hash: str = PROJECTION_HASH
    """The hash that turns words into projected vectors; with the seed in `settings` it fixes them."""
    package_version: str = ""
    format: int = FORMAT


def fingerprint(data: Trajectories) -> str:
    """SHA-256 of everything in a data set; equal data sets have equal fingerprints."""
    digest = hashlib.sha256(json.dumps([data.n_actions, data.n_observations]).encode())
    for array in (data.actions, data.observations, data.rewards, data.offsets, data.terminated):
        digest.update(np.ascontiguousarray(array).data)
    if data.behavior_probs is not None:
        digest.update(np.ascontiguousarray(data.behavior_probs).data)
    return digest.hexdigest()


def save(
    policy: AutomatonPolicy | SumPolicy | TablePolicy,
    path: str | os.PathLike[str],
    *,
    vocabulary: Vocabulary | None = None,
    settings: Mapping[str, Any] | None = None,
    data: Trajectories | None = None,
) -> None:
    """Writes a policy; the file appears whole or not at all.

    Parameters
    ----------
    vocabulary : Vocabulary, optional
        Names of actions and observations; those of `data` by default.
    settings : mapping, optional
        How the policy was learned: numbers, strings, lists and mappings, as JSON knows them.
    data : Trajectories, optional
        The data it was learned from, of which the fingerprint is kept and nothing else.

    A policy that divides by the probabilities of a behaviour policy cannot be saved.
    """
    kind, tensors, shape = _taken_apart(policy)
    names = vocabulary if vocabulary is not None or data is None else data.vocabulary
    header = ModelHeader(
        kind=kind,
        n_actions=policy.n_actions,
        n_observations=policy.n_observations,
        vocabulary=names,
        settings=dict(settings or {}),
        data_fingerprint=None if data is None else fingerprint(data),
        package_version=version("uqf"),
        **shape,
    )
    _check_header(header)
    described = _described(header)
    described["checksum"] = _checksum(described, tensors)
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


def _described(header: ModelHeader) -> dict[str, Any]:
    names = header.vocabulary
    described = {name: getattr(header, name) for name in ModelHeader.__dataclass_fields__}
    described["vocabulary"] = names and {"actions": names.actions, "observations": names.observations}
    try:
        # Through JSON and back, so that what is checked is what is written.
        return dict(json.loads(json.dumps(described, allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"settings must hold only what JSON knows (no NaN): {error}") from None


def _checksum(described: dict[str, Any], tensors: Arrays) -> str:
    """SHA-256 of header and tensors: a flipped bit in a weight would otherwise pass for a weight."""
    content = {name: value for name, value in described.items() if name != "checksum"}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


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
        if described["checksum"] != _checksum(described, tensors):
            raise FileFormatError(f"{path}: the checksum does not match: the file is damaged")
        header = _header(described)
        _check_header(header)
        _check_tensors(header, tensors)
    except (SafetensorError, LookupError, TypeError, ValueError, RecursionError, OverflowError) as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise FileFormatError(f"{path}: not a model file of uqf, or a damaged one ({reason})") from error
    return header, tensors


def _header(described: dict[str, Any]) -> ModelHeader:
    fields = {name: described[name] for name in ModelHeader.__dataclass_fields__}
    names = fields["vocabulary"]
    if names is not None:
        listed = (names["actions"], names["observations"])
        fields["vocabulary"] = Vocabulary(*(None if one is None else tuple(one) for one in listed))
    return ModelHeader(**fields)


def _check_header(header: ModelHeader) -> None:
    if header.format != FORMAT:
        raise ValueError(f"format {header.format!r} is unknown")
    if header.kind not in TENSORS:
        raise ValueError(f"kind {header.kind!r} is not one of {', '.join(TENSORS)}")
    for name in ("n_actions", "n_observations"):
        size = getattr(header, name)
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} = {size!r} is no positive number")
    if header.n_actions * header.n_observations > MOST_SYMBOLS:
        raise ValueError(
            f"{header.n_actions * header.n_observations} symbols, at most {MOST_SYMBOLS} fit a file"
        )
    if header.window is not None and (not isinstance(header.window, int) or header.window < 1):
        raise ValueError(f"window = {header.window!r} is no positive number")
    if not isinstance(header.temperature, (int, float)) or not 0.0 <= header.temperature < float("inf"):
        raise ValueError(f"temperature = {header.temperature!r} is no number from 0 on")
    names = header.vocabulary or Vocabulary()
    for role, listed, codes in (
        ("action", names.n_actions, header.n_actions),
        ("observation", names.n_observations, header.n_observations),
    ):
        if listed is not None and listed != codes:
            raise ValueError(f"the vocabulary makes {listed} {role} codes, the policy has {codes}")
    if any(len(name) > LONGEST_NAME for name in (names.actions or ()) + (names.observations or ())):
        raise ValueError(f"a name in the vocabulary is longer than {LONGEST_NAME} characters")


def _check_tensors(header: ModelHeader, tensors: Arrays) -> None:
    expected = TENSORS[header.kind]
    missing = [name for name, _, _, needed in expected if needed and name not in tensors]
    extra = tensors.keys() - {name for name, *_ in expected}
    if missing or extra:
        raise ValueError(f"tensors are missing ({missing}) or unknown ({sorted(extra)})")
    for name, dtype, axes, _ in expected:
        if name in tensors:
            tensor = tensors[name]
            if tensor.dtype != dtype or tensor.ndim != axes:
                raise ValueError(f"{name} has dtype {tensor.dtype} and shape {tensor.shape}")
            if not np.isfinite(tensor).all():
                raise ValueError(f"{name} holds NaN or infinity")
