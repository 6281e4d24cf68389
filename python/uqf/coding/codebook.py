"""The codebook: raw observations of any number of columns as codes, and the names of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.coding.action_bins import ActionBins
from uqf.coding.cell_choice import chosen_cells
from uqf.coding.cells import Cells
from uqf.coding.column_numbers import Numbers, column_sizes, numbers, numbers_of_one
from uqf.coding.names import (
    ActionNames,
    Names,
    checked_names,
    code_below,
    named_actions,
    whole_code,
    whole_codes,
    whole_within,
)
from uqf.coding.raw_columns import columns_of, kind_of, values_of_one, with_first
from uqf.coding.transformer import CodeTransformer
from uqf.types import AnyArray, Raw, Record, TableLike

#: Codes of a codebook, whoever asks for more.
MAX_CODES = 100_000


class Codebook(CodeTransformer):
    """Observations of several columns, each a category, a number or missing, as codes 0, 1, 2, …

    One column of names keeps them all: code i is the i-th in alphabetical order, and one code more, the last, stands
    for every name that the log does not contain. Any other table is cut into cells by a tree of questions; see `fit`.
    An unseen number lies in the nearest cell, an unseen name in the cell of what is none of the known ones, and a
    missing value is a value of its own. Nothing that is observed later is an error. It is a scikit-learn transformer.

    Parameters
    ----------
    max_codes : int
        At most so many codes; fewer if the log is short or if more would not help.
    seed : int
        Draws the episodes that judge.

    Examples
    --------
    >>> import uqf
    >>> steps = {"temp": [70, 90, None] * 40, "state": ["idle", "busy"] * 60}
    >>> book = uqf.Codebook().fit(steps)
    >>> book.describe(book.encode_one({"temp": 95.0, "state": "idle"}))
    'temp ≥ 80, state = idle'
    >>> book.encode_one({"temp": -3.0, "state": "idle"}) == book.encode_one((70, "idle"))
    True
    """

    def __init__(self, *, max_codes: int = 1024, seed: int = 0) -> None:
        self.max_codes = max_codes
        self.seed = seed

    coding_: Names | Cells | None
    """How observations are coded; None if they are codes already."""
    actions_: ActionNames | ActionBins = ActionNames(None)
    """Names of the actions in the order of their codes, or cells of numbers."""
    diagnostics_: Record
    """Of `fit`: the number of cells, the columns that are asked about and those that do not matter."""

    def fit(
        self,
        columns: TableLike,
        rewards: ArrayLike | None = None,
        offsets: ArrayLike | None = None,
        *,
        actions: ArrayLike | None = None,
        first: TableLike | None = None,
        last_seen: bool = True,
    ) -> Self:
        """Learns the codes from a log.

        Parameters
        ----------
        columns : mapping of name to 1-D array; pandas, polars or Arrow table; 2-D array; 1-D array; list of records
            One row per step, what came back after the action.
        rewards : floats, shape (n_steps,), optional
        offsets : integers, shape (n_episodes + 1,), optional
            Episode i is rows ``offsets[i]:offsets[i + 1]``; by default all rows are one episode.
        actions : codes or names, shape (n_steps,), optional
            The action of each step. Give them: a column may show which action is good and nothing else.
        first : columns with a row per episode, optional
            What every episode showed before its first action.
        last_seen : bool
            Whether the last row of every episode was seen. If not, it holds any value, and only its action and reward
            count.

        With rewards, cells are chosen by how well they predict the rewards and observations that follow, and their
        number by episodes that were held out. Without, cells are chosen to separate the rows.
        """
        whole_within("max_codes", self.max_codes, 2, MAX_CODES)
        whole_within("seed", self.seed, 0, 2**64 - 1)
        named = columns_of(columns)
        if first is not None:
            named, rewards, offsets, actions = with_first(named, columns_of(first), rewards, offsets, actions)
        kinds = tuple(kind_of(name, values) for name, values in named.items())
        if len(named[kinds[0].name]) == 0:
            raise ValueError("columns hold no row: give at least one")
        taken, self.actions_ = named_actions(actions)
        values = [column.values(named[column.name]) for column in kinds]
        explained: Record = {}
        if len(kinds) == 1 and kinds[0].kind == "category":
            self.coding_ = Names.of(kinds[0].name, values[0])
        else:
            kinds = tuple(column.with_names(one) for column, one in zip(kinds, values, strict=True))
            self.coding_, explained = chosen_cells(
                kinds, values, rewards, offsets, taken, self.max_codes, self.seed, last_seen
            )
        ignored = list(self.ignored_columns)
        self.diagnostics_ = {"codes": self.n_codes, "ignored columns": ignored} | explained
        return self

    @classmethod
    def named(
        cls, actions: Sequence[str] | None = None, observations: Sequence[str] | None = None
    ) -> Codebook:
        """Of names: action i is called ``actions[i]``, observation i ``observations[i]``; None if they are codes."""
        made = cls()
        made.coding_, made.diagnostics_ = None, {}
        if observations is not None:
            made.coding_ = Names("observation", checked_names("observations", observations))
        return made.with_actions(actions)

    def with_actions(self, actions: Sequence[str] | ActionNames | ActionBins | None) -> Codebook:
        """The same codes of observations, with these names of actions, or these cells of numbers."""
        made = type(self)(max_codes=self.max_codes, seed=self.seed)
        made.coding_, made.diagnostics_ = self.coding_, self.diagnostics_
        if not isinstance(actions, ActionNames | ActionBins):
            actions = ActionNames(None if actions is None else checked_names("actions", actions))
        made.actions_ = actions
        return made

    @property
    def n_codes(self) -> int | None:
        """Number of observation codes; None if observations are codes already."""
        return None if self.coding_ is None else self.coding_.n_codes

    @property
    def n_actions(self) -> int | None:
        return self.actions_.n

    @property
    def action_names(self) -> tuple[str, ...] | None:
        """Names of the actions in the order of their codes; None if they are numbers."""
        return self.actions_.names if isinstance(self.actions_, ActionNames) else None

    @property
    def action_bins(self) -> ActionBins | None:
        """How numeric actions are cut into cells; None if they are not."""
        return self.actions_ if isinstance(self.actions_, ActionBins) else None

    def refuse_other_sizes(self, n_actions: int, n_observations: int) -> None:
        """Raises ValueError if there are other numbers of codes than these."""
        for role, codes, wanted in (
            ("action", self.n_actions, n_actions),
            ("observation", self.n_codes, n_observations),
        ):
            if codes is not None and codes != wanted:
                raise ValueError(f"the codebook makes {codes} {role} codes, but there are {wanted}")

    @property
    def columns_(self) -> tuple[str, ...]:
        """Names of the columns of an observation; none if observations are codes already."""
        return () if self.coding_ is None else self.coding_.column_names

    @property
    def observation_names(self) -> tuple[str, ...] | None:
        """What the codes are called, but for the last, if there is one column of names."""
        return self.coding_.names if isinstance(self.coding_, Names) else None

    @property
    def ignored_columns(self) -> tuple[str, ...]:
        """Columns that no code depends on, since they did not help to predict what follows."""
        used = self.coding_.used if isinstance(self.coding_, Cells) else self.columns_
        return tuple(name for name in self.columns_ if name not in used)

    def encode(self, columns: TableLike) -> NDArray[np.int64]:
        """Codes of many observations, shape (n,); columns as in `fit`, in any order if they have names."""
        if self.coding_ is None:
            return whole_codes(columns)
        return self.coding_.encode(self._in_order(columns))

    def _in_order(self, columns: TableLike) -> list[AnyArray]:
        named, names = columns_of(columns), self.columns_
        if len(named) == len(names) and not set(names) <= named.keys():
            named = dict(zip(names, named.values(), strict=True))  # an array, whose columns have no names
        if absent := [name for name in names if name not in named]:
            raise ValueError(
                f"no column {absent[0]!r} among {list(named)[:20]}; the codebook has {names[:20]}"
            )
        return [named[name] for name in names]

    def encode_one(self, raw: Raw) -> int:
        """Code of one observation: a scalar, a name, a mapping, a tuple or an array."""
        if self.coding_ is None:
            return whole_code(raw, "observation")
        return self.coding_.encode_one(values_of_one(raw, self.columns_))

    @property
    def column_sizes(self) -> NDArray[np.int32] | None:
        """What each of `raw_columns` is, (d,): 0 for a number, k for a category of k; None if they are codes."""
        if isinstance(self.coding_, Cells):
            return column_sizes(self.coding_.columns)
        return None if self.n_codes is None else np.array([self.n_codes], np.int32)

    def raw_columns(self, columns: TableLike) -> Numbers:
        """Many observations as numbers, (n, d): numbers as they are, names by code; see `uqf.coding.column_numbers`."""
        if isinstance(self.coding_, Cells):
            return numbers(self.coding_.columns, self._in_order(columns))
        return self.encode(columns).astype(np.float32)[:, None]

    def raw_columns_one(self, raw: Raw) -> Numbers:
        """One observation as numbers, (d,)."""
        if not isinstance(self.coding_, Cells):
            return np.array([self.encode_one(raw)], np.float32)
        return numbers_of_one(self.coding_.columns, values_of_one(raw, self.columns_))

    def columns_of(self, codes: ArrayLike) -> tuple[Numbers, NDArray[np.int32]]:
        """Columns that codes stand for, (n, d), and `column_sizes`: a point in the cell of each, or the code itself."""
        sizes = self.column_sizes
        if sizes is None:
            raise ValueError("the codebook has no columns: observations are codes already")
        places = np.atleast_1d(whole_codes(codes))
        if places.ndim > 1 or (places.size and not 0 <= places.min() <= places.max() < (self.n_codes or 0)):
            raise ValueError(f"codes has shape {places.shape}: give codes below {self.n_codes}, (n,)")
        if isinstance(self.coding_, Cells):
            return self.coding_.points[places], sizes
        return places.astype(np.float32)[:, None], sizes

    def describe(self, code: int) -> str:
        if self.coding_ is None:
            return str(whole_code(code, "code"))
        return self.coding_.describe(code_below(code, self.coding_.n_codes))

    def encode_action(self, action: Raw) -> int:
        """Code of an action: of a name, or of a number by the cell it lies in; without either, codes are themselves."""
        return int(self.actions_.encode([action])[0])

    def _action(self, code: int) -> int:
        count = self.n_actions
        return whole_code(code, "code") if count is None else code_below(code, count, "action")

    def decode_action(self, code: int) -> Raw:
        """What is done: the name, the number (or array) that stands for a cell, or the code itself."""
        return self.actions_.decode(self._action(code))

    def action_name(self, code: int) -> str:
        """What an action is called, such as "repair", "valve 0.35" or "3"."""
        return self.actions_.name(self._action(code))

    def describe_action(self, code: int) -> str:
        """The same with all that it stands for, such as "0.2 ≤ valve < 0.5: 0.35"."""
        return self.actions_.describe(self._action(code))

    def __eq__(self, other: object) -> bool:
        """Whether both give the same codes; how they were learned does not matter."""
        if not isinstance(other, Codebook):
            return NotImplemented
        one, two = (getattr(book, "coding_", None) for book in (self, other))
        return one == two and self.actions_ == other.actions_

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if not hasattr(self, "coding_"):
            return super().__repr__()
        return f"<Codebook of {', '.join(self.columns_[:5]) or 'codes'}: {self.n_codes} codes>"

    def to_dict(self) -> Record:
        return {
            "actions": self.actions_.to_dict(),
            "observations": None if self.coding_ is None else self.coding_.to_dict(),
        }

    @classmethod
    def from_dict(cls, content: Raw) -> Codebook:
        """What `to_dict` gave; anything else raises ValueError."""
        try:
            actions, coded = content["actions"], content["observations"]
            made = cls.named().with_actions(
                ActionBins.from_dict(actions) if isinstance(actions, dict) else actions
            )
            if coded is not None:
                made.coding_ = (Names if "names" in coded else Cells).from_dict(coded)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"no codebook: {type(error).__name__}: {error}") from None
        return made
