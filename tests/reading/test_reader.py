"""Reading as often as an algorithm asks: how often, how far, and until it is interrupted."""

import logging
import signal
import subprocess
import sys
import threading
import time

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

    def meddle(stage, done, total):
        if stage == "second pass" and stage not in stages:
            data[41:81].to_parquet(tmp_path / "01.parquet")
        stages.append(stage)

    with pytest.raises(uqf.FileFormatError):
        uqf.UQF(**settings).fit(tmp_path, progress=meddle)


@pytest.mark.parametrize(("settings", "passes"), [(HASHED, 2), (LISTED, 3)])
def test_progress_counts_the_steps_of_every_pass_and_the_log_names_the_stages(
    folder, data, caplog, settings, passes
):
    events = []
    with caplog.at_level(logging.INFO, "uqf"):
        uqf.UQF(**settings).fit(folder, progress=lambda *event: events.append(event))
    stages = ["counting words", "first pass", "decomposition", "second pass"][3 - passes :]
    assert list(dict.fromkeys(stage for stage, _, _ in events)) == stages
    for stage in set(stages) - {"decomposition"}:
        done = [(one, total) for name, one, total in events if name == stage]
        assert done[0] == (0, data.n_steps) and done[-1] == (data.n_steps, data.n_steps)
        assert len(done) == 1 + 11, "every shard is reported"
    assert all(f"{stage}: " in caplog.text for stage in stages)
    assert f"11 shards, {data.n_steps:,} steps" in caplog.text


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
