"""Data on disk and on other machines: the same results, little memory, and clear words when something breaks."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uqf.adapters.shards import ParquetShard
from uqf.learn.map_reduce import TreeSum
from uqf.learn.shards import Blocks

import uqf
from shard_sources import Watched, WatchedShard
from uqf.experiments import scale, scale_sums

distributed = pytest.importorskip("distributed")

HASHED = {"rank": 3, "discount": 0.9, "projection": "hashed", "prefix_dim": 20, "suffix_dim": 20}
LISTED = {
    "rank": 3,
    "discount": 0.9,
    "memory": "spectral",
    "max_prefix": 2,
    "max_suffix": 2,
    "n_prefixes": 20,
}


def bits(learner):
    return (learner.wfa_.alpha.tobytes(), learner.wfa_.operators.tobytes(), learner.wfa_.omega.tobytes())


def with_paths():
    """The environment of a process that finds what this one finds."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=12), episodes=440, seed=4)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    for index in range(11):
        data[40 * index : 40 * (index + 1)].to_parquet(folder / f"{index:02d}.parquet")
    return folder


def per_step(data):
    episode = np.repeat(np.arange(len(data)), data.lengths)
    names = np.array(["left", "right", "listen"])[data.actions]
    return pa.table(
        {"episode": episode, "action": names, "observation": data.observations, "reward": data.rewards}
    )


# --- out of core ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [HASHED, LISTED])
def test_a_folder_gives_what_memory_gives(data, folder, settings):
    from_folder, from_memory = uqf.UQF(**settings).fit(folder), uqf.UQF(**settings).fit(data)
    for name in ("alpha", "operators", "omega"):
        np.testing.assert_allclose(
            getattr(from_folder.wfa_, name), getattr(from_memory.wfa_, name), rtol=1e-10, atol=1e-12
        )
    assert from_folder.diagnostics_["steps"] == data.n_steps
    assert from_folder.diagnostics_["covered_prefixes"] == from_memory.diagnostics_["covered_prefixes"]
    small = uqf.Shards(folder, batch_steps=100)
    np.testing.assert_allclose(
        uqf.UQF(**settings).fit(small).wfa_.operators, from_memory.wfa_.operators, rtol=1e-10, atol=1e-12
    )
    assert from_folder.score(data) == pytest.approx(from_memory.score(data), rel=1e-6)


def test_files_with_names_are_read_in_the_codes_of_a_given_vocabulary(data, tmp_path):
    """As `read_log` does: yesterday's model wants today's logs in its own codes."""
    named = data[:]
    named.vocabulary = uqf.Vocabulary(("listen", "left", "right"), ("growl left", "growl right"))
    named.to_parquet(tmp_path / "1.parquet")
    other = uqf.Vocabulary(("right", "listen", "left"), ("growl right", "growl left"))
    shards = uqf.Shards(tmp_path, vocabulary=other)
    whole = uqf.read_log(tmp_path, vocabulary=other)
    assert shards.vocabulary == whole.vocabulary == other
    assert (shards.n_actions, shards.n_observations) == (whole.n_actions, whole.n_observations)
    (part,) = shards[0].batches()
    np.testing.assert_array_equal(part.actions, whole.actions)
    np.testing.assert_array_equal(part.observations, whole.observations)
    assert (part.actions != data.actions).any() and part.vocabulary == other
    half = uqf.Shards(tmp_path, vocabulary=uqf.Vocabulary(None, other.observations))
    with pytest.raises(
        uqf.FileFormatError, match="actions of the log are names, those of the vocabulary numbers"
    ):
        next(half[0].batches())


def test_logs_of_others_with_names_and_one_row_per_step(data, tmp_path):
    table = per_step(data)
    cuts = data.offsets[[0, 100, 101, 440]]
    for number, (first, last) in enumerate(pairwise(cuts)):
        pq.write_table(table.slice(first, last - first), tmp_path / f"{number}.parquet")
    shards = uqf.Shards(tmp_path, batch_steps=150)
    assert shards.vocabulary.actions == ("left", "listen", "right")
    assert shards.reward_size == np.abs(data.rewards).max()
    whole = uqf.read_log(tmp_path)
    assert (shards.n_actions, shards.n_observations) == (whole.n_actions, whole.n_observations)
    np.testing.assert_allclose(
        uqf.UQF(**HASHED).fit(shards).wfa_.operators,
        uqf.UQF(**HASHED).fit(whole).wfa_.operators,
        rtol=1e-10,
        atol=1e-12,
    )


def test_only_a_few_batches_are_held(folder, monkeypatch):
    alive, most = set(), []
    honest = ParquetShard.batches

    def watched(shard):
        for batch in honest(shard):
            mark = object()
            alive.add(id(mark))
            weakref.finalize(batch.actions, alive.discard, id(mark))
            most.append(len(alive))
            yield batch
            del batch

    monkeypatch.setattr(ParquetShard, "batches", watched)
    uqf.UQF(**HASHED).fit(uqf.Shards(folder, batch_steps=60))
    assert len(most) >= 2 * 60
    assert max(most) <= 3


def test_every_shard_is_read_twice(data, tmp_path):
    source = Watched([WatchedShard(data[:100], "a", tmp_path), WatchedShard(data[100:], "b", tmp_path)])
    for settings in (HASHED, LISTED):
        before = len(source.readings())
        uqf.UQF(**settings).fit(source)
        assert len(source.readings()) - before == 4


