"""Statistics are additive: days added, merged, forgotten or faded equal a fit to what is left."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf.learn.spectral.tally import Tally
from words import words_up_to

SETTINGS = [
    {"projection": None, "target": "return"},
    {"projection": None, "n_prefixes": 4, "n_suffixes": 3, "occurrences": "start"},
    {"projection": "hashed", "prefix_dim": 12, "suffix_dim": 10, "target": "return"},
    {"projection": "gaussian", "prefix_dim": 5, "suffix_dim": 6},
]


def learner(settings, **more):
    return uqf.UQF(**({"rank": 2, "discount": 0.9, "max_prefix": 2, "max_suffix": 2} | settings | more))


def fitted(settings, data):
    """A fit whose state is well defined: no singular value near the next one, none near rounding."""
    try:
        made = learner(settings).fit(data)
    except uqf.NumericalError:
        assume(False)
    spectrum = np.append(made.singular_values_, 0.0)[:3]
    assume(spectrum[1] > 1e-3 * spectrum[0] and np.diff(spectrum).max() < -1e-2 * spectrum[0])
    return made


def assert_same(one, other, data):
    """Whether days came to the same as one fit to the data."""
    assert one.statistics_.tally == Tally.of(data)
    for name in ("episodes", "steps", "seen_symbols"):
        assert one.diagnostics_[name] == other.diagnostics_[name]
    np.testing.assert_allclose(one.policy_.parts()["propensities"], other.policy_.parts()["propensities"])
    words = words_up_to(one.n_features_in_, 2)
    for name in ("wfa_", "value_wfa_"):
        mine, theirs = (getattr(which, name).values(words) for which in (one, other))
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(mine).max()))
    np.testing.assert_allclose(one.policy_.weights, other.policy_.weights, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("settings", SETTINGS)
@given(data=trajectories(max_episodes=12), cut=st.integers(1, 11))
def test_days_added_one_by_one_equal_one_fit(settings, data, cut):
    assume(cut < len(data))
    whole = fitted(settings, data)
    days = learner(settings).partial_fit(data[:cut]).partial_fit(data[cut:])
    assert_same(days, whole, data)


def test_whoever_reads_days_adds_and_forgets_the_same_bits():
    days = [uqf.rollout(uqf.make("tiger"), episodes=50, seed=day) for day in range(2)]
    events = []
    alone = learner({}).partial_fit(days[0])
    alone.partial_fit(days[1], progress=lambda *event: events.append(event)).forget(days[1])
    with ThreadPoolExecutor(2) as workers:
        shared = learner({})
        for day in days:
            shared.partial_fit(day, executor=workers)
        shared.forget(days[1], executor=workers)
    np.testing.assert_array_equal(shared.policy_.weights, alone.policy_.weights)
    assert {stage for stage, _, _ in events} == {"statistics"}


def test_a_fit_keeps_neither_its_log_nor_statistics():
    """A fitted learner is as large as its policy; adding to it is refused before any data are read."""
    data = uqf.rollout(uqf.make("tiger"), episodes=2_000, seed=0)
    fitted = learner({}).fit(data)
    assert len(pickle.dumps(fitted)) < data.n_steps
    for add in (fitted.partial_fit, fitted.forget, learner({}).merge):
        with pytest.raises(ValueError):
            add(fitted if add.__name__ == "merge" else data)


@pytest.mark.parametrize("settings", SETTINGS)
@given(data=trajectories(max_episodes=12), cut=st.integers(1, 11))
def test_a_forgotten_day_was_never_there(settings, data, cut):
    assume(cut < len(data))
    without = fitted(settings, data[:cut])
    days = learner(settings).partial_fit(data[:cut]).partial_fit(data[cut:]).forget(data[cut:])
    assert_same(days, without, data[:cut])
    assert days.diagnostics_["seen_symbols"] == without.diagnostics_["seen_symbols"]
    assert_same(learner(settings).partial_fit(data).forget(data[cut:]), without, data[:cut])


@pytest.mark.parametrize("settings", SETTINGS)
@given(data=trajectories(max_episodes=12), cut=st.integers(1, 11))
def test_fading_to_one_half_equals_counting_the_new_day_twice(settings, data, cut):
    assume(cut < len(data))
    twice = fitted(settings, uqf.concatenate([data, data[cut:]]))
    faded = learner(settings, forgetting=0.5).partial_fit(data[:cut]).partial_fit(data[cut:])
    words = words_up_to(data.n_symbols, 2)
    expected = twice.wfa_.values(words)
    np.testing.assert_allclose(
        faded.wfa_.values(words), expected, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(expected).max())
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_statistics_are_pickled_and_merged(settings, tmp_path):
    data = uqf.rollout(uqf.make("tiger", horizon=5), episodes=300, seed=3)
    data.codebook = uqf.Codebook.named(("listen", "left", "right"), ("growl",))
    parts = [learner(settings).partial_fit(data[first : first + 100]) for first in (0, 100, 200)]
    sums = pickle.loads(pickle.dumps(parts[1].statistics_))
    merged = learner(settings).merge(parts[0]).merge(sums).merge(parts[2])
    assert_same(merged, learner(settings).fit(data), data)
    merged.save(tmp_path / "policy.safetensors")
    assert uqf.inspect_policy(tmp_path / "policy.safetensors").codebook == data.codebook
    data.codebook = None
    with pytest.raises(ValueError):
        merged.partial_fit(data)


def test_the_order_of_days_does_not_matter_to_the_last_bit():
    data = uqf.rollout(uqf.make("tiger", horizon=5), episodes=90, seed=3)
    days = [data[:30], data[30:60], data[60:]]
    settings = SETTINGS[2]
    one, other = learner(settings), learner(settings)
    for day in days:
        one.partial_fit(day)
    for day in reversed(days):
        other.partial_fit(day)
    np.testing.assert_array_equal(one.wfa_.operators, other.wfa_.operators)


def test_data_that_are_too_few_for_a_policy_are_added_all_the_same():
    data = uqf.rollout(uqf.make("tiger", horizon=5), episodes=60, seed=3)
    few = uqf.Trajectories([0], [0], [0.0], [0, 1], n_actions=3, n_observations=2)
    days = learner(SETTINGS[0]).partial_fit(few)
    with pytest.raises(uqf.NotFittedError):
        days.predict([[]])
    both = uqf.concatenate([few, data])
    assert_same(days.partial_fit(data), learner(SETTINGS[0]).fit(both), both)
    with pytest.raises(uqf.NumericalError):
        learner(SETTINGS[0]).fit(few)
