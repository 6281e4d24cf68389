"""Work on parts of a data set by several threads, with results in order and linear algebra on one thread each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from uqf.episodes.checks import positive

Part = TypeVar("Part")
Result = TypeVar("Result")


@cache
def _controller() -> ThreadpoolController:
    """What controls the threads of BLAS; looking for it takes milliseconds."""
    return ThreadpoolController()


def single_blas() -> AbstractContextManager[object]:
    """A context in which linear algebra uses one thread, so that its bits do not depend on their number."""
    limited: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limited


def in_order(work: Callable[[Part], Result], parts: Iterable[Part], threads: int | None) -> Iterator[Result]:
    """``work(part)`` of every part, in their order, on `threads` threads (None: all cores).

    BLAS splitting every product once more would be slower, and its sums would depend on the number of threads.
    """
    count = os.cpu_count() or 1 if threads is None else positive("threads", threads)
    with single_blas():
        if count == 1:
            yield from map(work, parts)
            return
        with ThreadPoolExecutor(count) as pool:
            yield from pool.map(work, parts)
