"""How far a fit is: never backwards, never beyond the end, and the time left is about right."""

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import uqf
from uqf.baselines import PSRPBVI, TPSR, FittedQ, MemorylessQ
from uqf.reading.progress import Progress, Reporter

FITS = {
    "BeliefQ": uqf.BeliefQ(0.9, states=12, models=2).fit,
    "ContextQ": uqf.ContextQ(0.9).fit,
    "UQF": uqf.UQF(3, 0.9, max_prefix=2, max_suffix=2).fit,
    "MemorylessQ": MemorylessQ().fit,
    "FittedQ": FittedQ(iterations=2, trees=2).fit,
    "TPSR": TPSR(2).fit,
    "PSRPBVI": PSRPBVI(TPSR(2), points=20, iterations=5).fit,
    "the front door": uqf.fit,
}

#: In memory the quickest learners have nothing to tell.
SILENT = {"ContextQ", "MemorylessQ", "PSRPBVI"}


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=200, seed=0)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    for index in range(5):
        data[40 * index : 40 * (index + 1)].to_parquet(folder / f"{index}.parquet")
    return folder


def assert_rises_to_the_end(told):
    assert all(one.done <= two.done and one.seconds <= two.seconds for one, two in pairwise(told))
    assert len({one.total for one in told}) == 1
    assert all(0 <= one.done <= one.total and one.seconds_left >= 0.0 for one in told)
    assert told[-1].done == told[-1].total


@pytest.mark.parametrize("name", [name for name in FITS if name not in SILENT])
def test_what_is_told_of_episodes_in_memory_rises_to_the_end(name, data):
    told = []
    FITS[name](data, progress=told.append)
    assert_rises_to_the_end(told)
    assert told[-1].seconds_left == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("workers", [0, 2])
def test_what_is_told_of_a_folder_rises_to_the_end(name, folder, workers):
    told = []
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        FITS[name](folder, progress=told.append, executor=pool if workers else None)
    assert len(told) >= 5, "every shard is told"
    assert_rises_to_the_end(told)


def test_refitting_tells_up_to_the_end(data):
    told = []
    uqf.BeliefQ(0.9, states=12, models=2).fit(data[:100]).refit(data, progress=told.append)
    assert_rises_to_the_end(told)


def test_a_front_door_that_runs_out_of_time_still_comes_to_the_end(data):
    told = []
    uqf.fit(data, seconds=0.0, progress=told.append)
    assert_rises_to_the_end(told)


@pytest.mark.parametrize("wrong", [0.01, 1.0, 100.0])
def test_wrong_estimates_neither_turn_back_nor_pass_the_end(wrong):
    """Stages that take another share than foretold, and an expectation that comes in the middle."""
    told = []
    reporter = Reporter(told.append, 300.0, 1e-9)
    for stage in ("one", "two", "three"):
        reporter.enter(stage, "begins", 100.0 * wrong)
        for share in (-0.5, 0.2, 0.1, 0.9, 1.5):
            reporter.reach(share)
        reporter.expect(50.0)
    reporter.finish()
    assert_rises_to_the_end(told)
    assert list(dict.fromkeys(one.stage for one in told)) == ["one", "two", "three"]
    assert all(np.isfinite(one.seconds_left) for one in told)


def test_a_fit_within_a_fit_fills_its_stage():
    told = []
    reporter = Reporter(told.append, 100.0, 1e-9)
    inner = reporter.within("inside", 40.0)
    inner(Progress("first", 0, 7, 0.0, 10.0))
    inner(Progress("second", 5, 7, 5.0, 5.0))
    inner(Progress("second", 7, 7, 10.0, 0.0))
    assert [one.done for one in told[-3:]] == [0, 20, 40]
    assert [one.stage for one in told[-3:]] == ["inside: first", "inside: second", "inside: second"]


def watched_fit(data):
    """(seconds since the call, progress) of every report, and the seconds of the whole fit."""
    told, began = [], time.perf_counter()
    FITS["the front door"](
        data, discount=0.95, progress=lambda one: told.append((time.perf_counter() - began, one))
    )
    return told, time.perf_counter() - began


@pytest.mark.slow
def test_the_time_left_of_a_million_steps_is_about_right():
    """The best of three, since other programs use the machine too."""
    data = uqf.rollout(uqf.make("tiger", horizon=20), episodes=50_000, seed=0)
    assert data.n_steps == 10**6
    worst = []
    for _ in range(3):
        told, duration = watched_fit(data)
        assert_rises_to_the_end([one for _, one in told])
        assert told[0][0] < 0.5
        judged = [(at, one) for at, one in told if 0.2 * duration < at < 0.95 * duration]
        assert len(judged) > 20
        factors = [one.seconds_left / (duration - at) for at, one in judged]
        worst.append(max(max(factors), 1.0 / max(min(factors), 1e-9)))
        print(f"{duration:.1f} s, time left between {min(factors):.2f} and {max(factors):.2f} of the truth")
    assert min(worst) < 2.0
