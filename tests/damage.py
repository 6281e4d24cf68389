"""Valid files of every kind, ways to damage them, and a program that reads the damaged ones within limits.

``python tests/damage.py FOLDER SEED COUNT`` damages every file of FOLDER in COUNT ways and reads them with little
memory and time. It prints what it is about to read, so that a crash names its cause, and ends with "done".
"""

import resource
import signal
import sys
from pathlib import Path

import numpy as np

import uqf
from uqf import _core

#: Seconds that reading a small damaged file may take, and bytes that all of them may take at once.
DEADLINE = 20
HEADROOM = 3 * 2**29


def damaged(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """The content with one to three kinds of damage, one of them a part of another file."""
    for _ in range(rng.integers(1, 4)):
        if not content:
            break
        first, last = np.sort(rng.integers(0, len(content) + 1, 2))
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
                content = content[:first] + bytes(int(last - first)) + content[last:]
            case 5:
                content = content[:place] + rng.bytes(int(rng.integers(1, 9))) + content[place:]
            case 6:
                size = int(rng.integers(0, len(other) + 1))
                content = content[:first] + other[:size] + content[last:]
            case 7:
                # A number that says: there is much more of this.
                huge = int(rng.choice([2**31 - 1, 2**32 - 1, 2**40, 2**62, 2**63])).to_bytes(8, "little")
                content = content[:place] + huge + content[place + 8 :]
    return content


def read(path: Path) -> None:
    """Reads a file of any kind; nothing but a refusal of the file may be raised."""
    try:
        if path.suffix == ".safetensors":
            uqf.load(path)
        elif path.suffix == ".pomdp":
            uqf.load_pomdp(path, max_entries=10**6)
        else:
            for batch in uqf.iter_log(path, 5):
                _core.validate(batch)
    except uqf.FileFormatError:
        pass
    except ValueError:
        if path.suffix != ".pomdp":
            raise


def main(folder: Path, seed: int, count: int) -> None:
    """Damages and reads; any exception, signal or lack of memory ends it."""
    files = sorted(folder.iterdir())
    contents = [path.read_bytes() for path in files]
    for path in files:
        read(path)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    rng = np.random.default_rng(seed)
    for path, content in zip(files, contents, strict=True):
        broken = folder / f"broken{path.suffix}"
        for attempt in range(count):
            broken.write_bytes(damaged(content, contents[int(rng.integers(len(contents)))], rng))
            print(path.name, attempt, flush=True)
            signal.alarm(DEADLINE)
            read(broken)
            signal.alarm(0)
        broken.unlink()
    print("done")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
