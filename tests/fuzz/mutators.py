"""Ways to damage bytes, text, JSON, Arrow tables and command lines. All take a generator, and its seed repeats them."""

import copy
import json
import re

import numpy as np
import pyarrow as pa

#: Names that a terminal, a shell, a format or a reader might take for something else.
NAMES = ["[/x]", "[bold]", "\x1b[2J", "\x1b]0;x\x07", "\u202egnp", "", " ", "a" * 999, "<b>", "%s", "{0}"]
NAMES += ["\ud800", "é", "../x"]

NUMBERS = [0, -1, 1, 2, 7, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63, 10**30]
NUMBERS += [0.5, -0.0, 1e-320, 1e308, float("inf"), float("nan")]

WORDS = (
    b"* : # T O R uniform identity reset start include states 16000 800 1000000 9999999999999999999".split()
)
WORDS += [*b'1e400 -0.5 + null true " { ] , \xff \x1b[2J \x00'.split(), b"\n", b"\r"]


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def damaged(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """The content with one to three kinds of damage, one of them a part of another file."""
    for _ in range(rng.integers(1, 4)):
        if not content:
            break
        first, last = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        place = int(rng.integers(len(content)))
        match rng.integers(8):
            case 0:
                flipped = content[place] ^ (1 << int(rng.integers(8)))
                content = content[:place] + bytes([flipped]) + content[place + 1 :]
            case 1:
                content = content[:place]
            case 2:
                content = content[last:] + content[first:last] + content[:first]
            case 3:
                content = content[:last] + content[first:]
            case 4:
                content = content[:first] + bytes(last - first) + content[last:]
            case 5:
                content = content[:place] + rng.bytes(int(rng.integers(1, 9))) + content[place:]
            case 6:
                size = int(rng.integers(0, len(other) + 1))
                content = content[:first] + other[:size] + content[last:]
            case 7:
                # A number that says: there is much more of this.
                huge = int(pick(rng, [2**31 - 1, 2**32 - 1, 2**40, 2**62, 2**63])).to_bytes(8, "little")
                content = content[:place] + huge + content[place + 8 :]
    return content


def rewritten(content: bytes, rng: np.random.Generator) -> bytes:
    """Text with words and lines exchanged, repeated, dropped and invented."""
    for _ in range(rng.integers(1, 5)):
        separator, pieces = (
            (b"", re.split(rb"([\s,:]+)", content)) if rng.integers(2) else (b"\n", content.split(b"\n"))
        )
        one, other = rng.integers(len(pieces), size=2).tolist()
        match rng.integers(5):
            case 0:
                pieces[one], pieces[other] = pieces[other], pieces[one]
            case 1:
                pieces[one:one] = [pieces[other]] * int(rng.integers(1, 20))
            case 2:
                del pieces[one]
            case 3:
                pieces[one] = pick(rng, WORDS)
            case 4:
                pieces[one] += pick(rng, WORDS)
        content = separator.join(pieces)
    return content


def strange_value(rng):
    deep = []
    for _ in range(50):
        deep = [deep]
    options = [
        None,
        True,
        [],
        {},
        deep,
        pick(rng, NAMES),
        pick(rng, NAMES),
        *rng.permutation(len(NUMBERS))[:4],
    ]
    found = pick(rng, options)
    return NUMBERS[found] if isinstance(found, np.integer) else found


def bent(tree, rng):
    """JSON with one to three values replaced, dropped, doubled or renamed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.integers(1, 4)):
        places = list(_places(tree))
        if not places:
            return strange_value(rng)
        parent, key = pick(rng, places)
        match rng.integers(5):
            case 0 if isinstance(parent, dict):
                parent[pick(rng, NAMES)] = parent.pop(key)
            case 1:
                del parent[key]
            case 2 if isinstance(parent, list):
                parent.insert(key, parent[key])
            case _:
                parent[key] = strange_value(rng)
    return tree


def _places(tree):
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield tree, key
        yield from _places(value)


def bent_arrays(arrays, rng):
    """Arrays of which one lies: in an entry, a shape, a type, or by being there."""
    arrays = dict(arrays)
    name = pick(rng, sorted(arrays))
    array = arrays[name].copy()
    match rng.integers(6):
        case 0:
            del arrays[name]
        case 1:
            arrays[pick(rng, [*sorted(arrays), "code", "a.b"])] = array
        case 2:
            arrays[name] = array.astype(pick(rng, [np.float32, np.int8, np.int64, np.float64, np.uint8]))
        case 3:
            arrays[name] = array.reshape(pick(rng, [(-1,), (1, -1), (-1, 1)]))
        case 4:
            arrays[name] = array[: len(array) // 2].copy() if array.ndim else array
        case 5 if array.size:
            with np.errstate(all="ignore"):
                value = np.float64(pick(rng, NUMBERS[:-2])).astype(array.dtype)
            array.reshape(-1)[int(rng.integers(array.size))] = value
            arrays[name] = array
    return arrays


def bent_table(table, rng):
    """An Arrow table with columns renamed, doubled, dropped, retyped, holed or cut, or with strange metadata."""
    for _ in range(rng.integers(1, 4)):
        if not table.num_columns:
            break
        place = int(rng.integers(table.num_columns))
        name, column = table.column_names[place], table.column(place)
        match rng.integers(7):
            case 0:
                table = table.append_column(pick(rng, table.column_names), column)
            case 1:
                table = table.remove_column(place)
            case 2:
                names = list(table.column_names)
                names[place] = pick(
                    rng, [*names, "episode", "episode_id", "actions", "first_observation", "é", "[/x]"]
                )
                table = table.rename_columns(names)
            case 3:
                table = table.set_column(place, name, _strange_column(column, rng))
            case 4:
                table = table.slice(0, int(rng.integers(table.num_rows + 1)))
            case 5:
                order = rng.integers(max(table.num_rows, 1), size=table.num_rows)
                table = table.take(pa.array(order)) if table.num_rows else table
            case 6:
                written = (table.schema.metadata or {}).get(b"uqf")
                honest = {"n_actions": 3, "n_observations": 2, "codebook": None}
                metadata = json.dumps(bent(json.loads(written) if written else honest, rng)).encode()
                table = table.replace_schema_metadata({b"uqf": metadata})
    return table


def _strange_column(column, rng):
    values = column.to_pylist()
    match rng.integers(4):
        case 0 if values:
            values[int(rng.integers(len(values)))] = None
        case 1:
            values = [pick(rng, ["x", "[/x]", "\x1b[2J", "1", ""]) for _ in values]
        case 2:
            values = [pick(rng, [0, 1, 2**31, 2**62, -1]) for _ in values]
        case 3:
            values = [pick(rng, [0.5, 1e308, float("nan"), float("inf"), 2.0**53]) for _ in values]
    try:
        found = pa.array(values)
        return found.dictionary_encode() if rng.integers(5) == 0 else found
    except (pa.ArrowException, OverflowError):
        return pa.array(
            [None] * len(values), pick(rng, [pa.null(), pa.int8(), pa.timestamp("s"), pa.binary()])
        )


def bent_arguments(arguments, words, rng):
    """A command line with words exchanged, repeated, dropped and invented."""
    arguments = list(arguments)
    for _ in range(rng.integers(0, 3)):
        place = int(rng.integers(len(arguments) + 1))
        match rng.integers(4):
            case 0:
                arguments.insert(place, pick(rng, words))
            case 1 if place < len(arguments):
                arguments[place] = pick(rng, words)
            case 2 if place < len(arguments):
                del arguments[place]
            case 3 if arguments:
                arguments.insert(place, pick(rng, arguments))
    return arguments
