"""One function over all shards, results added up in a tree that does not depend on who computed them."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import TYPE_CHECKING, Generic, TypeVar

from uqf.errors import WorkerError, kind_of
from uqf.reading.progress import LOG
from uqf.reading.shards import Source, Workers

if TYPE_CHECKING:
    import distributed

Sum = TypeVar("Sum")


class TreeSum(Generic[Sum]):
    """Adds up a sequence as a balanced binary tree: ((0+1)+(2+3))+((4+5)+…). Holds log₂(n) sums.

    Floating-point addition is not associative, so the tree is fixed by the positions alone.
    """

    def __init__(self, merge: Callable[[Sum, Sum], Sum]) -> None:
        self.merge = merge
        self.levels: list[Sum | None] = []

    def push(self, term: Sum) -> None:
        for level, waiting in enumerate(self.levels):
            if waiting is None:
                self.levels[level] = term
                return
            term, self.levels[level] = self.merge(waiting, term), None
        self.levels.append(term)

    def total(self) -> Sum:
        last, *earlier = [waiting for waiting in self.levels if waiting is not None]
        for waiting in earlier:
            last = self.merge(waiting, last)
        return last


Tick = Callable[[int], object]

#: Unfinished and unmerged results of an executor that does not say how many workers it has.
IN_FLIGHT = 64


def map_reduce(
    work: Callable[..., Sum],
    shards: Source | Sequence[object],
    merge: Callable[[Sum, Sum], Sum],
    *,
    executor: Workers = None,
    tick: Tick = lambda steps: None,
) -> Sum:
    """The sum of ``work(shard)`` over all shards; the same bits with any executor or none.

    Parameters
    ----------
    work, merge : functions that can be pickled; neither may change its arguments
        Without an executor, work is called as ``work(shard, tick)`` and ticks itself.
    executor : `concurrent.futures.Executor` or `distributed.Client`, optional
    tick : called with the number of steps that were finished

    Whatever goes wrong, Ctrl-C too, cancels the work that has not begun.
    """
    tree = TreeSum(merge)
    if executor is None:
        for index in range(len(shards)):
            tree.push(work(shards[index], tick))
        return tree.total()
    if not isinstance(executor, Executor) and type(executor).__module__.partition(".")[0] != "distributed":
        raise TypeError(
            f"executor is {kind_of(executor)}: give a concurrent.futures.Executor or a distributed.Client"
        )
    waiting, most = deque[tuple[object, Future[Sum]]](), 2 * _workers(executor)
    try:
        for index in range(len(shards)):
            waiting.append((shards[index], _submit(executor, work, shards[index])))
            if len(waiting) >= most:
                _take(tree, waiting, tick)
        while waiting:
            _take(tree, waiting, tick)
    except BrokenExecutor as problem:
        raise WorkerError(
            f"a worker of the {type(executor).__name__} died ({problem}); such an executor cannot go on. Was it "
            "killed, or short of memory? Use fewer workers, or executor=distributed.Client(…), which replaces "
            "dead workers"
        ) from problem
    except _killed() as problem:
        raise WorkerError(
            f"the same shard was on several workers when they died: {problem}. Are they short of memory? Use fewer "
            "threads per worker, smaller batch_steps, or look at the workers' logs"
        ) from problem
    finally:
        for _, future in waiting:
            future.cancel()
    return tree.total()


def _workers(executor: Executor | distributed.Client) -> int:
    """How many pieces of work an executor does at once; a guess where it does not say."""
    if hasattr(executor, "nthreads"):
        return sum(executor.nthreads().values())
    return int(getattr(executor, "_max_workers", IN_FLIGHT // 2))


def _submit(executor: Executor | distributed.Client, work: Callable[..., Sum], shard: object) -> Future[Sum]:
    """Work of a cluster whose worker dies is done again by another."""
    if hasattr(executor, "get_executor"):
        executor = executor.get_executor(pure=False)
    return executor.submit(work, shard)


def _killed() -> type[Exception] | tuple[()]:
    """What dask raises for work whose workers died again and again."""
    # Not imported for it: a cluster is seldom there, and its library takes a second to load.
    loaded = sys.modules.get("distributed")
    return () if loaded is None else loaded.KilledWorker


def _take(tree: TreeSum[Sum], waiting: deque[tuple[object, Future[Sum]]], tick: Tick) -> None:
    """Adds the oldest result to the tree; it stays in the queue until it has come, to be cancelled if need be."""
    shard, future = waiting[0]
    result = future.result()
    waiting.popleft()
    tree.push(result)
    LOG.debug("%s done", getattr(shard, "name", shard))
    tick(getattr(shard, "n_steps", 0))
