"""Shards on a dask cluster: read where they lie, added up on the workers, the same bits as on one machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from distributed import Client, Future, KilledWorker
from distributed.comm import get_address_host

from uqf.coding.codebook import Codebook
from uqf.errors import FileFormatError, WorkerError
from uqf.logs.alphabet import Asked
from uqf.logs.columns import LogColumns
from uqf.logs.parquet import files_of
from uqf.logs.parquet_shards import BATCH_STEPS, Shards
from uqf.logs.survey import FileSurvey, survey
from uqf.reading.map_reduce import TreeSum
from uqf.reading.progress import LOG
from uqf.reading.shards import Source

Sum = TypeVar("Sum")
Tick = Callable[[int], object]

#: Shards that are added up on the workers before the sum goes home. A power of two, so that the tree is the one
#: that `TreeSum` makes. More would spare the network, fewer lose less when a worker dies: what it had not yet
#: sent home is read again.
GROUP = 8


def map_reduce_on_cluster(
    work: Callable[..., Sum],
    shards: Source | Sequence[object],
    merge: Callable[[Sum, Sum], Sum],
    client: Client,
    tick: Tick,
) -> Sum:
    """`uqf.reading.map_reduce.map_reduce` on a cluster.

    `work`, with the reduced maps in it, goes to the cluster once and from worker to worker; as the result of a
    task it is made again should its worker die. A shard whose worker dies is read again by another one.
    """
    tree, groups = TreeSum(merge), deque[tuple[list[object], list[Future], Future]]()
    shared = client.submit(_same, work, pure=False)
    most = 2 + 2 * len(client.nthreads()) // GROUP
    try:
        for first in range(0, len(shards), GROUP):
            members = [shards[index] for index in range(first, min(first + GROUP, len(shards)))]
            leaves = [_submit(client, shared, shard) for shard in members]
            groups.append((members, leaves, _tree(client, leaves, merge)))
            if len(groups) >= most:
                _take(tree, groups, tick)
        while groups:
            _take(tree, groups, tick)
    except KilledWorker as problem:
        raise WorkerError(
            f"the same shard was on several workers when they died: {problem}. Are they short of memory? Use fewer "
            "threads per worker, smaller batch_steps, or look at the workers' logs"
        ) from problem
    finally:
        # Whatever has not begun when something went wrong is dropped, since nobody wants it any more. (`cancel`
        # stumbles over sums of which only other sums are wanted.)
        for future in [shared, *(one for _, leaves, total in groups for one in (*leaves, total))]:
            future.release()
    return tree.total()


def _submit(client: Client, shared: Future, shard: object) -> Future:
    hosts = list(getattr(shard, "hosts", ())) or None
    return client.submit(_run, shared, shard, workers=hosts, pure=False)


def _tree(client: Client, leaves: list[Future], merge: Callable[[Sum, Sum], Sum]) -> Future:
    """The sum of some leaves as a task of its own."""
    tree = TreeSum[Future](lambda left, right: client.submit(merge, left, right, pure=False))
    for leaf in leaves:
        tree.push(leaf)
    return tree.total()


def _take(tree: TreeSum[Sum], groups: deque[tuple[list[object], list[Future], Future]], tick: Tick) -> None:
    members, _, total = groups[0]
    tree.push(total.result())
    groups.popleft()
    LOG.debug("%d shards done", len(members))
    tick(sum(getattr(shard, "n_steps", 0) for shard in members))


def _same(work: Sum) -> Sum:
    return work


def _run(work: Callable[[object], Sum], shard: object) -> Sum:
    return work(shard)


def dask_shards(
    client: Client,
    folder: str | os.PathLike[str],
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    codebook: Codebook | None = None,
    batch_steps: int = BATCH_STEPS,
) -> Shards:
    """The Parquet files of a folder that the machines of a cluster have, each or together; see `uqf.Shards`.

    Every machine looks into its own folder of that name. A file is later read only on machines that have it; files
    of the same name are taken for copies, and refused if their footers differ. This machine needs none of them.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    folder : path
        As the workers see it.
    columns, n_actions, n_observations, codebook, batch_steps
        As in `uqf.Shards`.

    Returns
    -------
    Shards
        For `fit(…, executor=client)`.

    Raises
    ------
    FileFormatError
        If machines have different files of the same name, or none has any.

    Examples
    --------
    >>> import os, uqf
    >>> from distributed import Client
    >>> os.mkdir("log")
    >>> uqf.rollout(uqf.make("tiger"), episodes=50).to_parquet("log/day.parquet")
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     shards = uqf.dask_shards(client, os.path.abspath("log"))
    ...     learner = uqf.UQF(2, 0.95).fit(shards, executor=client)
    >>> learner.wfa_.rank
    2
    """
    one_each = {get_address_host(address): address for address in sorted(client.nthreads())}
    given = (n_actions, n_observations, codebook)
    seen = client.run(_look, os.fspath(folder), columns, given, workers=list(one_each.values()))
    surveys: dict[str, FileSurvey] = {}
    hosts: dict[str, tuple[str, ...]] = {}
    for host, address in one_each.items():
        for found in seen[address]:
            if surveys.setdefault(found.path, found) != found:
                raise FileFormatError(f"{found.path}: on {host} it is another file than elsewhere")
            hosts[found.path] = (*hosts.get(found.path, ()), host)
    if not surveys:
        raise FileFormatError(f"{folder}: no worker has a .parquet file there")
    return Shards.of_surveys([surveys[path] for path in sorted(surveys)], hosts, given, batch_steps)


def _look(folder: str, columns: LogColumns | None, given: Asked) -> list[FileSurvey]:
    path = Path(folder).absolute()
    if path.is_dir() and not any(path.glob("*.parquet")):
        return []
    return [survey(file, columns, given) for file in files_of(path)] if path.exists() else []
