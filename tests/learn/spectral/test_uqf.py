"""UQF: the paper's method from data to a policy."""

import contextlib

import numpy as np
import pytest

import uqf
from logged import logged
from uqf.episodes.fingerprint import fingerprint
from uqf.learn.spectral.decomposition import MAX_RANK


@pytest.fixture(scope="module")
def tiger():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=300, seed=0)


def test_automata_and_spectrum_are_kept(tiger):
    learner = uqf.UQF(3, 0.9).fit(tiger)
    assert learner.wfa_.rank == learner.value_wfa_.rank == learner.policy_.rank == 3
    np.testing.assert_array_equal(learner.value_wfa_.omega, learner.wfa_.discounted(0.9).omega)
    assert (np.diff(learner.singular_values_) <= 0).all()
    assert len(learner.singular_values_) >= 3
    returns = uqf.UQF(3, 0.9, target="return").fit(tiger)
    np.testing.assert_array_equal(returns.value_wfa_.omega, returns.wfa_.omega)


def test_the_policy_acts_on_the_value_automaton(tiger):
    """Q̃(h, a) = Σ_o Ṽ(hao), divided by how often the action is taken after the last symbol."""
    learner = uqf.UQF(3, 0.9, occurrences="start").fit(tiger)
    parts = learner.policy_.parts()
    for word in ((), (0,), (3, 1)):
        history = [divmod(symbol, 2) for symbol in word]
        sums = learner.value_wfa_.values([(*word, symbol) for symbol in range(6)]).reshape(3, 2).sum(axis=1)
        row = parts["symbols"].tolist().index(word[-1]) if word else len(parts["symbols"]) + 1
        expected = sums / parts["propensities"][row]
        values = learner.decision_function([history])[0]
        np.testing.assert_allclose(
            values / np.abs(values).max(), expected / np.abs(expected).max(), atol=1e-9
        )


def test_diagnostics_tell_how_well_the_data_support_the_state(tiger):
    told = uqf.UQF(3, 0.9, n_prefixes=10).fit(tiger).diagnostics_
    assert (told["episodes"], told["steps"], told["rank"]) == (300, 1800, 3)
    assert (told["seen_symbols"], told["unseen_symbols"]) == (6, 0)
    assert told["covered_prefixes"] < 1.0 == told["covered_suffixes"]
    assert told["condition"] >= 1.0
    assert 0.0 < told["dropped_energy"] < 1.0
    assert told["numerical_rank"] >= 3


def ring(steps, size=23, seed=0):
    """Episodes of 50 steps of one action in which a walker shows where it is, and is paid at one place."""
    rng = np.random.default_rng(seed)
    episodes = steps // 50
    places = (rng.integers(size, size=(episodes, 1)) + rng.integers(-4, 5, (episodes, 50)).cumsum(1)) % size
    return logged(0, places, (places == 0) + rng.normal(size=places.shape), n_actions=1, n_observations=size)


def test_a_rank_is_chosen_among_many_symbols_and_said():
    data = ring(50_000)
    assert data.n_symbols == 23
    learner = uqf.UQF().fit(data)
    rank = learner.diagnostics_["rank"]
    assert 1 <= rank <= MAX_RANK == 50
    assert len(learner.singular_values_) <= MAX_RANK + 20, "only the leading directions are computed"
    assert learner.diagnostics_["notes"][0] == f"rank {rank} chosen from the spectrum (at most 50)"


def test_a_given_rank_is_not_told_as_chosen(tiger):
    assert not any("chosen" in note for note in uqf.UQF(3).fit(tiger).diagnostics_["notes"])


@pytest.mark.parametrize("days", [1, 3])
def test_a_rank_is_chosen_day_by_day_as_in_one_fit(tiger, days):
    learner = uqf.UQF()
    for part in np.array_split(np.arange(len(tiger)), days):
        learner.partial_fit(tiger[part])
    assert learner.policy_.rank == uqf.UQF().fit(tiger).policy_.rank <= MAX_RANK


def late_rewards(episodes=200, length=12, seed=0):
    """Reward only at the end, which depends on the last action: far from the first step."""
    rng = np.random.default_rng(seed)
    actions = rng.integers(2, size=(episodes, length))
    rewards = np.zeros((episodes, length))
    rewards[:, -1] = actions[:, -1]
    return logged(actions, np.arange(length), rewards, n_actions=2, n_observations=length)


def test_words_from_the_start_are_refused_where_no_reward_comes_soon():
    data = late_rewards()
    learner = uqf.UQF(2, occurrences="start", max_prefix=11, max_suffix=3, n_prefixes=2000)
    with pytest.raises(uqf.NumericalError):
        learner.fit(data)
    assert not hasattr(learner, "policy_")


def test_words_anywhere_learn_late_rewards_and_say_where_episodes_begin():
    data = late_rewards()
    learner = uqf.UQF(4, 0.9, max_prefix=3, max_suffix=3).fit(data)
    (note,) = [note for note in learner.diagnostics_["notes"] if "max_suffix" in note]
    assert note.endswith("episodes begin in the average state")
    assert np.abs(learner.policy_.vector(learner.policy_.initial_state())).max() > 0.0
    values = learner.decision_function([data[0].history[:11]])[0]
    assert values.argmax() == 1


def test_fitting_again_leaves_nothing_of_days_that_were_added(tiger):
    learner = uqf.UQF(3).partial_fit(tiger[:100])
    assert hasattr(learner, "statistics_")
    learner.fit(tiger[100:])
    assert not hasattr(learner, "statistics_")
    fresh = uqf.UQF(3).fit(tiger[100:])
    assert vars(learner).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(learner.wfa_.operators, fresh.wfa_.operators)


def test_fitting_again_after_a_refusal_leaves_nothing_of_it(tiger):
    nothing = uqf.Trajectories([0], [0], [0.0], [0, 1], n_actions=3, n_observations=2)
    learner = uqf.UQF(3).partial_fit(nothing)
    assert learner.refusal_ is not None
    learner.fit(tiger)
    assert vars(learner).keys() == vars(uqf.UQF(3).fit(tiger)).keys()


def test_a_fit_that_is_refused_leaves_the_learner_whole_or_unfitted(tiger, tmp_path):
    learner = uqf.UQF(3).fit(tiger)
    nothing = uqf.Trajectories([0], [0], [0.0], [0, 1], n_actions=3, n_observations=2)
    with pytest.raises(uqf.NumericalError):
        learner.fit(nothing)
    with contextlib.suppress(uqf.NotFittedError):
        learner.save(tmp_path / "policy")
        assert uqf.inspect_policy(tmp_path / "policy").data_fingerprint == fingerprint(tiger)


def test_folders_and_memory_are_scored_alike(tiger, tmp_path):
    tiger.to_parquet(tmp_path / "0.parquet")
    from_folder, from_memory = uqf.UQF(3).fit(tmp_path), uqf.UQF(3).fit(tiger)
    assert from_folder.score(tiger) == pytest.approx(from_memory.score(tiger), rel=1e-9)
    from_folder.save(tmp_path / "policy.safetensors")
    assert uqf.inspect_policy(tmp_path / "policy.safetensors").data_fingerprint == fingerprint(tiger)
