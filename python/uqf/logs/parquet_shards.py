"""A folder of Parquet files as shards, read a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.logs.alphabet import Alphabet, Asked, RawEpisodes
from uqf.logs.columns import Layout, LogColumns, naming
from uqf.logs.episodes import episodes_of, recoded
from uqf.logs.parquet import files_of, tables_of
from uqf.logs.survey import FileSurvey, survey
from uqf.reading.release import give_back

#: Steps in a batch: some tens of megabytes while it is read.
BATCH_STEPS = 1 << 19


@dataclass(frozen=True)
class ParquetShard:
    """One file."""

    path: str
    layout: Layout
    alphabet: Alphabet
    #: Names in the metadata, for the codes in the columns; None without metadata.
    written: Codebook | None
    asked: Asked
    n_steps: int
    batch_rows: int
    hosts: tuple[str, ...]
    changeable: bool = True

    @property
    def name(self) -> str:
        """The path."""
        return self.path

    def batches(self) -> Iterator[Trajectories]:
        """Whole episodes, about a batch of rows at a time."""
        with naming(self.path):
            tables = tables_of([Path(self.path)], self.batch_rows, self.layout.columns)
            for data in episodes_of(tables, self.layout, self.alphabet):
                yield data if self.written is None else recoded(data, self.written, self.asked)
                del data
        give_back()


class Shards:
    """Episodes in a folder of Parquet files, or in one file: one shard per file, in the order of their names.

    Making it reads the footers of the files. Sizes and names that are neither given nor in the metadata are
    read from the columns of actions and observations, unless the footers tell the largest numbers. Every file holds
    whole episodes. Results depend, in their last digits, on how episodes are spread over files and on `batch_steps`,
    but not on who reads them.

    Parameters
    ----------
    folder : path
        Of the folder or the file.
    columns, n_actions, n_observations, codebook
        As in `uqf.from_arrow`.
    batch_steps : int
        About so many steps are in memory at a time.

    Raises
    ------
    FileFormatError
        If there is no file, or one is damaged.

    Examples
    --------
    >>> import os, uqf
    >>> os.mkdir("log")
    >>> for day in range(2):
    ...     uqf.rollout(uqf.make("tiger"), episodes=50, seed=day).to_parquet(f"log/{day}.parquet")
    >>> learner = uqf.UQF(2, 0.95).fit(uqf.Shards("log"))
    >>> learner.policy_.n_actions
    3
    """

    in_memory = False

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        columns: LogColumns | None = None,
        n_actions: int | None = None,
        n_observations: int | None = None,
        codebook: Codebook | None = None,
        batch_steps: int = BATCH_STEPS,
    ) -> None:
        given = (n_actions, n_observations, codebook)
        surveys = [survey(path, columns, given) for path in files_of(Path(folder).absolute())]
        self._keep(surveys, {}, given, batch_steps)

    @classmethod
    def of_surveys(
        cls,
        surveys: Sequence[FileSurvey],
        hosts: Mapping[str, tuple[str, ...]],
        given: Asked = (None, None, None),
        batch_steps: int = BATCH_STEPS,
    ) -> Shards:
        """Files that others have looked at, and the machines on which each of them lies."""
        made = cls.__new__(cls)
        made._keep(surveys, hosts, given, batch_steps)
        return made

    def _keep(
        self,
        surveys: Sequence[FileSurvey],
        hosts: Mapping[str, tuple[str, ...]],
        given: Asked,
        batch_steps: int,
    ) -> None:
        if batch_steps < 1:
            raise ValueError(f"batch_steps = {batch_steps}: give at least 1")
        alphabet, written = _agreed(surveys, given)
        n_actions, n_observations, codebook = (None, None, None) if written is None else given
        names = codebook or written or alphabet.codebook or Codebook.named()
        self.codebook = None if names == Codebook.named() else names
        self.n_actions = names.n_actions or n_actions or alphabet.n_actions
        self.n_observations = names.n_codes or n_observations or alphabet.n_observations
        self.reward_size = max(one.reward_size for one in surveys)
        self.shards = [
            ParquetShard(
                one.path,
                one.layout,
                alphabet,
                written,
                given,
                one.steps,
                max(1, batch_steps * one.rows // max(one.steps, 1)),
                hosts.get(one.path, ()),
            )
            for one in surveys
        ]

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, index: int) -> ParquetShard:
        return self.shards[index]

    def __repr__(self) -> str:
        steps = sum(shard.n_steps for shard in self.shards)
        return f"Shards({len(self)} files, {steps} steps, {self.n_actions} actions, {self.n_observations} observations)"


def _agreed(surveys: Sequence[FileSurvey], given: Asked) -> tuple[Alphabet, Codebook | None]:
    """The alphabet of all files together, and the names in their metadata; refuses files that do not fit.

    The names are None where there are no metadata, and then what was asked for is in the alphabet.
    """
    first = surveys[0]
    for before, one in pairwise(surveys):
        if one.layout != first.layout or one.has_metadata != first.has_metadata:
            raise FileFormatError(f"{one.path}: other columns or other metadata than in {first.path}")
        if one.has_metadata and (one.alphabet != first.alphabet or one.codebook != first.codebook):
            raise FileFormatError(f"{one.path}: other actions, observations or names than in {first.path}")
        if one.ends is not None and before.ends is not None and one.ends[0] == before.ends[1]:
            raise FileFormatError(
                f"{one.path}: begins with episode {one.ends[0]!r}, with which {before.path} ends; every file must "
                "hold whole episodes"
            )
    if first.has_metadata:
        return first.alphabet, first.codebook or Codebook.named()
    n_actions, n_observations, codebook = given
    codebook = codebook or _learned(surveys)
    known = codebook or Codebook.named()
    return Alphabet(
        n_actions or known.n_actions or max(one.alphabet.n_actions for one in surveys),
        n_observations or known.n_codes or max(one.alphabet.n_observations for one in surveys),
        codebook,
    ), None


def _learned(surveys: Sequence[FileSurvey]) -> Codebook | None:
    """One codebook for all files, if their actions or observations are not codes."""
    seen = [one.alphabet.codebook or Codebook.named() for one in surveys]
    actions, observations = _union(n.action_names for n in seen), _union(n.observation_names for n in seen)
    samples = [one.sample for one in surveys if one.sample is not None]
    measured = [sample for sample in samples if sample.columns]
    if 0 < len(measured) < len(surveys):
        odd = next(one for one in surveys if one.sample is None or not one.sample.columns)
        raise FileFormatError(
            f"{odd.path}: the observations are codes or names here and measurements in other files; give the codebook "
            "of all, as in codebook=uqf.Codebook().fit(…)"
        )
    known = (RawEpisodes.joined(samples).action_bins() if samples else None) or actions
    if measured:
        return RawEpisodes.joined(measured).codebook().with_actions(known)
    return Codebook.named(None, observations).with_actions(known) if known or observations else None


def _union(listed: Iterator[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    names = [one for one in listed if one is not None]
    return tuple(sorted(set().union(*names))) if names else None
