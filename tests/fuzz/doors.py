"""The doors of the package: what comes in from outside, how it is damaged, and how it is opened.

`make` gives an input, `enter` is True if it was let in and False if it was refused as it should be. Whatever else is
raised, and whatever is let in but is not what it seems, is a finding.
"""

import contextlib
import io
import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import safetensors.numpy
from calls import Calls
from command_line import Arguments
from corpus import WORLDS
from mutators import bent, bent_arrays, bent_table, damaged, pick, rewritten

import uqf
from pomdp_texts import obeyed
from uqf import _core, strings
from uqf.logs.columns import columns_file
from uqf.paper import Store
from uqf.storage import policies, tensors
from uqf.worlds.pomdp_file import parsed


class Files:
    """Inputs that are the contents of a file with one of these suffixes."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self.path = folder / f"input{suffix}"
        self.contents = [path.read_bytes() for path in sorted(folder.glob(f"*{suffix}"))]
        assert self.contents, f"no {suffix} in {folder}"

    def make(self, rng):
        return damaged(pick(rng, self.contents), pick(rng, self.contents), rng)

    def enter(self, content: bytes) -> bool:
        self.path.write_bytes(content)
        try:
            self.read()
        except uqf.FileFormatError as error:
            refusal = str(error)
        else:
            return True
        assert str(self.path) in refusal, refusal
        return False


class Text(Files):
    """Files whose words and lines can be moved."""

    def make(self, rng):
        if rng.integers(3) == 0:
            return super().make(rng)
        return rewritten(pick(rng, self.contents), rng)


class Worlds(Text):
    """`.pomdp` files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".pomdp")
        self.contents = [text.encode() for text in WORLDS]

    def enter(self, content: bytes) -> bool:
        world, refusal = None, ""
        try:
            world = parsed(content, max_entries=10**6)
        except ValueError as error:
            refusal = str(error)
        if world is None:
            assert not obeyed(refusal), repr(refusal)
            return False
        for table in (world.transitions, world.observations, world.start):
            np.testing.assert_allclose(table.sum(-1), 1.0, rtol=1e-12)
        world.simulation().step(world.n_actions - 1)
        return True


class Forged(Files):
    """Safetensors files: damaged, or with content that lies under a right checksum."""

    def __init__(self, folder: Path, suffix: str, module) -> None:
        super().__init__(folder, suffix)
        self.key = module.KEY
        self.parts = [
            tensors.read_tensors(path, module.KEY, "input", module.FORMAT, module.MAX_BYTES)
            for path in sorted(folder.glob(f"*{suffix}"))
        ]

    def make(self, rng):
        if rng.integers(3) == 0:
            return super().make(rng)
        header, arrays = pick(rng, self.parts)
        if rng.integers(2):
            header = bent(header, rng)
        if rng.integers(2):
            arrays = bent_arrays(arrays, rng)
        if isinstance(header, dict):
            header = header | {"checksum": tensors._checksum(header, arrays)}
        metadata = {self.key: json.dumps(header)}
        return safetensors.numpy.save({name: np.ascontiguousarray(a) for name, a in arrays.items()}, metadata)


