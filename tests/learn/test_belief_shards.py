"""BeliefQ, the front door and the other learners on shards: the same bits whoever reads and trains."""

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

import uqf
from logged import in_files
from shard_sources import Watched, WatchedShard
from uqf.baselines import FittedQ, MemorylessQ
from uqf.episodes.fingerprint import fingerprint
from uqf.learn import learner as base
from uqf.learn.choose import fit as front_door
from uqf.learn.choose.candidates import Settings

distributed = pytest.importorskip("distributed")

SMALL = {"discount": 0.9, "states": 20, "models": 3, "seed": 2}


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=12), episodes=440, seed=4)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    return in_files(data, tmp_path_factory.mktemp("shards"), 11)


@pytest.fixture(scope="module")
def alone(folder):
    """What is learned without an executor: by BeliefQ, and by the front door."""
    return {"BeliefQ": uqf.BeliefQ(**SMALL).fit(folder), "fit": uqf.fit(folder, discount=0.9)}


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def bits(learner):
    return {name: np.asarray(part).tobytes() for name, part in learner.policy_.parts().items()}


def fitted(how, folder, executor):
    if how == "BeliefQ":
        return uqf.BeliefQ(**SMALL).fit(folder, executor=executor)
    return uqf.fit(folder, discount=0.9, executor=executor)


def assert_same(found, expected):
    assert bits(found) == bits(expected)
    assert found.diagnostics_ == expected.diagnostics_


both = pytest.mark.parametrize("how", ["BeliefQ", "fit"])


@both
@pytest.mark.parametrize("workers", [1, 2])
def test_threads_give_the_same_bits(how, folder, alone, workers):
    with ThreadPoolExecutor(workers) as pool:
        assert_same(fitted(how, folder, pool), alone[how])


@both
def test_processes_give_the_same_bits(how, folder, alone, processes):
    assert_same(fitted(how, folder, processes), alone[how])


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (2, 1), (1, 2)])
def test_dask_gives_the_same_bits(folder, alone, workers, threads):
    with (
        distributed.LocalCluster(
            workers, threads_per_worker=threads, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        for how in ("BeliefQ", "fit"):
            assert_same(fitted(how, folder, client), alone[how])


@pytest.mark.parametrize(
    ("stage", "report"),
    [("reading", 2), ("training", 1), pytest.param("advantages", 2, marks=pytest.mark.slow)],
)
def test_a_killed_worker_loses_nothing(data, tmp_path, stage, report):
    """A real process is killed while it reads or trains; the other one does its work, to the same bits."""
    parts = [data[40 * n : 40 * (n + 1)] for n in range(11)]
    quick = Watched([WatchedShard(part, f"{n:02d}", tmp_path) for n, part in enumerate(parts)])
    alone = uqf.BeliefQ(**SMALL).fit(quick)
    slow = Watched([WatchedShard(part, f"{n:02d}", tmp_path, seconds=0.1) for n, part in enumerate(parts)])
    stages = []
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))

        def kill(name, done, total):
            # The first report of a stage comes when it begins, the second when eight shards have been read.
            stages.append(name.partition(",")[0])
            if stages.count(stage) == report and stages[-1] == stage:
                os.kill(victim, signal.SIGKILL)

        found = uqf.BeliefQ(**SMALL).fit(slow, executor=client, progress=kill)
        # The scheduler may still believe in the dead worker; only those alive answer.
        assert victim not in client.run(os.getpid, on_error="ignore").values()
    assert_same(found, alone)


@both
def test_every_shard_is_read_twice_and_once_more_by_the_front_door(how, data, tmp_path):
    source = Watched([WatchedShard(data[:200], "a", tmp_path), WatchedShard(data[200:], "b", tmp_path)])
    learner = fitted(how, source, None)
    assert isinstance(learner, (uqf.BeliefQ, uqf.ModelQ))
    # A plan of the front door is made of the sample, which is read already.
    assert len(source.readings()) == (3 if how == "fit" else 2) * len(source)


