"""Files of the competitions: what is written is read, and damage is named with its line."""

import pytest
from hypothesis import given, settings

import uqf
from strategies import string_samples
from uqf.strings import files, read_probabilities, read_strings, write_strings

TEXT = "3 4\n2 3 0\n0\n4 1 1 2 0\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file"


def test_strings_as_the_competitions_write_them(path):
    path.write_text(TEXT)
    strings = read_strings(path)
    assert list(strings) == [(3, 0), (), (1, 1, 2, 0)]
    assert strings.alphabet == (0, 1, 2, 3)
    write_strings(strings, path)
    assert path.read_text() == TEXT


def test_prefixes_without_a_first_line(path):
    path.write_text("2 3 0\n0\n")
    assert list(read_strings(path, n_symbols=4)) == [(3, 0), ()]


@settings(max_examples=30)
@given(string_samples())
def test_strings_come_back(tmp_path_factory, strings):
    path = tmp_path_factory.mktemp("strings") / "train"
    write_strings(strings, path)
    assert read_strings(path) == strings


def test_probabilities_come_back(path):
    values = [1e-300, 0.1, 1 / 3]
    path.write_text("\n".join(map(repr, [len(values), *values])))
    assert read_probabilities(path).tolist() == values


def test_sizes_are_bounded(path, monkeypatch):
    path.write_text(TEXT)
    monkeypatch.setattr(files, "MAX_BYTES", 5)
    for read in (read_strings, read_probabilities):
        with pytest.raises(uqf.FileFormatError):
            read(path)


def test_only_what_can_be_read_again_is_written(path):
    with pytest.raises(TypeError):
        write_strings(["ab"], path)
    assert not path.exists()
