"""Cassandra's `.pomdp` files: finite POMDPs as text that most planners read."""

from __future__ import annotations

import os
from pathlib import Path

from uqf import _core
from uqf.files import read_ordinary, whole_file
from uqf.worlds.environments import Environment, TabularPOMDP

#: Entries of tables that any file may ask for (128 MiB of numbers), and those for every byte of a larger file.
MAX_ENTRIES = 2**24
ENTRIES_PER_BYTE = 64

#: Larger files are refused unread.
MAX_BYTES = 2**32


def loads_pomdp(
    text: str | bytes, *, horizon: int = 100, name: str = "pomdp", max_entries: int | None = None
) -> TabularPOMDP:
    """The POMDP that the text of a `.pomdp` file describes.

    The whole format is read: names or counts, ``*``, ``identity``, ``uniform``, ``reset``, ``values: cost``
    (rewards come out negated), every form of ``start`` (none means uniform) and every form of T, O and R; a
    later line writes over an earlier one. The numbers of an R line run over the indices it does not name, in
    order, and may leave out the last ones. Rewards come out in the smallest form that is exact: (A, S),
    (A, S, S) or (A, S, S, O).

    Rows that miss 1 by up to 1e-5 are renormalised. Anything else raises ``ValueError`` with the line and
    column, or with the names of the row that is no distribution. A file whose dense tables would have more
    than `max_entries` entries is refused before memory is taken: by default 2^24, or 64 for every byte of the
    file if that is more. Memory that is not there raises ``MemoryError``.

    The format knows no horizon: the one given here is only the usual length of an episode for `uqf.rollout`.
    """
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    if max_entries is None:
        max_entries = max(MAX_ENTRIES, ENTRIES_PER_BYTE * len(content))
    return TabularPOMDP(**_core.read_pomdp(content, max_entries), horizon=horizon, name=name)


def load_pomdp(
    path: str | os.PathLike[str],
    *,
    horizon: int = 100,
    name: str | None = None,
    max_entries: int | None = None,
) -> TabularPOMDP:
    """The POMDP of a `.pomdp` file, named after the file unless `name` is given; see `loads_pomdp`."""
    path = Path(path)
    content = read_ordinary(path, MAX_BYTES, "world")
    try:
        return loads_pomdp(
            content, horizon=horizon, name=path.stem if name is None else name, max_entries=max_entries
        )
    except (ValueError, MemoryError) as error:
        raise type(error)(f"{path}: {error}") from None


def dumps_pomdp(pomdp: Environment) -> str:
    """The text of a `.pomdp` file for this POMDP, or for any world that has arrays.

    It holds the discount, the names, the start, T, O and R, each number in the shortest form that reads back
    the same; what `loads_pomdp` read comes back bit for bit. The format cannot express everything:

    - terminal states become absorbing states without reward, so episodes no longer end there;
    - the horizon and the name of the world are lost;
    - a name that the format has no way to write (white space, brackets, a leading digit, a word of the format
      such as ``T`` or ``reset``) is changed to a similar one; names that only number become a count;
    - rewards given in a larger form than they need are read back in the smallest one.
    """
    tabular = pomdp.tabular()
    text: str = _core.write_pomdp(tabular.world, tabular.discount)
    return text


def save_pomdp(pomdp: Environment, path: str | os.PathLike[str]) -> None:
    """Writes a `.pomdp` file; `dumps_pomdp` says what it holds.

    The file appears whole or not at all: a crash or a full disk leaves an older one as it was.
    """
    content = dumps_pomdp(pomdp).encode()
    with whole_file(path) as file:
        file.write(content)
