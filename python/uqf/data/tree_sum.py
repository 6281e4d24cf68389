"""Sums whose bits depend on the order of the terms alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Sum = TypeVar("Sum")


class TreeSum(Generic[Sum]):
    """Adds up a sequence as a balanced binary tree: ((0+1)+(2+3))+((4+5)+…). Holds log₂(n) sums.

    Floating-point addition is not associative, so the tree is fixed by the positions alone.
    """

    def __init__(self, merge: Callable[[Sum, Sum], Sum]) -> None:
        self.merge = merge
        self.levels: list[Sum | None] = []

    def push(self, term: Sum) -> None:
        """The next term of the sequence."""
        for level, waiting in enumerate(self.levels):
            if waiting is None:
                self.levels[level] = term
                return
            term, self.levels[level] = self.merge(waiting, term), None
        self.levels.append(term)

    def total(self) -> Sum:
        """The sum of everything pushed."""
        last, *earlier = [waiting for waiting in self.levels if waiting is not None]
        for waiting in earlier:
            last = self.merge(waiting, last)
        return last
