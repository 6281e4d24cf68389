"""Pushes damaged inputs through every door, within limits of memory and time.

``python tests/fuzz/run.py --count 2000 [--seed 7] [--door csv …]`` prints its seed and a line a door. An input that
crashes, hangs, takes too much memory or raises anything but a refusal ends the run with its number, its content and
the command that repeats it alone.
"""

import argparse
import os
import resource
import secrets
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from corpus import fill, fill_strange
from doors import DOORS

#: Seconds that one input may take, and bytes that the process may take beyond what it has at first.
DEADLINE = 20
HEADROOM = 3 * 2**29


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def push(name: str, folder: Path, seed: int, numbers: range, progress: int) -> None:
    """Makes and enters the inputs with these numbers; writes where it is to `progress`, and at last what it found."""
    door = DOORS[name](folder)
    limit_memory()
    entered = 0
    for number in numbers:
        rng = np.random.default_rng([seed, *name.encode(), number])
        given = door.make(rng)
        os.pwrite(progress, f"{number:12} {entered:12}".encode(), 0)
        signal.alarm(DEADLINE)
        try:
            entered += door.enter(given)
        except BaseException:
            print(f"{name}: input {number} is {given!r:.5000}", flush=True)
            raise
        signal.alarm(0)
    os.pwrite(progress, f"{numbers.stop:12} {entered:12}".encode(), 0)


def supervised(name: str, seed: int, numbers: range) -> bool:
    """Runs a door in a process of its own; whether it withstood."""
    began = time.perf_counter()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as place, tempfile.TemporaryFile() as progress:
        child = os.fork()
        if child == 0:
            try:
                folder = Path(place)
                os.chdir(folder)
                fill(folder)
                if name == "arguments":
                    fill_strange(folder)
                push(name, folder, seed, numbers, progress.fileno())
                status = 0
            except BaseException:
                traceback.print_exc()
                status = 1
            os._exit(status)
        _, status, used = os.wait4(child, 0)
        told = os.pread(progress.fileno(), 100, 0).split()
    number, entered = map(int, told or (numbers.start, 0))
    seconds = f"{used.ru_utime + used.ru_stime:.1f} s of CPU, {time.perf_counter() - began:.1f} s"
    if status == 0:
        tried = len(numbers)
        print(
            f"{name:<10} {tried:>9,} inputs: {entered:,} read, {tried - entered:,} refused, {seconds}",
            flush=True,
        )
        return True
    how = f"signal {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else "an exception"
    print(
        f"{name}: {how} at input {number}; again: python tests/fuzz/run.py --seed {seed} --door {name} --only {number}"
    )
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="inputs a door")
    parser.add_argument("--seed", type=int, help="by default a new one, which is printed")
    parser.add_argument("--door", nargs="*", default=list(DOORS), choices=list(DOORS))
    parser.add_argument("--only", type=int, help="the number of a single input")
    given = parser.parse_args()
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    numbers = range(given.count) if given.only is None else range(given.only, given.only + 1)
    print(f"seed {seed}", flush=True)
    withstood = [supervised(name, seed, numbers) for name in given.door]
    return 0 if all(withstood) else 1


if __name__ == "__main__":
    sys.exit(main())
