"""Cassandra's `.pomdp` files: finite POMDPs as text that most planners read."""

from __future__ import annotations

import os

from uqf.episodes.checks import instance, whole
from uqf.files import as_path, read_ordinary, refuse_other_kind, whole_file
from uqf.worlds.environments import Environment, TabularPOMDP
from uqf.worlds.pomdp_reader import read
from uqf.worlds.pomdp_writer import write

#: Entries of tables that any file may ask for (128 MiB of numbers), and those for every byte of a larger file.
MAX_ENTRIES = 2**24
ENTRIES_PER_BYTE = 64

#: Larger files are refused unread.
MAX_BYTES = 2**32


def parsed(
    text: str | bytes, *, horizon: int = 100, name: str = "pomdp", max_entries: int | None = None
) -> TabularPOMDP:
    """The POMDP that the text of a `.pomdp` file describes; arguments as in `load_pomdp`."""
    content = text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
    if max_entries is None:
        max_entries = max(MAX_ENTRIES, ENTRIES_PER_BYTE * len(content))
    return TabularPOMDP(**read(content, whole("max_entries", max_entries)), horizon=horizon, name=name)


def load_pomdp(
    path: str | os.PathLike[str],
    *,
    horizon: int = 100,
    name: str | None = None,
    max_entries: int | None = None,
) -> TabularPOMDP:
    """The POMDP of a `.pomdp` file.

    The whole format is read: names or counts, ``*``, ``identity``, ``uniform``, ``reset``, ``values: cost``
    (rewards come out negated), every form of ``start`` (none means uniform) and every form of T, O and R; a
    later line writes over an earlier one. The numbers of an R line run over the indices it does not name, in
    order, and may leave out the last ones. Rewards come out in the smallest form that is exact: (A, S),
    (A, S, S) or (A, S, S, O). Rows that miss 1 by up to 1e-5 are renormalised.

    Parameters
    ----------
    path : path
        Of the file.
    horizon : int
        Usual length of an episode for `uqf.rollout`; the format knows none.
    name : str, optional
        For messages and tables; the name of the file by default.
    max_entries : int, optional
        A file whose dense tables would have more entries is refused before memory is taken. By default 2^24, or 64 for
        every byte of the file if that is more.

    Returns
    -------
    TabularPOMDP
        With the names of the file.

    Raises
    ------
    ValueError
        With the line and column, or with the names of the row that is no distribution.

    Examples
    --------
    >>> from pathlib import Path
    >>> import uqf
    >>> text = '''discount: 0.9  values: reward  states: 2  actions: stay go  observations: 1
    ... T: stay identity
    ... T: go uniform
    ... O: * uniform
    ... R: go : * : * : * 1.0'''
    >>> _ = Path("walk.pomdp").write_text(text)
    >>> uqf.load_pomdp("walk.pomdp").action_names
    ['stay', 'go']
    """
    path = as_path(path)
    content = read_ordinary(path, MAX_BYTES, "world")
    try:
        return parsed(content, horizon=horizon, name=name or path.stem, max_entries=max_entries)
    except (ValueError, MemoryError) as error:
        raise type(error)(f"{path}: {error}") from None


def save_pomdp(pomdp: Environment, path: str | os.PathLike[str]) -> None:
    """Writes a `.pomdp` file for this POMDP, or for any world that has arrays; it appears whole or not at all.

    It holds the discount, the names, the start, T, O and R, each number in the shortest form that reads back
    the same; what `load_pomdp` read comes back bit for bit. The format cannot express everything:

    - terminal states become absorbing states without reward, so episodes no longer end there;
    - the horizon and the name of the world are lost;
    - a name that the format has no way to write (white space, brackets, a leading digit, a word of the format
      such as ``T`` or ``reset``) is changed to a similar one; names that only number become a count;
    - rewards given in a larger form than they need are read back in the smallest one.

    Parameters
    ----------
    pomdp : Environment
        A `TabularPOMDP`, or a world with few states.
    path : path
        Of the file.

    Raises
    ------
    ValueError
        If the world has too many states to write down.

    Examples
    --------
    >>> import uqf
    >>> uqf.save_pomdp(uqf.make("gridworld-near"), "grid.pomdp")
    >>> uqf.load_pomdp("grid.pomdp").n_observations
    5
    """
    refuse_other_kind(path, ".pomdp")
    instance("pomdp", pomdp, Environment, "a world, such as uqf.TabularPOMDP(…) or uqf.make(…)")
    content = write(pomdp.tabular()).encode()
    with whole_file(path) as file:
        file.write(content)