def test_a_file_that_changes_between_the_readings_is_noticed(data, folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    def meddle(stage, done, total):
        if stage.startswith("training"):
            data[41:81].to_parquet(tmp_path / "01.parquet")

    with pytest.raises(uqf.FileFormatError):
        uqf.BeliefQ(**SMALL).fit(tmp_path, progress=meddle)


@pytest.mark.parametrize("known", [True, False], ids=["logged", "estimated"])
def test_shards_teach_what_memory_teaches(data, tmp_path, known):
    """Models are the same, since the sample is; sums over parts differ in their last digits."""
    data = data if known else uqf.Trajectories(**data.__getstate__() | {"behavior_probs": None})
    in_files(data, tmp_path, 11)
    memory = uqf.BeliefQ(**SMALL).fit(data)
    for source in (tmp_path, uqf.Shards(tmp_path, batch_steps=100)):
        learner = uqf.BeliefQ(**SMALL).fit(source)
        mine, theirs = learner.policy_.parts(), memory.policy_.parts()
        for name in ("states", "starts", "transitions", "ranges", "kinds"):
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
        size = np.abs(theirs["weights"]).max()
        np.testing.assert_allclose(mine["weights"], theirs["weights"], atol=1e-4 * size)
        np.testing.assert_allclose(mine["bias"], theirs["bias"], atol=1e-4 * size)
        assert mine["temperature"] == pytest.approx(theirs["temperature"], rel=1e-4)
        told = memory.diagnostics_
        assert {name: learner.diagnostics_[name] for name in told if name != "temperature"} == {
            name: value for name, value in told.items() if name != "temperature"
        }
        assert learner.score(data) == pytest.approx(memory.score(data), rel=1e-3)


def test_the_front_door_judges_on_episodes_of_the_shards(data, folder, alone):
    learner = alone["fit"]
    trial = learner.trial_
    assert (len(trial.taught), len(trial.held_out)) == (220, 220)
    everything = {str(episode) for episode in data}
    taught, judges = ({str(episode) for episode in part} for part in (trial.taught, trial.held_out))
    assert taught | judges == everything and not taught & judges
    estimate = uqf.ope.evaluate(trial.policy, trial.held_out, discount=0.9)
    assert estimate.episodes == 220 and np.isfinite(estimate.mean)
    assert learner.diagnostics_["episodes"] == 440
    memory = uqf.fit(data, discount=0.9)
    assert memory.trial_.held_out == trial.held_out
    assert memory.diagnostics_["chosen"] == learner.diagnostics_["chosen"]


def test_the_front_door_judges_on_a_bounded_sample(data, folder, monkeypatch):
    monkeypatch.setattr(front_door, "SETTINGS", Settings(sample_steps=1200))
    learner = uqf.fit(folder, discount=0.9)
    assert len(learner.trial_.taught) + len(learner.trial_.held_out) == 100
    assert learner.diagnostics_["episodes"] == 440
    assert learner.diagnostics_["chosen"]["why"].startswith(type(learner).__name__)


OTHERS = {
    "ContextQ": lambda: uqf.ContextQ(0.9),
    "MemorylessQ": MemorylessQ,
    "FittedQ": lambda: FittedQ(iterations=2, trees=2),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_learners_learn_from_a_sample_of_the_shards_and_say_so(name, data, folder, monkeypatch):
    whole = OTHERS[name]().fit(folder)
    assert whole.diagnostics_["notes"] == OTHERS[name]().fit(data).diagnostics_["notes"]
    assert whole.n_features_in_ == data.n_symbols
    assert whole.score(data) == pytest.approx(OTHERS[name]().fit(data).score(data), rel=0.2)
    monkeypatch.setattr(base, "MAX_STEPS", 1200)
    with ThreadPoolExecutor(2) as pool:
        few = OTHERS[name]().fit(folder, executor=pool)
    assert few.diagnostics_["notes"][-1] == "learned from 100 of 440 episodes, drawn by their hash"
    assert bits(few) == bits(OTHERS[name]().fit(folder))
    assert bits(few) != bits(whole)


@pytest.mark.parametrize("name", [*OTHERS, "BeliefQ"])
def test_a_learner_of_shards_is_saved_with_the_fingerprint_of_all_its_data(name, data, folder, tmp_path):
    made = {"BeliefQ": lambda: uqf.BeliefQ(**SMALL)} | OTHERS
    learner = made[name]().fit(folder)
    learner.save(tmp_path / "policy")
    again = clone(learner).fit(data)
    again.save(tmp_path / "again")
    found = {uqf.inspect_policy(tmp_path / name).data_fingerprint for name in ("policy", "again")}
    assert found == {fingerprint(data)}
