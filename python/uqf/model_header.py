"""The header of a model file: what it says about itself, and what it may say."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf.sum_policy_tensors import SUM_TENSORS
from uqf.trajectories import Trajectories
from uqf.vocabulary import Vocabulary

#: Raised by one whenever an older package could misread a file.
FORMAT = 1

#: The hash function of all projections.
PROJECTION_HASH = "xxh3-64"

#: Limits that keep a hostile file from filling the memory.
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


@dataclass(frozen=True)
class Origin:
    """What is kept of the data that a policy was learned from."""

    fingerprint: str
    vocabulary: Vocabulary | None

    @classmethod
    def of(cls, data: Trajectories) -> Origin:
        """Of a data set."""
        return cls(fingerprint(data), data.vocabulary)


def described_of(header: ModelHeader) -> dict[str, Any]:
    """The header as JSON has it."""
    names = header.vocabulary
    content = {name: getattr(header, name) for name in ModelHeader.__dataclass_fields__}
    content["vocabulary"] = names and {"actions": names.actions, "observations": names.observations}
    try:
        # Through JSON and back, so that what is checked is what is written.
        return dict(json.loads(json.dumps(content, allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"settings must hold only what JSON knows (no NaN): {error}") from None


def checksum(described: dict[str, Any], tensors: Arrays) -> str:
    """SHA-256 of header and tensors: a flipped bit in a weight would otherwise pass for a weight."""
    content = {name: value for name, value in described.items() if name != "checksum"}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def header_of(described: dict[str, Any]) -> ModelHeader:
    """The header that was described so; not yet checked."""
    fields = {name: described[name] for name in ModelHeader.__dataclass_fields__}
    names = fields["vocabulary"]
    if names is not None:
        listed = (names["actions"], names["observations"])
        fields["vocabulary"] = Vocabulary(*(None if one is None else tuple(one) for one in listed))
    return ModelHeader(**fields)


def check_header(header: ModelHeader) -> None:
    """Raises ValueError for anything that no policy of this package says of itself."""
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


def check_tensors(header: ModelHeader, tensors: Arrays) -> None:
    """Raises ValueError unless exactly the tensors of this kind are there, with finite numbers."""
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
