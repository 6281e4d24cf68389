"""What one reading tells: a sample that does not depend on who reads what, and propensities from all data."""

from concurrent.futures import ThreadPoolExecutor
from functools import reduce

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import uqf
from logged import changed, in_files, logged
from random_policies import random_table
from strategies import trajectories
from uqf import _core
from uqf.episodes.concatenate import concatenate
from uqf.episodes.propensities import ActionShares, propensities
from uqf.reading.overview import Overview, overview
from uqf.reading.reader import Reader


def read(data, max_steps, seed=0, **options):
    return Overview.read(Reader(data, **options), max_steps, seed)


def same(one, other):
    return (
        one.sample == other.sample
        and np.array_equal(one.priorities, other.priorities)
        and (one.episodes, one.steps) == (other.episodes, other.steps)
    )


@st.composite
def spread(draw):
    """Episodes that all differ, and the same ones in parts, in another order."""
    data = draw(trajectories(max_episodes=20))
    order = draw(st.permutations(range(len(data))))
    cuts = sorted(draw(st.sets(st.integers(1, len(data)), max_size=5)) | {len(data)})
    parts = [data[order[first:last]] for first, last in zip([0, *cuts], cuts, strict=False)]
    return data, parts


@settings(max_examples=100)
@given(spread(), st.integers(0, 60), st.integers(0, 2**64 - 1), st.booleans())
def test_the_sample_does_not_depend_on_how_episodes_are_spread(pair, max_steps, seed, from_the_left):
    data, parts = pair
    found = [overview(max_steps, seed, part) for part in parts]
    if from_the_left:
        merged = reduce(Overview.plus, found)
    else:
        merged = reduce(lambda one, other: other.plus(one), reversed(found))
    assert same(merged, overview(max_steps, seed, data))


@given(trajectories(max_episodes=20), st.integers(0, 60), st.integers(0, 2**64 - 1))
def test_the_sample_holds_the_lowest_priorities_in_their_order(data, max_steps, seed):
    found = overview(max_steps, seed, data)
    priorities = _core.episode_priorities(data, seed)
    order = np.argsort(priorities)
    fits = np.cumsum(data.lengths[order]) <= max_steps
    chosen = order[: max(1, fits.sum())]
    assert found.sample == data[chosen]
    np.testing.assert_array_equal(found.priorities, priorities[chosen])
    assert found.whole == (len(chosen) == len(data))


@given(trajectories(max_episodes=20), st.integers(0, 2**64 - 1), st.data())
def test_a_priority_belongs_to_the_content_of_an_episode(data, seed, draw):
    priorities = _core.episode_priorities(data, seed)
    assert priorities.dtype == np.uint64 and len(set(priorities.tolist())) == len(data)
    order = draw.draw(st.permutations(range(len(data))))
    np.testing.assert_array_equal(_core.episode_priorities(data[order], seed), priorities[order])
    assert (_core.episode_priorities(data, seed ^ 1) != priorities).all()


CHANGES = {
    "an action": {"actions": [1, 1, 0]},
    "an observation": {"observations": [0, 0, 0]},
    "a reward": {"rewards": [0.0, 1.0, 2.5]},
    "the end": {"terminated": [True]},
    "the length": {"actions": [0, 1], "observations": [0, 1], "rewards": [0.0, 1.0], "offsets": [0, 2]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_of_an_episode_changes_its_priority(change):
    parts = {"actions": [0, 1, 0], "observations": [0, 1, 0], "rewards": [0.0, 1.0, 2.0], "offsets": [0, 3]}
    one, other = (
        uqf.Trajectories(**given, n_actions=2, n_observations=2) for given in (parts, parts | CHANGES[change])
    )
    assert _core.episode_priorities(one, 0)[0] != _core.episode_priorities(other, 0)[0]


def test_copies_of_an_episode_have_different_priorities():
    data = uqf.Trajectories([0] * 500, [0] * 500, [0.0] * 500, range(501), n_actions=1, n_observations=1)
    priorities = _core.episode_priorities(data, 0)
    assert len(set(priorities.tolist())) == 500
    # Even over all numbers: the mean of 500 is within a fifth of the middle.
    assert 0.4 < priorities.astype(float).mean() / 2.0**64 < 0.6


@pytest.fixture(scope="module")
def data():
    """Episodes of different lengths, of which no two are the same."""
    rng = np.random.default_rng(4)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 20, size=440))])
    return uqf.Trajectories(
        rng.integers(3, size=offsets[-1]),
        rng.integers(2, size=offsets[-1]),
        rng.normal(size=offsets[-1]),
        offsets,
        n_actions=3,
        n_observations=2,
        behavior_probs=1.0 - rng.random(offsets[-1]),
        terminated=rng.random(440) < 0.5,
    )


