"""Learners that go on with other episodes: what they keep, and when they begin anew."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import uqf
from logged import in_files, logged
from uqf.baselines import FittedQ, MemorylessQ

LEARNERS = {
    "BeliefQ": lambda: uqf.BeliefQ(0.9, states=12, models=2),
    "ContextQ": lambda: uqf.ContextQ(0.9),
    "UQF": lambda: uqf.UQF(3, 0.9, max_prefix=2, max_suffix=2),
    "MemorylessQ": MemorylessQ,
    "FittedQ": lambda: FittedQ(iterations=2, trees=2),
}

#: What `BeliefQ` chooses on held-out episodes.
CHOICES = ("models", "states_evidence", "learning_discount", "learning_discount_evidence")


def parts_equal(one, other):
    mine, theirs = one.policy_.parts(), other.policy_.parts()
    return all(np.array_equal(part, theirs[name]) for name, part in mine.items())


def some(episodes, actions, observations, seed, sizes=(3, 4)):
    """Episodes of ten random steps with these actions and observations."""
    rng = np.random.default_rng(seed)
    parts = (rng.choice(actions, size=10 * episodes), rng.choice(observations, size=10 * episodes))
    drawn = [part.reshape(episodes, 10) for part in (*parts, rng.normal(size=10 * episodes))]
    return logged(*drawn, n_actions=sizes[0], n_observations=sizes[1])


@pytest.mark.parametrize("name", LEARNERS)
def test_refitting_makes_a_new_learner_and_leaves_the_old_one(name, ring_data):
    first = LEARNERS[name]().fit(ring_data[:150])
    before = first.policy_.parts()
    second = first.refit(ring_data)
    assert type(second) is type(first) and second is not first
    assert str(second.get_params()) == str(first.get_params())
    after = first.policy_.parts()
    assert all(np.array_equal(part, after[part_name]) for part_name, part in before.items())
    assert not parts_equal(first, second)
    if "episodes" in first.diagnostics_:
        assert (first.diagnostics_["episodes"], second.diagnostics_["episodes"]) == (150, 400)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "BeliefQ"])
def test_learners_that_choose_nothing_learn_as_if_for_the_first_time(name, ring_data):
    refitted = LEARNERS[name]().fit(ring_data[:150]).refit(ring_data)
    assert parts_equal(refitted, LEARNERS[name]().fit(ring_data))


def test_beliefs_keep_their_choices_and_choose_no_more(ring_data):
    first = LEARNERS["BeliefQ"]().fit(ring_data[:150])
    events = []
    second = first.refit(ring_data, progress=lambda *event: events.append(event))
    assert {name: second.diagnostics_[name] for name in CHOICES} == {
        name: first.diagnostics_[name] for name in CHOICES
    }
    stages = ["reading", "training", "values", "advantages", "second sweep"]
    assert list(dict.fromkeys(stage.partition(",")[0] for stage, _, _ in events)) == stages
    fresh = LEARNERS["BeliefQ"]().fit(ring_data)
    assert fresh.diagnostics_["states_evidence"] != second.diagnostics_["states_evidence"]


def test_refitted_beliefs_know_what_the_old_ones_knew(ring, ring_data):
    """Going on is quicker than beginning, and no worse: always right is optimal in the ring."""
    learner = LEARNERS["BeliefQ"]().fit(ring_data[:150]).refit(ring_data)
    score = uqf.estimate_return(ring, learner.policy_.greedy(), episodes=200)
    assert score.mean == pytest.approx(0.9**3, abs=1e-6)
    again = learner.refit(ring_data).refit(ring_data)
    assert uqf.estimate_return(ring, again.policy_.greedy(), episodes=200).mean == pytest.approx(0.9**3)


def test_models_go_on_where_the_new_episodes_show_nothing_new():
    """What is learned depends on the old episodes, although the new ones are the same."""
    new = some(60, [0, 1], [0, 1, 2], seed=9)
    first, second = (
        uqf.BeliefQ(0.9, states=3, models=1).fit(some(60, [0, 1], [0, 1, 2], seed)) for seed in (1, 2)
    )
    assert first.diagnostics_["models"] == second.diagnostics_["models"] == {3: 1}
    assert not parts_equal(first.refit(new), second.refit(new))


@pytest.mark.parametrize(
    ("actions", "observations"),
    [([0, 1], [0, 1, 2, 3]), ([0, 1, 2], [0, 1, 2])],
    ids=["observation", "action"],
)
def test_models_begin_anew_where_the_new_episodes_show_something_new(actions, observations):
    """Nothing of the old models is left, and what is new gets clones or transitions of its own."""
    new = some(60, actions, observations, seed=9)
    first, second = (
        uqf.BeliefQ(0.9, states=3, models=1, learning_discount=0.9).fit(some(60, [0, 1], [0, 1, 2], seed))
        for seed in (1, 2)
    )
    before = first.policy_.parts()
    assert before["kinds"].tolist() == [0, 1, 0] and before["ranges"][0, 3].tolist() == [0, 3]
    refitted = first.refit(new)
    assert parts_equal(refitted, second.refit(new))
    after = refitted.policy_.parts()
    assert len(set(after["kinds"][actions].tolist())) == len(actions)
    assert len({tuple(pair) for pair in after["ranges"][0, observations].tolist()}) == len(observations)
    assert np.abs(refitted.policy_.weights).max() > 0.0


def test_fewer_codes_are_nothing_new():
    """Episodes that lack an observation go on with models that know it."""
    first = uqf.BeliefQ(0.9, states=4, models=1).fit(some(60, [0, 1], [0, 1, 2, 3], seed=1))
    refitted = first.refit(some(60, [0, 1], [0, 1, 2], seed=2))
    np.testing.assert_array_equal(refitted.policy_.parts()["ranges"], first.policy_.parts()["ranges"])


def test_a_folder_refits_to_the_same_bits_with_any_executor(ring_data, tmp_path):
    first = LEARNERS["BeliefQ"]().fit(ring_data[:150])
    in_files(ring_data, tmp_path, 4)
    alone = first.refit(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        assert parts_equal(first.refit(tmp_path, executor=pool), alone)
    # Copies of an episode may come in another order.
    memory = first.refit(ring_data).policy_.parts()
    np.testing.assert_allclose(alone.policy_.parts()["transitions"], memory["transitions"], atol=1e-5)


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5)])
def test_episodes_of_another_world_are_refused(sizes):
    first = uqf.BeliefQ(0.9, states=3, models=1).fit(some(60, [0, 1], [0, 1], seed=1))
    with pytest.raises(ValueError):
        first.refit(some(60, [0, 1], [0, 1], seed=2, sizes=sizes))
