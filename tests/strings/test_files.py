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
    with pytest.raises(uqf.FileFormatError, match="line 1: symbols from 0 to 3, but there are 3"):
        read_strings(path, n_symbols=3)


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: '' should be 2 whole numbers"),
        ("3\n", "line 1: '3' should be 2 whole numbers"),
        ("1 -4\n0\n", "line 1: '1 -4' should be 2 whole numbers that are not negative"),
        ("1 99999999\n0\n", "an alphabet of 99999999 symbols"),
        ("1 4\n3 1 2\n", "line 2: says length 3, but 2 symbols follow"),
        ("1 4\n2 1 4\n", "line 2: symbols from 1 to 4, but there are 4"),
        ("2 4\n0\n", "the first line says 2 strings, 1 follow"),
        ("1 4\n1 x\n", "line 2: '1 x' should be whole numbers"),
        ("1 4\n1 1e3\n", "line 2"),
        ("1 4\n1 99999999999999999999999999\n", "line 2"),
        ("1 4\n1 ²\n", "line 2"),
    ],
)
def test_damaged_strings_are_named(path, text, message):
    path.write_text(text)
    with pytest.raises(uqf.FileFormatError, match=message):
        read_strings(path)


def test_sizes_are_bounded(path, monkeypatch):
    path.write_text(TEXT)
    monkeypatch.setattr(files, "MAX_BYTES", 5)
    for read in (read_strings, read_probabilities):
        with pytest.raises(uqf.FileFormatError, match="files of up to 5 are read"):
            read(path)


def test_damaged_probabilities_are_named(path):
    path.write_text("2\n0.5\n")
    with pytest.raises(uqf.FileFormatError, match="says 2 probabilities, 1 follow"):
        read_probabilities(path)
    path.write_text("1\nhalf\n")
    with pytest.raises(uqf.FileFormatError, match="line 2: 'half' is not a finite number"):
        read_probabilities(path)


def test_only_what_can_be_read_again_is_written(path):
    with pytest.raises(TypeError, match=r"strings is a list, .*: give Strings\(…\)"):
        write_strings(["ab"], path)
    assert not path.exists()


def test_one_number_is_spoken_of_as_one(path):
    path.write_text("3 2\n")
    with pytest.raises(uqf.FileFormatError, match="should be 1 whole number that is not negative"):
        read_probabilities(path)
