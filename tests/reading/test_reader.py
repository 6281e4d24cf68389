"""Reading as often as an algorithm asks: how often, how far, and until it is interrupted."""

import logging
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

import uqf
from shard_sources import HASHED, LISTED, Watched, WatchedShard, with_paths


@pytest.mark.parametrize(("settings", "readings"), [(HASHED, 2), (LISTED, 3)])
def test_every_shard_is_read_twice_and_once_more_where_words_are_listed(data, tmp_path, settings, readings):
    source = Watched([WatchedShard(data[:100], "a", tmp_path), WatchedShard(data[100:], "b", tmp_path)])
    uqf.UQF(**settings).fit(source)
    assert len(source.readings()) == readings * len(source)


@pytest.mark.parametrize("settings", [HASHED, LISTED])
def test_a_file_that_changes_between_the_passes_is_noticed(data, folder, tmp_path, settings):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    stages = []

    def meddle(progress):
        if progress.stage == "second pass" and progress.stage not in stages:
            data[41:81].to_parquet(tmp_path / "01.parquet")
        stages.append(progress.stage)

    with pytest.raises(uqf.FileFormatError, match=r"01\.parquet: the file changed"):
        uqf.UQF(**settings).fit(tmp_path, progress=meddle)


def test_progress_rises_to_the_total_and_the_log_tells_the_stages(folder, data, caplog):
    seen = []
    with caplog.at_level(logging.INFO, "uqf"), ThreadPoolExecutor(1) as pool:
        uqf.UQF(**HASHED).fit(folder, progress=seen.append)
        uqf.UQF(**HASHED).fit(data, progress=seen.append, executor=pool)
    for part in (seen[: len(seen) // 2], seen[-3:]):
        assert all(one.done <= two.done for one, two in pairwise(part))
    assert (seen[0].done, seen[-1].seconds_left) == (0, 0.0) and seen[0].seconds_left > 0.0
    assert {one.stage for one in seen} == {"first pass", "decomposition", "second pass"}
    assert (seen[-1].done, seen[-1].total) == (2 * data.n_steps, 2 * data.n_steps)
    stages = [record.getMessage().split(":")[0] for record in caplog.records[:3]]
    assert stages == ["first pass", "decomposition", "second pass"]
    assert f"11 shards, {data.n_steps:,} steps" in caplog.text


@pytest.mark.parametrize(("settings", "passes"), [(HASHED, 2), (LISTED, 3)])
def test_progress_counts_every_reading_of_every_shard(folder, data, settings, passes):
    told = []
    uqf.UQF(**settings).fit(folder, progress=told.append)
    assert {one.total for one in told} == {passes * data.n_steps}
    assert next(one.done for one in told if one.stage == "second pass") == (passes - 1) * data.n_steps
    assert told[-1].done == told[-1].total


FOR_EVER = """
import sys, pathlib, uqf
from concurrent.futures import ThreadPoolExecutor
from shard_sources import Watched, WatchedShard
data = uqf.rollout(uqf.make("gridworld-near"), episodes=3000)
source = Watched([WatchedShard(data, "x", pathlib.Path(sys.argv[1]))] * 100_000)
pool = ThreadPoolExecutor(1) if sys.argv[2] == "pool" else None
uqf.UQF(rank=3, projection="hashed").fit(source, executor=pool)
"""


@pytest.mark.parametrize("executor", ["alone", "pool"])
def test_ctrl_c_ends_a_long_fit(tmp_path, executor):
    run = subprocess.Popen(
        [sys.executable, "-c", FOR_EVER, str(tmp_path), executor],
        env=with_paths(),
        stderr=subprocess.PIPE,
    )
    overdue = threading.Timer(60, run.kill)
    overdue.start()
    try:
        while len(list(tmp_path.iterdir())) < 2 and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        _, error = run.communicate(timeout=30)
    finally:
        overdue.cancel()
        run.kill()
    assert b"KeyboardInterrupt" in error
    assert len(list(tmp_path.iterdir())) < 1000
