"""Statistics as files: exact round trips, and no way to hurt the reader."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import uqf
from uqf.learn.spectral.statistics_file import FORMAT, KEY, MAX_BYTES
from uqf.storage.tensors import read_tensors, write_tensors

TIGER = uqf.rollout(uqf.make("tiger", horizon=3), episodes=20, seed=3)
SETTINGS = {
    "listed": {"max_prefix": 2, "max_suffix": 2},
    "hashed": {"projection": "hashed", "prefix_dim": 12, "suffix_dim": 10, "target": "return"},
}


def statistics(kind="listed", data=TIGER):
    return uqf.UQF(2, 0.9, **SETTINGS[kind]).partial_fit(data).statistics_


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_file_comes_back_bit_for_bit(tmp_path, kind):
    uqf.save_statistics(statistics(kind), tmp_path / "file")
    again = uqf.load_statistics(tmp_path / "file")
    uqf.save_statistics(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "file").read_bytes()
    mine, theirs = statistics(kind).state(2), again.state(2)
    np.testing.assert_array_equal(mine.operators, theirs.operators)
    assert again.tally == statistics(kind).tally


def test_names_travel_along(tmp_path):
    named = TIGER[:]
    named.codebook = uqf.Codebook.named(("listen", "left", "right"), ("growl",))
    uqf.save_statistics(statistics(data=named), tmp_path / "file")
    merged = uqf.UQF(2, 0.9, **SETTINGS["listed"]).merge(tmp_path / "file")
    merged.save(tmp_path / "policy")
    assert uqf.inspect_policy(tmp_path / "policy").codebook == named.codebook


@given(data=st.data())
@example(data=None)
def test_damaged_statistics_are_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damage") / "file"
    uqf.save_statistics(statistics(), path)
    content = bytearray(path.read_bytes())
    if data is None:
        damaged = bytes(content[:-1])
    else:
        place = data.draw(st.integers(0, len(content) - 1), label="place")
        content[place] ^= data.draw(st.integers(1, 255), label="bits")
        damaged = bytes(content[: data.draw(st.integers(place + 1, len(content)), label="length")])
    path.write_bytes(damaged)
    with pytest.raises(uqf.FileFormatError):
        uqf.load_statistics(path)


def forged(folder, kind, *, tensors=None, **changes):
    """A file whose checksum is right but whose content is not; functions change what is there, None takes it out."""
    path = folder / "file"
    uqf.save_statistics(statistics(kind), path)
    header, arrays = read_tensors(path, KEY, "statistics", FORMAT, MAX_BYTES)
    for name, change in (tensors or {}).items():
        arrays[name] = change(arrays[name].copy()) if callable(change) else change
    kept = {name: array for name, array in arrays.items() if array is not None}
    changes["sums"] = header["sums"] | changes.get("sums", {})
    write_tensors(path, KEY, header | changes, kept)
    return path


def first(value):
    def change(array):
        array[0] = value
        return array

    return change


FORGERIES = {
    "from the future": ("listed", {"format": 3}, "format 3; this package reads format 2"),
    "huge shape": ("listed", {"sums": {"shape": [2**40, 2**20]}}, "shape"),
    "negative shape": ("listed", {"sums": {"shape": [-1, -1]}}, "no statistics"),
    "no actions": ("listed", {"n_actions": 0}, "0 actions or observations"),
    "true actions": ("listed", {"n_actions": True}, "True actions or observations"),
    "huge alphabet": ("listed", {"n_observations": 2**40}, "symbols, at most"),
    "no tensor": ("listed", {"tensors": {"column": None}}, "missing or unknown: \\['column'\\]"),
    "one too many": ("hashed", {"tensors": {"code": np.zeros(1)}}, "missing or unknown: \\['code'\\]"),
    "words of a projection": (
        "hashed",
        {"tensors": {"prefix_symbols": np.zeros(1, np.int64)}},
        "missing or unknown",
    ),
    "wrong dtype": ("listed", {"tensors": {"symbols": lambda x: x.astype(np.int32)}}, "dtype int32"),
    "two axes": ("listed", {"tensors": {"start": lambda x: x[:, np.newaxis].copy()}}, "shape"),
    "NaN": ("listed", {"tensors": {"start": first(np.nan)}}, "start holds NaN"),
    "symbols out of range": ("listed", {"tensors": {"symbols": first(99)}}, "out of range"),
    "choices out of range": ("listed", {"tensors": {"choices": first(-1)}}, "choices out of range"),
    "counts below zero": ("listed", {"tensors": {"symbol_counts": first(-1.0)}}, "not positive"),
    "cells out of range": ("listed", {"tensors": {"keys": first(2**60)}}, "no statistics of uqf"),
    "too few cells": ("listed", {"tensors": {"parts": lambda x: x[:-1].copy()}}, "no statistics"),
    "offsets that fall": ("listed", {"tensors": {"offsets": first(5)}}, "offsets do not cut"),
    "no block": ("listed", {"tensors": {"owners": first(77)}}, "offsets do not cut"),
    "blocks of unseen symbols": ("listed", {"tensors": {"owners": lambda x: x * 77 + 76}}, "never seen"),
    "one owner twice": (
        "listed",
        {"tensors": {"owners": lambda x: np.append(-1, x[1] + 0 * x[1:])}},
        "twice",
    ),
    "words out of range": ("listed", {"tensors": {"prefix_symbols": first(99)}}, "symbols out of range"),
    "a narrower basis": ("hashed", {"basis": {"projection": "hashed", "prefix_dim": 3}}, "for a basis of"),
    "unknown basis": ("hashed", {"basis": {"code": 1}}, "unexpected keyword argument 'code'"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_hostile_content_is_refused(tmp_path, name):
    kind, changes, message = FORGERIES[name]
    with pytest.raises(uqf.FileFormatError, match=message):
        uqf.load_statistics(forged(tmp_path, kind, **changes))


def test_a_file_says_in_plain_json_what_was_counted(tmp_path):
    uqf.save_statistics(statistics("hashed"), tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
    assert header["target"] == {"name": "return", "discount": 0.9, "offset": 0.0}
    assert header["basis"]["projection"] == "hashed"