@pytest.fixture(scope="module")
def folders(data, tmp_path_factory):
    """The same episodes in one file, in eleven, and in seven of another order."""
    folder = tmp_path_factory.mktemp("spread")
    shuffled = data[np.random.default_rng(0).permutation(len(data))]
    spread = (("one", data, 1), ("eleven", data, 11), ("seven", shuffled, 7))
    return [in_files(episodes, folder / name, count) for name, episodes, count in spread]


@pytest.mark.parametrize("max_steps", [1, 100, 500, 1500, 10**6])
def test_the_sample_of_a_folder_is_that_of_memory(data, folders, max_steps):
    whole = read(data, max_steps)
    assert whole.sample.n_steps <= max(max_steps, whole.sample.lengths[0])
    with ThreadPoolExecutor(2) as pool:
        for folder in folders:
            for source in (folder, uqf.Shards(folder, batch_steps=70)):
                assert same(read(source, max_steps), whole)
                assert same(read(source, max_steps, executor=pool), whole)


def test_another_seed_draws_another_sample(data):
    one, again, other = (read(data, 500, seed) for seed in (0, 0, 1))
    assert same(one, again)
    kept = set(one.priorities.tolist())
    common = sum(priority in kept for priority in _core.episode_priorities(other.sample, 0).tolist())
    # A tenth of the episodes is drawn: two draws share few of them.
    assert common < 0.5 * len(other.sample)


@pytest.mark.parametrize("files", [0, 20], ids=["memory", "folder"])
def test_the_sample_has_the_shares_of_the_whole_where_episodes_repeat(files, tmp_path):
    """Short episodes are copies of each other: neither all nor none of them are drawn."""
    law = np.array([0.1, 0.2, 0.3, 0.4])
    kinds = np.random.default_rng(0).choice(4, size=10_000, p=law)
    data = logged(kinds % 2, kinds // 2, 0.0, n_actions=2, n_observations=2)
    in_files(data, tmp_path, max(files, 1))
    for seed in range(4):
        sample = read(tmp_path if files else data, 2000, seed).sample
        assert len(sample) == 2000
        shares = np.bincount(sample.actions + 2 * sample.observations, minlength=4) / 2000
        np.testing.assert_allclose(shares, law, atol=0.05)


def test_propensities_are_estimated_from_all_shards(tmp_path):
    """A tenth of the episodes is in the sample, yet frequencies are those of the whole log."""
    env = uqf.make("tiger", horizon=12)
    data = changed(
        uqf.rollout(env, random_table(3, 2, softness=2.0), episodes=400, seed=3), behavior_probs=None
    )
    in_files(data, tmp_path, 8)
    expected = propensities(data)
    for source in (data, tmp_path, uqf.Shards(tmp_path, batch_steps=100)):
        found = read(source, 480)
        np.testing.assert_array_equal(found.known(data).behavior_probs, expected)
        np.testing.assert_array_equal(found.without_sample().known(data).behavior_probs, expected)
        places = [np.flatnonzero(_core.episode_priorities(data, 0) == p)[0] for p in found.priorities]
        few = changed(data, behavior_probs=expected)[np.array(places)]
        assert found.known(found.sample) == few
        assert np.abs(propensities(found.sample) - few.behavior_probs).max() > 0.0


def test_logged_propensities_are_left_as_they_are(data):
    found = read(data, 500)
    assert found.shares is None
    assert found.known(found.sample) is found.sample


@given(trajectories(max_episodes=12), st.integers(1, 11))
def test_shares_of_actions_add_up_exactly(data, cut):
    assume(cut < len(data))
    parts = [data[:cut], data[cut:]]
    whole, sums = ActionShares.of(data), reduce(ActionShares.plus, map(ActionShares.of, parts))
    np.testing.assert_array_equal(sums.choices, whole.choices)
    np.testing.assert_array_equal(sums.counts, whole.counts)
    assert whole.counts.sum() == data.n_steps
    for part in (*parts, concatenate(parts[::-1])):
        np.testing.assert_array_equal(sums.probabilities(part), whole.probabilities(part))
    np.testing.assert_array_equal(whole.probabilities(data), propensities(changed(data, behavior_probs=None)))