class Policies(Forged):
    """Policy files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".safetensors", policies)

    def read(self) -> None:
        header, policy = uqf.inspect_policy(self.path), uqf.load(self.path)
        assert 0.0 <= header.discount <= 1.0
        if header.codebook is not None:
            # A name may be the empty one.
            codes = range(min(header.n_observations, 9))
            assert all(isinstance(header.codebook.describe(code), str) for code in codes)
            done = range(min(header.n_actions, 9))
            assert all(isinstance(header.codebook.describe_action(code), str) for code in done)
        state = policy.initial_state()
        for _ in range(2):
            probs = policy.action_probs(state)
            # Weights of 1e308 may be honest, and overflow.
            assert (probs.shape == (policy.n_actions,) and not np.isfinite(probs.sum())) or abs(
                probs.sum() - 1
            ) < 1e-6
            with contextlib.suppress(uqf.NumericalError):  # impossible under this model
                state = policy.update(state, policy.n_actions - 1, policy.n_observations - 1)


class Log:
    """Reading of a log of any format, as it is or cleaned."""

    def read(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            with contextlib.suppress(uqf.FileFormatError):
                _core.validate(uqf.read_log(self.path, clean=True))
        _core.validate(uqf.read_log(self.path))


class Tables(Log, Files):
    """Binary logs: damaged bytes, or whole files with strange tables."""

    def __init__(self, folder: Path, suffix: str) -> None:
        super().__init__(folder, suffix)
        self.tables = [self.load(path) for path in sorted(folder.glob(f"*{suffix}"))]

    def make(self, rng):
        if rng.integers(2):
            return super().make(rng)
        sink = io.BytesIO()
        try:
            self.store(bent_table(pick(rng, self.tables), rng), sink)
        except pa.ArrowException:  # too strange to be written
            return super().make(rng)
        return sink.getvalue()


class Parquet(Tables):
    """Parquet logs, read in memory and, those of our own, as shards."""

    load, store = staticmethod(pq.read_table), staticmethod(pq.write_table)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".parquet")

    def read(self) -> None:
        super().read()
        try:
            shards = uqf.Shards(self.path)
        except uqf.FileFormatError:  # not a file of our own, or one with a damaged footer
            return
        for shard in shards:
            for batch in shard.batches():
                _core.validate(batch)


class Arrow(Tables):
    """Arrow logs."""

    load = staticmethod(pa.feather.read_table)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".arrow")

    @staticmethod
    def store(table, sink) -> None:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


class Csv(Log, Text):
    """Comma-separated logs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".csv")


class JsonLines(Log, Text):
    """Logs of JSON lines."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".jsonl")
        self.contents = [one for one in self.contents if b'"cell' not in one and b'"setting"' not in one]

    def make(self, rng):
        if rng.integers(3):
            return super().make(rng)
        lines = pick(rng, self.contents).split(b"\n")
        place = int(rng.integers(len(lines)))
        lines[place] = json.dumps(bent(json.loads(lines[place]), rng)).encode()
        return b"\n".join(lines)


class Settings(Text):
    """What `uqf.toml` says of the columns of a log."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".toml")

    def read(self) -> None:
        columns = columns_file(self.path)
        assert uqf.LogColumns.of(columns.to_dict()) == columns


class Rules(Text):
    """Tables of old rules."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".rule")
        self.books = [uqf.Codebook.named(("a", "7"), ("hot", "81.5", "cold")), None]

    def read(self) -> None:
        rule = uqf.rule(self.path)
        for book in self.books:
            with contextlib.suppress(ValueError):  # asks for other columns, or for unknown actions
                np.testing.assert_array_equal(rule.of(book, 2, 4).values.sum(axis=1), 1.0)


class Strings(Text):
    """Samples of strings, and probabilities, as the competitions write them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".strings")

    def read(self) -> None:
        with contextlib.suppress(uqf.FileFormatError):
            strings.read_probabilities(self.path)
        sample = strings.read_strings(self.path)
        assert all(0 <= symbol < sample.n_symbols for symbol in sample.symbols)


class Cells(Text):
    """Finished cells of experiments."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "trial.jsonl")
        self.store = Store(folder, "input")
        self.path = self.store.path

    def read(self) -> None:
        rows = self.store.rows()
        assert self.store.missing([row.cell for row in rows]) == []
        assert all(isinstance(row.result, dict) for row in rows)


DOORS = {
    "worlds": Worlds,
    "policies": Policies,
    "parquet": Parquet,
    "arrow": Arrow,
    "csv": Csv,
    "jsonl": JsonLines,
    "settings": Settings,
    "rules": Rules,
    "strings": Strings,
    "cells": Cells,
    "arguments": Arguments,
    "calls": Calls,
}
