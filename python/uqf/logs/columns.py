"""Which columns of a log hold what."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from uqf.coding.action_bins import MAX_BINS
from uqf.coding.codebook import Codebook
from uqf.coding.names import whole_within
from uqf.episodes.checks import instance
from uqf.errors import FileFormatError
from uqf.files import read_ordinary
from uqf.types import Record

#: The file beside a log that may say what its columns hold, under [columns].
SETTINGS_FILE = "uqf.toml"

#: Roles that several columns may share.
SEVERAL = ("observation", "first_observation")


@dataclass(frozen=True)
class LogColumns:
    """Column names of a log, and what its numbers stand for; None looks for the usual name, such as "reward".

    A log has one row per episode, with lists in its columns and perhaps a `terminated` flag; or one row per
    step, with an `episode` column whose value is the same in all rows of an episode.

    Parameters
    ----------
    episode, action, observation, reward : str, optional
        What every log has; `episode` only where there is one row per step. An observation may have several columns,
        as in ``observation=["temp", "pressure", "state"]``. A column of costs is the reward "-cost".
    behavior_prob : str, optional
        The probability with which the logged action was taken.
    terminated : str, optional
        Whether the system ended the episode.
    first_observation : str, optional
        What was seen before the first action; the first row of an episode counts. As many columns as `observation`.
    allowed : str, optional
        The actions that were allowed when the row's action was chosen, itself among them: their names or codes with |
        between them, as in ``run|stop``, or a list of them. An empty cell allows all.
    time : str, optional
        With it rows may lie anywhere in the log: those of an episode are sorted by this column, and episodes by their
        first time.
    action_bins : int, optional
        Numeric actions are cut into so many cells of about equally many steps, or fewer if there are fewer different
        numbers; for each of them an agent does the median of the cell. Without it numeric actions are codes, and
        measurements are refused.
    observed : "after" or "before", optional
        Whether the observation of a row came back after its action (the default), or was seen before it, as in most
        logs of sensors and decisions. With "before" the first row shows what was seen first, and what followed the
        last action is not known: it is taken to be what was seen before. `uqf inspect` says which one a log looks like.

    Examples
    --------
    >>> import polars, uqf
    >>> table = polars.DataFrame({"run": [0, 0, 1], "do": [1, 0, 0], "see": [2, 0, 1], "cost": [0.0, 1.0, 0.5]})
    >>> columns = uqf.LogColumns(episode="run", action="do", observation="see", reward="-cost", observed="before")
    >>> data = uqf.read_log(table, columns=columns)
    >>> data.first_observations.tolist(), data.observations.tolist(), data.rewards.tolist()
    ([2, 1], [0, 0, 1], [0.0, -1.0, -0.5])
    """

    episode: str | None = None
    action: str | None = None
    observation: str | Sequence[str] | None = None
    reward: str | None = None
    behavior_prob: str | None = None
    terminated: str | None = None
    first_observation: str | Sequence[str] | None = None
    allowed: str | None = None
    time: str | None = None
    action_bins: int | None = None
    observed: str | None = None

    def __post_init__(self) -> None:
        if self.action_bins is not None:
            whole_within("action_bins", self.action_bins, 2, MAX_BINS)
        if self.observed not in (None, "after", "before"):
            raise ValueError(f"observed = {self.observed!r}: give 'after' or 'before'")
        if self.observed == "before" and self.first_observation is not None:
            raise ValueError(
                "observed = 'before': the first row shows what was seen first; leave out first_observation"
            )
        for role in SEVERAL:
            given = getattr(self, role)
            if given is not None and not isinstance(given, str):
                instance(role, given, Sequence, "the name of a column, or several")
                if (
                    not given
                    or not all(isinstance(name, str) for name in given)
                    or len(set(given)) != len(given)
                ):
                    raise ValueError(
                        f"{role} = {given!r}: give the names of one or several different columns"
                    )
                object.__setattr__(self, role, tuple(given))

    @classmethod
    def of(cls, content: Record) -> LogColumns:
        """From roles and names, as ``uqf.toml`` and policy files hold them; ValueError for anything else."""
        known = [field.name for field in fields(cls)]
        for role, name in content.items():
            if role not in known:
                near = [f"did you mean {one!r}? " for one in difflib.get_close_matches(role, known, n=1)]
                raise ValueError(
                    f"{role!r} is no role of a column; {''.join(near)}the roles are {', '.join(known)}"
                )
            listed = isinstance(name, (list, tuple)) and role in SEVERAL
            if not all(
                isinstance(one, int if role == "action_bins" else str) for one in (name if listed else [name])
            ):
                raise ValueError(f"{role} = {name!r}: give the name of a column")
        return cls(**content)

    def to_dict(self) -> Record:
        """What was said, as JSON knows it; `of` reads it."""
        said = {role: value for role, value in asdict(self).items() if value is not None}
        return {role: list(value) if isinstance(value, tuple) else value for role, value in said.items()}

    def or_else(self, other: LogColumns) -> LogColumns:
        """What was said, and what the other says about the rest."""
        return LogColumns(**(other.to_dict() | self.to_dict()))

    def knowing(self, codebook: Codebook | None) -> LogColumns:
        """The same, with the columns of a codebook where nothing was said about the observation."""
        if codebook is not None:
            instance("codebook", codebook, Codebook, "a uqf.Codebook")
        if codebook is not None and self.action_bins is not None:
            raise ValueError(
                f"action_bins = {self.action_bins}, but the codebook says what actions are: leave out one of both"
            )
        cells = codebook is not None and codebook.observation_names is None and codebook.columns_
        return replace(self, observation=cells) if cells and self.observation is None else self


def beside(path: Path) -> LogColumns:
    """What the file ``uqf.toml`` in the folder of a log says; nothing where there is none."""
    file = (path if path.is_dir() else path.parent) / SETTINGS_FILE
    return columns_file(file) if file.is_file() else LogColumns()


def columns_file(path: Path) -> LogColumns:
    """What stands under [columns] of a TOML file."""
    try:
        content = tomllib.loads(read_ordinary(path, 2**20, SETTINGS_FILE).decode("utf-8"))
        if not isinstance(content.get("columns"), dict):
            raise ValueError('write roles and names under [columns], such as reward = "gain"')
        return LogColumns.of(content["columns"])
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: {error}") from None


#: What columns are for.
ROLES = tuple(field.name for field in fields(LogColumns) if field.name not in ("action_bins", "observed"))
