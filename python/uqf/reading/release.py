"""Memory that nobody uses goes back to the machine.

Arrow's pool and the C library both keep what was freed for the next time. What they keep adds up: a long reading of
files beside regressions on several threads had 100 MB more than either needs.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release_memory() -> None:
    """Takes milliseconds: call it after a file, not after a batch."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    """`malloc_trim` of glibc; elsewhere there is none, and nothing is done."""
    if sys.platform != "linux":
        return lambda kept: None
    trim: Callable[[int], object] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim or (lambda kept: None)
