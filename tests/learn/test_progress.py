"""How far a fit is: stages that begin with nothing done, never turn back and never pass their end."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import uqf
from logged import in_files
from uqf.baselines import TPSR, FittedQ, MemorylessQ
from uqf.reading.progress import Reporter, within

FITS = {
    "BeliefQ": uqf.BeliefQ(0.9, states=12, models=2).fit,
    "SpectralQ": uqf.SpectralQ(0.9).fit,
    "ContextQ": uqf.ContextQ(0.9).fit,
    "UQF": uqf.UQF(3, 0.9, max_prefix=2, max_suffix=2).fit,
    "MemorylessQ": MemorylessQ().fit,
    "FittedQ": FittedQ(iterations=2, trees=2).fit,
    "TPSR": TPSR(2).fit,
    "the front door": uqf.fit,
}


class Events(list):
    """A callback that keeps (stage, done, total)."""

    def __call__(self, *event):
        self.append(event)


def assert_truthful(events):
    """Every stage begins with 0, never falls and never passes its total; the last one comes to its end."""
    stages = {}
    for stage, done, total in events:
        assert isinstance(done, int) and 0 <= done <= total
        before = stages.get(stage, (0, total))
        assert before[0] <= done and before[1] == total, f"{stage}: {done} of {total} after {before}"
        assert stage in stages or done == 0
        stages[stage] = (done, total)
    assert events[-1][1] == events[-1][2]


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=200, seed=0)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    return in_files(data, tmp_path_factory.mktemp("shards"), 5)


@pytest.mark.parametrize("name", FITS)
def test_progress_of_episodes_in_memory(name, data):
    events = Events()
    FITS[name](data, progress=events)
    assert_truthful(events)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("workers", [0, 2])
def test_progress_of_a_folder(name, folder, workers):
    events = Events()
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        FITS[name](folder, progress=events, executor=pool if workers else None)
    assert len(events) >= 5, "every shard is reported"
    assert_truthful(events)


def test_progress_of_a_refit(data):
    events = Events()
    uqf.BeliefQ(0.9, states=12, models=2).fit(data[:100]).refit(data, progress=events)
    assert_truthful(events)


def test_a_front_door_that_runs_out_of_time_still_comes_to_the_end(data):
    events = Events()
    uqf.fit(data, seconds=0.0, progress=events)
    assert_truthful(events)


def test_a_reporter_corrects_what_would_turn_back_or_pass_the_end():
    events = Events()
    reporter = Reporter(events)
    for stage in ("one", "two"):
        reporter.enter(stage, 10)
        for done in (-5, 2, 1, 9, 15):
            reporter.reach(done)
    reporter.enter("nothing to do", 0)
    reporter.finish()
    assert_truthful(events)
    assert [done for _, done, _ in events] == [0, 0, 2, 2, 9, 10] * 2 + [0, 1]
    Reporter(None).enter("nobody listens", 1)


def test_a_fit_within_a_fit_prefixes_its_stages():
    events = Events()
    Reporter(within(within(events, "outer"), "inner")).enter("first", 7)
    assert events == [("outer: inner: first", 0, 7)]
    assert within(None, "outer") is None


@pytest.mark.parametrize("name", ["UQF", "BeliefQ", "the front door"])
def test_the_first_event_comes_at_once(name):
    """Also where nothing is counted yet: stages are entered before their work."""
    data = uqf.rollout(uqf.make("gridworld-far"), episodes=2_000, seed=0)

    class Stop(Exception):
        """By the first event."""

    def stop(*event):
        raise Stop

    began = time.process_time()
    with pytest.raises(Stop):
        FITS[name](data, progress=stop)
    assert time.process_time() - began < 0.5
