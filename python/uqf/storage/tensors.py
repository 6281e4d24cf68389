"""Named arrays with a header in one file: safetensors, checked before anything in it is believed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from uqf.errors import FileFormatError
from uqf.files import as_path, read_ordinary, refuse_other_kind, whole_file
from uqf.types import AnyArray, Record

Arrays = dict[str, AnyArray]
Header = Record

#: What a damaged or hostile header may raise on its way to a Python object.
DAMAGE = (SafetensorError, LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


def write_tensors(path: str | os.PathLike[str], key: str, header: Header, tensors: Arrays) -> None:
    """Writes the file whole or not at all; `header` holds what JSON knows, `format` among it."""
    refuse_other_kind(path, ".safetensors")
    try:
        # Through JSON and back, so that what is checked is what is written.
        header = json.loads(json.dumps(header, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"settings must hold only what JSON knows (no NaN): {error}") from None
    header["checksum"] = _checksum(header, tensors)
    with whole_file(path) as file:
        file.write(safetensors.numpy.save(tensors, {key: json.dumps(header)}))


def read_tensors(
    path: str | os.PathLike[str], key: str, what: str, newest: int, max_bytes: int
) -> tuple[Header, Arrays]:
    """Header and arrays of a file that `write_tensors` wrote; anything else raises `uqf.FileFormatError`.

    `what` names the content in messages, `newest` is the highest format that this package reads. Nothing in the file
    is executed, and it takes no more memory than a few times its size.
    """
    content = read_ordinary(path, max_bytes, what)
    with naming_damage(path, what):
        # The length of the JSON header comes first; the rest is checked by the library, shapes against size.
        length = int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][key])
        version = header["format"]
        if isinstance(version, int) and version > newest:
            raise FileFormatError(
                f"{path}: format {version}; this package reads format {newest}: install a newer one"
            )
        tensors = safetensors.numpy.load(content)
        if header.pop("checksum") != _checksum(header, tensors):
            raise FileFormatError(f"{path}: the checksum does not match: the file is damaged")
        if version != newest:
            raise ValueError(f"format {version!r} is unknown")
        for name, tensor in tensors.items():
            if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
                raise ValueError(f"{name} holds NaN or infinity")
    return header, tensors


@contextmanager
def naming_damage(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turns whatever a damaged file provokes into a `FileFormatError` that names it."""
    try:
        yield
    except FileFormatError:
        raise
    except DAMAGE as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise FileFormatError(f"{path}: no {what} of uqf, or a damaged one ({reason})") from error


def begins_as_tensors(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as these files do: the length of a JSON header, and that header."""
    path = as_path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        length, brace = int.from_bytes(file.read(8), "little"), file.read(1)
    return brace == b"{" and length < path.stat().st_size


def _checksum(header: Header, tensors: Arrays) -> str:
    """SHA-256 of header and tensors: a flipped bit in a weight would otherwise pass for a weight."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
