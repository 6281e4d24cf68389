"""Raw columns of the observations of a log, and the actions that its rows allowed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from uqf.coding.cells import Cells
from uqf.coding.codebook import Codebook
from uqf.errors import FileFormatError
from uqf.logs.alphabet import Alphabet, first_columns
from uqf.logs.layout import is_list
from uqf.logs.rows import Rows, array, is_text, raw
from uqf.types import Record

#: What stands between the allowed actions of a cell.
BETWEEN = "|"


def extras_of_rows(rows: Rows, alphabet: Alphabet) -> Record:
    """Columns, first columns, their sizes and allowed actions, as far as a log has them.

    Our own files keep them. Of another log columns are kept where observations are cut into cells: one column of names
    or codes is its code.
    """
    extras, codebook = rows.layout.extras, alphabet.codebook or Codebook.named()
    if extras.names:
        own: Record = {
            part: np.stack([array(rows.values(f"{part}.{place}")) for place in range(width)], axis=1)
            for part, width in extras.widths.items()
        }
        return own | ({"column_sizes": extras.column_sizes} if extras.column_sizes else {})
    kept: Record = {}
    if isinstance(codebook.coding_, Cells):
        shown, names = first_columns(rows), rows.layout.observation
        kept["columns"] = codebook.raw_columns({name: raw(rows.seen(name, may_miss=True)) for name in names})
        kept["first_columns"] = None if shown is None else codebook.raw_columns(shown)
        kept["column_sizes"] = codebook.column_sizes
    if "allowed" in rows.layout.names:
        kept["allowed"] = _allowed(rows, codebook, alphabet.n_actions)
    return kept


def _allowed(rows: Rows, codebook: Codebook, n_actions: int) -> NDArray[np.bool_]:
    """The actions that every row allowed, (n_steps, n_actions)."""
    name = rows.layout.names["allowed"]
    if codebook.action_bins is not None:
        raise FileFormatError(
            f"column {name!r} lists allowed actions, but the actions are cut into cells: leave out one of both"
        )
    names = [str(codebook.decode_action(code)) for code in range(n_actions)]
    # Actions may have been cleaned of spellings that the cells still have.
    known = {one: code for form in (str.casefold, str) for code, one in enumerate(map(form, names))}
    masks: dict[tuple[str, ...], NDArray[np.bool_]] = {(): np.ones(n_actions, np.bool_)}
    cells = _cells(rows, name)
    for step, cell in enumerate(cells):
        if cell not in masks:
            if unknown := [one for one in cell if one not in known and one.casefold() not in known]:
                raise FileFormatError(
                    f"column {name!r}, {rows.where(step)}: {unknown[0]!r} is no action; the actions are "
                    f"{', '.join(names[:20])}, with {BETWEEN} between those that are allowed"
                )
            masks[cell] = np.zeros(n_actions, np.bool_)
            masks[cell][[known[one if one in known else one.casefold()] for one in cell]] = True
    return np.stack([masks[cell] for cell in cells])


def _cells(rows: Rows, name: str) -> list[tuple[str, ...]]:
    """What the cells list, one per step; nothing for an empty one."""
    column = rows.table.column(name).combine_chunks()
    if rows.layout.per_step and is_list(column.type):
        listed = column.to_pylist()
        return [tuple(str(one).strip() for one in cell or ()) for cell in listed]
    values = rows.values(name, may_miss=True)
    if pa.types.is_nested(values.type):
        raise FileFormatError(f"column {name!r} holds {values.type}: give names with {BETWEEN} between them")
    texts = (values if is_text(values.type) else values.cast(pa.string())).to_pylist()
    split = {
        text: tuple(one.strip() for one in text.split(BETWEEN))
        for text in set(texts)
        if text and text.strip()
    }
    return [split.get(text, ()) for text in texts]
