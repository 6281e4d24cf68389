"""`uqf convert`: a log of any format as a folder that learners read a batch at a time."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

import uqf
from uqf.cli.options import ActionBins, AsJson, Clean, Columns, Observed, Reward, log_columns


def convert(
    log: Annotated[
        Path, typer.Argument(help="Log of episodes: .csv, .jsonl, .arrow, .parquet or a folder of them.")
    ],
    folder: Annotated[Path, typer.Argument(help="Where the .parquet files go: a new folder.")],
    columns: Columns = None,
    action_bins: ActionBins = None,
    observed: Observed = None,
    reward: Reward = None,
    clean: Clean = False,
    episodes_per_file: Annotated[int, typer.Option(help="Episodes of a file.", min=1)] = 10_000,
    as_json: AsJson = False,
) -> None:
    """Makes a folder of .parquet files of a log: checked, coded, and read a batch at a time by `uqf fit FOLDER`."""
    from uqf.cli.tables import show
    from uqf.cli.terminal import about

    with about(log), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        named = log_columns(columns, action_bins, observed, reward)
        files = uqf.convert(str(log), folder, columns=named, clean=clean, episodes_per_file=episodes_per_file)
    shards = uqf.Shards(folder)
    report = {
        "files": len(files),
        "steps": sum(shard.n_steps for shard in shards.shards),
        "actions": shards.n_actions,
        "observations": shards.n_observations,
    }
    lost = [str(one.message) for one in caught]
    show({"converted": report, **({"cleaned": lost} if lost else {})}, as_json)