@pytest.mark.parametrize("settings", [HASHED, LISTED])
def test_a_file_that_changes_between_the_passes_is_noticed(data, folder, tmp_path, settings):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    def meddle(progress):
        if progress.stage == "second pass" and progress.done == progress.total // 2:
            data[41:81].to_parquet(tmp_path / "01.parquet")

    with pytest.raises(uqf.FileFormatError, match=r"01\.parquet: the file changed"):
        uqf.UQF(**settings).fit(tmp_path, progress=meddle)


def test_files_that_do_not_fit_together_are_refused(data, tmp_path):
    table = per_step(data)
    pq.write_table(table.slice(0, 30), tmp_path / "0.parquet")
    pq.write_table(table.slice(30), tmp_path / "1.parquet")
    with pytest.raises(uqf.FileFormatError, match=r"1\.parquet: begins with episode .* whole episodes"):
        uqf.Shards(tmp_path)
    data.to_parquet(tmp_path / "1.parquet")
    with pytest.raises(uqf.FileFormatError, match=r"1\.parquet: other columns"):
        uqf.Shards(tmp_path)
    uqf.rollout(uqf.make("gridworld-near"), episodes=5).to_parquet(tmp_path / "0.parquet")
    with pytest.raises(uqf.FileFormatError, match=r"1\.parquet: other actions"):
        uqf.Shards(tmp_path)
    with pytest.raises(ValueError, match=r'memory="spectral"'):
        uqf.UQF().fit(uqf.Shards(tmp_path / "1.parquet"))
    with pytest.raises(TypeError, match=r"uqf\.Shards"):
        uqf.UQF(**HASHED).fit([1, 2, 3])


def test_the_measurement_of_costs_runs(tmp_path):
    written = scale.write_shards(uqf.make("gridworld-near"), tmp_path, 5000, shard_steps=2000)
    cost = scale.fit_cost("steps", 5000, tmp_path, 1, {"rank": 4})
    assert cost.steps == written >= 5000
    assert f"{written:,}" in scale.table([cost])
    assert scale.peak_megabytes() > 10
    (day,) = scale_sums.days("tiger", 50, 2)
    assert day["symbols"] == 6
    assert scale_sums.parcels("tiger", 50, 100, 2)["first pass MB"] > 0


# --- more than one worker ------------------------------------------------------------------------------------


@given(st.integers(1, 200))
def test_the_tree_depends_on_positions_alone(count):
    """Groups of eight added up elsewhere are subtrees of the whole, so clusters add in the same order."""

    def tree(terms):
        total = TreeSum(lambda left, right: f"({left}+{right})")
        for term in terms:
            total.push(term)
        return total.total()

    terms = [str(number) for number in range(count)]
    assert tree(tree(terms[first : first + 8]) for first in range(0, count, 8)) == tree(terms)
    assert tree(terms).replace("(", "").replace(")", "").split("+") == terms


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
        shards = uqf.dask_shards(client, folder)
        assert len(shards) == 11
        assert all(shard.hosts for shard in shards.shards)
        assert bits(uqf.UQF(**settings).fit(shards, executor=client)) == alone
        with pytest.raises(uqf.FileFormatError, match="no worker has"):
            uqf.dask_shards(client, folder / "nowhere")


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
    # Each of 20 shards twice, and again what the victim had not sent home: at most the two groups under way.
    assert 40 < len(readings) <= 40 + 2 * 8 + 1


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
    with pytest.raises(TypeError, match="executor is a int"):
        uqf.UQF(**HASHED).fit(data, executor=3)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match=r'memory = "beliefs"'):
        uqf.UQF().fit(data, executor=pool)


@pytest.mark.parametrize(
    "policy", [None, uqf.TablePolicy(np.full((7, 3), 1 / 3), 2)], ids=["uniform", "table"]
)
def test_rollouts_in_blocks_are_rollouts(policy):
    env = uqf.make("tiger", horizon=9)
    whole = uqf.rollout(env, policy, episodes=50, seed=3)
    blocks = [uqf.rollout(env, policy, episodes=10, first=first, seed=3) for first in range(0, 50, 10)]
    assert uqf.concatenate(blocks) == whole


def test_policy_iteration_on_an_executor_gives_the_same_rounds(processes):
    env = uqf.make("tiger", horizon=9)
    for method, learner in (("improved", uqf.UQF(memory="contexts")), ("paper", uqf.UQF(**HASHED))):
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


# --- progress, logging, interruption ---------------------------------------------------------------------------


def test_progress_rises_to_the_total_and_the_log_tells_the_stages(folder, data, caplog):
    seen = []
    with caplog.at_level(logging.INFO, "uqf"), ThreadPoolExecutor(1) as pool:
        uqf.UQF(**HASHED).fit(folder, progress=seen.append)
        uqf.UQF(**HASHED).fit(data, progress=seen.append, executor=pool)
    for part in (seen[: len(seen) // 2], seen[-3:]):
        assert all(one.done <= two.done for one, two in pairwise(part))
    assert seen[0].seconds_left == float("inf")
    assert {one.stage for one in seen} == {"first pass", "decomposition", "second pass"}
    assert (seen[-1].done, seen[-1].total, seen[-1].seconds_left) == (2 * data.n_steps, 2 * data.n_steps, 0.0)
    stages = [record.getMessage().split(":")[0] for record in caplog.records[:3]]
    assert stages == ["first pass", "decomposition", "second pass"]
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
