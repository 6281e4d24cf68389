"""One function over all shards, results added up in a tree that does not depend on who computed them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Generic, TypeVar

from uqf.errors import WorkerError
from uqf.reading.progress import LOG
from uqf.reading.shards import Source, Workers

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
        Without an executor, work is called as ``work(shard, tick)`` and tells its own steps.
    executor : `concurrent.futures.Executor` or `distributed.Client`, optional
    tick : called with the number of steps that were finished

    Whatever goes wrong, Ctrl-C too, cancels the work that has not begun.
    """
    if executor is None:
        tree = TreeSum(merge)
        for index in range(len(shards)):
            tree.push(work(shards[index], tick))
        return tree.total()
    if not isinstance(executor, Executor):
        if type(executor).__module__.partition(".")[0] != "distributed":
            raise TypeError(
                f"executor is a {type(executor).__name__}: give a concurrent.futures.Executor or a "
                "distributed.Client"
            )
        # Imported here: a cluster is seldom there, and its library takes a second to load.
        from uqf.reading.cluster import map_reduce_on_cluster

        return map_reduce_on_cluster(work, shards, merge, executor, tick)
    return _on_executor(work, shards, merge, executor, tick)


def _on_executor(
    work: Callable[..., Sum],
    shards: Source | Sequence[object],
    merge: Callable[[Sum, Sum], Sum],
    executor: Executor,
    tick: Tick,
) -> Sum:
    tree, waiting = TreeSum(merge), deque[tuple[object, Future[Sum]]]()
    most = 2 * getattr(executor, "_max_workers", IN_FLIGHT // 2)
    try:
        for index in range(len(shards)):
            waiting.append((shards[index], executor.submit(work, shards[index])))
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
    finally:
        for _, future in waiting:
            future.cancel()
    return tree.total()


def _take(tree: TreeSum[Sum], waiting: deque[tuple[object, Future[Sum]]], tick: Tick) -> None:
    """Adds the oldest result to the tree; it stays in the queue until it has come, to be cancelled if need be."""
    shard, future = waiting[0]
    result = future.result()
    waiting.popleft()
    tree.push(result)
    LOG.debug("%s done", getattr(shard, "name", shard))
    tick(getattr(shard, "n_steps", 0))
