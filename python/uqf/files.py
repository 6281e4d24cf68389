"""Files: ordinary ones are read, whole ones are written."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from uqf.errors import FileFormatError, kind_of

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]  # Windows: no locks, and nothing that was left behind is removed

#: Opening a pipe that nobody writes to would wait for ever.
WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def as_path(path: str | os.PathLike[str]) -> Path:
    """The path of a file or folder, or an error that says what was given instead."""
    if "\0" in str(path):
        raise ValueError(f"path = {str(path)!r}: no name of a file holds a zero byte")
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is {kind_of(path)}: give the name of a file, a string or a pathlib.Path")
    return Path(path)


def open_ordinary(path: str | os.PathLike[str]) -> BinaryIO:
    """A file to read; devices and pipes, which may never end, and folders raise `uqf.FileFormatError`."""
    handle = os.open(as_path(path), os.O_RDONLY | WITHOUT_WAITING)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileFormatError(f"{os.fspath(path)}: a folder, a device or a pipe; give an ordinary file")
    return os.fdopen(handle, "rb")


def read_ordinary(path: str | os.PathLike[str], max_bytes: int, what: str) -> bytes:
    """The bytes of an ordinary file, unless there are more than any `what` has."""
    with open_ordinary(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise FileFormatError(
                f"{os.fspath(path)}: {size} bytes, more than any {what} of this package has"
            )
        return file.read(size)


#: Temporary files that this process is writing.
_UNFINISHED: set[Path] = set()


def remove_unfinished() -> None:
    """Removes what this process has half written, because it is about to end."""
    for temporary in list(_UNFINISHED):
        temporary.unlink(missing_ok=True)


#: Suffixes that belong to one kind of file.
KINDS = {
    ".safetensors": "policies and statistics",
    ".onnx": "ONNX models (uqf.export_onnx)",
    ".pomdp": "worlds (uqf.save_pomdp)",
    ".html": "reports",
    ".pdf": "documents",
} | dict.fromkeys((".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather"), "logs")


def refuse_other_kind(path: str | os.PathLike[str], own: str) -> None:
    """Raises ValueError for a name whose suffix belongs to another kind of file; others, and none, are free."""
    suffix = as_path(path).suffix.lower()
    if suffix != own and suffix in KINDS:
        raise ValueError(
            f"path = {os.fspath(path)!r}: {suffix} is for {KINDS[suffix]}, and this is a {own} file; name it so"
        )


def check_folder(path: str | os.PathLike[str]) -> Path:
    """The path, if there is a folder for it: better to know before long work than after it."""
    folder = Path(os.path.realpath(as_path(path))).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{os.fspath(path)}: there is no folder {folder}; make it, or name another")
    return Path(path)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """A disk that is full does not say which file it had no room for: errors inside do."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise type(error)(error.errno, os.strerror(error.errno), os.fspath(path)) from None


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the block ends without an exception.

    Until then it has another name in the same folder: a crash, Ctrl-C or a full disk leaves an older file as
    it was, and of two processes that write at once the last one to finish wins whole. What a killed process left
    behind is removed by the next one that writes the same file. A link stays, and what it leads to is replaced; a
    device is written to.
    """
    target = Path(os.path.realpath(as_path(path)))
    if target.exists() and not target.is_file():
        with naming(path), open(path, "wb") as device:
            yield device
        return
    check_folder(target)
    _remove_abandoned(target)
    temporary, handle = _new_beside(target)
    # Held until the file has its name: whoever can lock a temporary file knows that its writer is gone.
    lock = os.dup(handle) if fcntl else None
    _UNFINISHED.add(temporary)
    try:
        with naming(target), os.fdopen(handle, "wb") as file:
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        _UNFINISHED.discard(temporary)
        if lock is not None:
            os.close(lock)


@contextmanager
def locked(file: BinaryIO) -> Iterator[None]:
    """Waits until no other process holds the file, and holds it for the block."""
    if fcntl:
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_UN)


def _beginning(target: Path) -> str:
    """How the names of temporary files of `target` begin: file systems take 255 bytes, a long name as its hash."""
    name = os.fsencode(target.name)
    return f".{target.name if len(name) <= 200 else hashlib.sha256(name).hexdigest()}."


def _new_beside(target: Path) -> tuple[Path, int]:
    """A new locked file in the folder of `target`."""
    while True:
        temporary = target.with_name(f"{_beginning(target)}{secrets.token_hex(8)}")
        # Opened by number rather than by `tempfile`, whose files nobody else may read.
        try:
            handle = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
            )
        except OSError as error:
            # Nobody knows the temporary name.
            raise type(error)(error.errno, error.strerror, str(target)) from None
        # Another process may have taken it for abandoned before it was locked.
        if _locks(handle) and os.fstat(handle).st_nlink:
            return temporary, handle
        os.close(handle)


def _locks(handle: int) -> bool:
    if fcntl:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _remove_abandoned(target: Path) -> None:
    """Removes the temporary files of writers that are gone."""
    pattern = re.compile(rf"{re.escape(_beginning(target))}[0-9a-f]{{16}}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        names = [entry.name for entry in entries if pattern.fullmatch(entry.name)] if fcntl else []
        for name in names:
            with suppress(OSError, FileFormatError), open_ordinary(target.with_name(name)) as file:
                if _locks(file.fileno()):
                    target.with_name(name).unlink()
