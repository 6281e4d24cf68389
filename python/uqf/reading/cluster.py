"""Files that lie on the machines of a dask cluster: which machine has which, so that each is read where it lies."""

from __future__ import annotations

import os
from pathlib import Path

from distributed import Client
from distributed.comm import get_address_host

from uqf.coding.codebook import Codebook
from uqf.errors import FileFormatError
from uqf.logs.alphabet import Given
from uqf.logs.tables import files_of
from uqf.reading.parquet_shards import BATCH_STEPS, FileSurvey, Shards, survey


def dask_shards(
    client: Client,
    folder: str | os.PathLike[str],
    *,
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
    n_actions, n_observations, codebook, batch_steps
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
    seen = client.run(_look, os.fspath(folder), given, workers=list(one_each.values()))
    surveys: dict[str, FileSurvey] = {}
    hosts: dict[str, tuple[str, ...]] = {}
    for host, address in one_each.items():
        for file in seen[address]:
            if surveys.setdefault(file.path, file) != file:
                raise FileFormatError(f"{file.path}: on {host} it is another file than elsewhere")
            hosts[file.path] = (*hosts.get(file.path, ()), host)
    if not surveys:
        raise FileFormatError(f"{folder}: no worker has a .parquet file there")
    return Shards.of_surveys([surveys[path] for path in sorted(surveys)], hosts, given, batch_steps)


def _look(folder: str, given: Given) -> list[FileSurvey]:
    path = Path(folder).absolute()
    if path.is_dir() and not any(path.glob("*.parquet")):
        return []
    return [survey(file, given) for file in files_of(path)] if path.exists() else []
