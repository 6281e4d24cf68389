"""More than one worker: the same bits, and clear words when one breaks."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from shard_sources import HASHED, LISTED, Watched, WatchedShard, bits, with_paths
from uqf.reading.map_reduce import TreeSum
from uqf.reading.shards import Blocks

distributed = pytest.importorskip("distributed")


@given(st.integers(1, 200))
def test_the_tree_depends_on_positions_alone(count):
    total = TreeSum(lambda left, right: f"({left}+{right})")
    terms = [str(number) for number in range(count)]
    for term in terms:
        total.push(term)
    tree = total.total()
    assert tree.replace("(", "").replace(")", "").split("+") == terms
    assert tree.startswith("(" * (count - 1).bit_length()), "balanced"


@pytest.mark.parametrize("settings", [HASHED, LISTED])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_executor_gives_the_same_bits(data, folder, settings, workers, monkeypatch):
    monkeypatch.setattr(Blocks.__init__, "__defaults__", (64,))
    assert len(Blocks(data)) == 7
    with ThreadPoolExecutor(workers) as pool:
        for given_data in (folder, data):
            with_pool = uqf.UQF(**settings).fit(given_data, executor=pool)
            assert bits(with_pool) == bits(uqf.UQF(**settings).fit(given_data))


@pytest.fixture(scope="module")
def processes():
    """Spawned, since the threads of a dask cluster do not go well with forking."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_processes_give_the_same_bits(folder, processes):
    assert bits(uqf.UQF(**HASHED).fit(folder, executor=processes)) == bits(uqf.UQF(**HASHED).fit(folder))
    days = uqf.UQF(**HASHED).partial_fit(folder, executor=processes)
    assert bits(days) == bits(uqf.UQF(**HASHED).partial_fit(folder))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_dask_gives_the_same_bits(folder, workers):
    with (
        distributed.LocalCluster(
            workers, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        for settings in (HASHED, LISTED):
            alone = bits(uqf.UQF(**settings).fit(folder))
            assert bits(uqf.UQF(**settings).fit(folder, executor=client)) == alone
        assert bits(uqf.UQF(**settings).fit(folder, executor=client.get_executor())) == alone


def test_a_killed_worker_costs_its_shards_only(data, tmp_path):
    """A real process is killed in mid-fit; the fit goes on with the other one, to the same bits."""
    shards = [WatchedShard(data[20 * n : 20 * (n + 1)], f"{n:02d}", tmp_path, seconds=0.1) for n in range(20)]
    source = Watched(shards)
    alone = bits(uqf.UQF(**HASHED).fit(Watched([WatchedShard(s.data, s.name, tmp_path) for s in shards])))
    for path in tmp_path.iterdir():
        path.unlink()
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        ThreadPoolExecutor(1) as waiting,
    ):
        fit = waiting.submit(lambda: uqf.UQF(**HASHED).fit(source, executor=client))
        deadline = time.monotonic() + 60
        while len(source.readings()) < 12 and time.monotonic() < deadline and not fit.done():
            time.sleep(0.01)
        latest = max(source.readings(), key=lambda reading: int(reading.split(".")[2]))
        victim = int(latest.split(".")[1])
        os.kill(victim, signal.SIGKILL)
        assert bits(fit.result(timeout=120)) == alone
    readings = source.readings()
    assert any(int(reading.split(".")[1]) != victim for reading in readings)
    # Each of 20 shards twice, and again what the victim had not sent home.
    assert 40 < len(readings) <= 44


def test_a_dead_process_of_a_pool_is_told(data, tmp_path):
    source = Watched([WatchedShard(data, "x", tmp_path, seconds=-1.0, broken=True)] * 3)
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        pytest.raises(uqf.WorkerError, match="ProcessPoolExecutor died"),
    ):
        uqf.UQF(**HASHED).fit(source, executor=pool)


def test_an_error_cancels_what_has_not_begun(data, tmp_path):
    shards = [WatchedShard(data, f"{n:02d}", tmp_path, seconds=0.01, broken=n == 0) for n in range(50)]
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="a broken shard"):
        uqf.UQF(**HASHED).fit(Watched(shards), executor=pool)
    assert len(Watched(shards).readings()) < 5


def test_policy_iteration_on_an_executor_gives_the_same_rounds(processes):
    env = uqf.make("tiger", horizon=9)
    for method, learner in (("improved", uqf.ContextQ()), ("paper", uqf.UQF(**HASHED))):
        options = {"iterations": 3, "episodes": 600, "epsilon": 0.1, "seed": 2, "method": method}
        alone = uqf.policy_iteration(env, learner, **options)
        spread = uqf.policy_iteration(env, learner, executor=processes, **options)
        assert [r.mean for r in spread.rounds] == [r.mean for r in alone.rounds]


FORKED = """
import multiprocessing, uqf
data = uqf.rollout(uqf.make("tiger"), episodes=3000, threads=2)
with multiprocessing.get_context("fork").Pool(1) as pool:
    again = pool.apply(uqf.rollout, (uqf.make("tiger"),), {"episodes": 3000, "threads": 2})
assert again == data
"""


def test_a_forked_process_has_threads_of_its_own():
    subprocess.run([sys.executable, "-c", FORKED], env=with_paths(), check=True, timeout=60)
