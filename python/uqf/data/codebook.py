"""The codebook: raw observations of any number of columns as codes, and the names of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.data.cells import Cells
from uqf.data.names import Names, checked_names
from uqf.data.raw_columns import columns_of, kind_of, values_of_one, with_first

#: Codes of a codebook, whoever asks for more.
MAX_CODES = 100_000


class Codebook:
    """Observations of several columns, each a category, a number or missing, as codes 0, 1, 2, …

    One column of names keeps them all: code i is the i-th in alphabetical order, and one code more, the last, stands
    for every name that the log does not contain. Any other table is cut into cells by a tree of questions; see `fit`.
    An unseen number lies in the nearest cell, an unseen name in the cell of what is none of the known ones, and a
    missing value is a value of its own. Nothing that is observed later is an error.

    It is a scikit-learn transformer (`fit`, `transform`, `get_params`, `clone`) without its base classes, which take
    seconds to import: an agent that only acts should not wait for them.

    Parameters
    ----------
    max_codes : int
        At most so many codes; fewer if the log is short or if more would not help.
    seed : int
        Of ties between equally good cuts, and of the episodes that judge.

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
    action_names: tuple[str, ...] | None = None
    """Names of the actions in the order of their codes; None if they are numbers."""
    diagnostics_: dict[str, Any]
    """What `fit` found: the number of cells, the columns that are asked about and those that do not matter."""

    def fit(
        self,
        columns: Any,
        rewards: ArrayLike | None = None,
        offsets: ArrayLike | None = None,
        *,
        actions: ArrayLike | None = None,
        first: Any = None,
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
            The action of each step. Give them: a column may tell which action is good and nothing else.
        first : columns with a row per episode, optional
            What every episode showed before its first action.

        With rewards, cells are chosen by how well they predict the rewards and observations that follow, and their
        number by episodes that were held out. Without, cells are chosen to tell the rows apart.
        """
        if not 2 <= self.max_codes <= MAX_CODES:
            raise ValueError(f"max_codes = {self.max_codes}: give a number from 2 to {MAX_CODES}")
        found = columns_of(columns)
        if first is not None:
            found, rewards, offsets, actions = with_first(found, columns_of(first), rewards, offsets, actions)
        kinds = tuple(kind_of(name, values) for name, values in found.items())
        if len(found[kinds[0].name]) == 0:
            raise ValueError("columns hold no row: give at least one")
        taken = None if actions is None else np.asarray(actions)
        if taken is not None and taken.dtype.kind in "OUS":
            self.action_names = tuple(sorted({str(one) for one in taken.tolist()}))
        values = [column.values(found[column.name]) for column in kinds]
        if len(kinds) == 1 and kinds[0].kind == "category":
            self.coding_ = Names.of(kinds[0].name, values[0])
            self.diagnostics_ = {"codes": self.coding_.n_codes, "ignored columns": []}
            return self
        # Slow to import, and only needed here.
        from uqf.data.cell_choice import chosen_cells

        kinds = tuple(column.with_names(one) for column, one in zip(kinds, values, strict=True))
        cells, told = chosen_cells(kinds, values, rewards, offsets, taken, self.max_codes, self.seed)
        self.coding_ = cells
        self.diagnostics_ = {"codes": cells.n_codes, "ignored columns": list(self.ignored_columns), **told}
        return self

    @classmethod
    def named(
        cls, actions: Sequence[str] | None = None, observations: Sequence[str] | None = None
    ) -> Codebook:
        """Of names: action i is called ``actions[i]``, observation i ``observations[i]``; None if they are codes."""
        made = cls()
        made.coding_ = None if observations is None else Names("observation", tuple(observations))
        made.diagnostics_ = {}
        return made.with_actions(actions)

    def with_actions(self, names: Sequence[str] | None) -> Codebook:
        """The same codes of observations, with these names of actions."""
        made = type(self)(max_codes=self.max_codes, seed=self.seed)
        made.coding_, made.diagnostics_ = self.coding_, self.diagnostics_
        made.action_names = None if names is None else checked_names("actions", names)
        return made

    @property
    def n_codes(self) -> int | None:
        """Number of observation codes; None if observations are codes already."""
        return None if self.coding_ is None else self.coding_.n_codes

    @property
    def n_actions(self) -> int | None:
        """Number of actions, if they have names."""
        return None if self.action_names is None else len(self.action_names)

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
        """Columns that no code depends on, since they did not help to tell what follows."""
        used = self.coding_.used if isinstance(self.coding_, Cells) else self.columns_
        return tuple(name for name in self.columns_ if name not in used)

    def encode(self, columns: Any) -> NDArray[np.int64]:
        """Codes of many observations, shape (n,); columns as in `fit`, in any order if they have names."""
        if self.coding_ is None:
            return np.asarray(columns, np.int64)
        found = columns_of(columns)
        names = self.columns_
        if len(found) == len(names) and not set(names) <= found.keys():
            found = dict(zip(names, found.values(), strict=True))  # an array, whose columns have no names
        absent = [name for name in names if name not in found]
        if absent:
            raise ValueError(
                f"no column {absent[0]!r} among {list(found)[:20]}; the codebook has {names[:20]}"
            )
        return self.coding_.encode([found[name] for name in names])

    def encode_one(self, raw: Any) -> int:
        """Code of one observation: a scalar, a name, a mapping, a tuple or an array."""
        if self.coding_ is None:
            return int(raw)
        return self.coding_.encode_one(values_of_one(raw, self.columns_))

    def describe(self, code: int) -> str:
        """What a code means, in words."""
        if self.coding_ is None:
            return str(int(code))
        if not 0 <= code < self.coding_.n_codes:
            raise ValueError(f"code {code}: the codebook has {self.coding_.n_codes}")
        return self.coding_.describe(int(code))

    def encode_action(self, action: str | int) -> int:
        """Code of an action; numbers stand for themselves."""
        if not isinstance(action, str):
            return int(action)
        if self.action_names is None or action not in self.action_names:
            known = "only numbers" if self.action_names is None else ", ".join(self.action_names[:20])
            raise ValueError(f"action {action!r} does not occur in the logs, which know {known}")
        return self.action_names.index(action)

    def decode_action(self, code: int) -> str | int:
        """Name of an action, or its code if actions have no names."""
        return int(code) if self.action_names is None else self.action_names[code]

    def __eq__(self, other: object) -> bool:
        """Whether both give the same codes; how they were learned does not matter."""
        if not isinstance(other, Codebook):
            return NotImplemented
        return (getattr(self, "coding_", None), self.action_names) == (
            getattr(other, "coding_", None),
            other.action_names,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if not hasattr(self, "coding_"):
            return f"Codebook(max_codes={self.max_codes}, seed={self.seed})"
        return f"<Codebook of {', '.join(self.columns_[:5]) or 'codes'}: {self.n_codes} codes>"

    # --- what files hold ---

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "actions": None if self.action_names is None else list(self.action_names),
            "observations": None if self.coding_ is None else self.coding_.to_dict(),
        }

    @classmethod
    def from_dict(cls, content: Any) -> Codebook:
        """What `to_dict` gave; anything else raises ValueError."""
        try:
            actions, coded = content["actions"], content["observations"]
            made = cls.named(actions)
            if coded is not None:
                made.coding_ = (Names if "names" in coded else Cells).from_dict(coded)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"no codebook: {type(error).__name__}: {error}") from None
        return made

    # --- scikit-learn's conventions ---

    def transform(self, columns: Any) -> NDArray[np.int64]:
        """Codes of many observations, shape (n, 1)."""
        return self.encode(columns)[:, None]

    def fit_transform(
        self, columns: Any, rewards: ArrayLike | None = None, **given: Any
    ) -> NDArray[np.int64]:
        """`fit` and `transform` in one."""
        return self.fit(columns, rewards, **given).transform(columns)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of `__init__`."""
        return {"max_codes": self.max_codes, "seed": self.seed}

    def set_params(self, **given: Any) -> Self:
        """Sets parameters of `__init__`."""
        for name, value in given.items():
            if name not in self.get_params():
                raise ValueError(f"{name}: the parameters are {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coding_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        tags = InputTags(one_d_array=True, categorical=True, string=True, dict=True, allow_nan=True)
        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=tags,
        )
