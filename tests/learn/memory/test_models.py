"""Models of chosen sizes: begun on some episodes, joined, and gone on with on others."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import uqf
from uqf.learn.belief_q import Begun, belief_policy, chosen_discounts
from uqf.learn.improve.regression import Regression
from uqf.learn.improve.values import improved
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.models import Trainer
from uqf.learn.memory.sample import Sample
from uqf.learn.memory.training import Training
from uqf.reading.overview import overview
from uqf.reading.reader import Reader

SMALL = Training(states=12, models=4)


def sample_of(data):
    view = overview(100_000, 0, data)
    return Sample.of([view.sample], [view.priorities])


@pytest.fixture(scope="module")
def halves(ring_data):
    return sample_of(ring_data[:200]), sample_of(ring_data[200:])


@pytest.fixture(scope="module")
def trainer(halves):
    return Trainer(Sample.joined(halves), SMALL, seed=0)


@pytest.fixture(scope="module")
def begun(trainer, halves):
    return trainer.compared(*halves)


def sizes(models):
    return [len(family.models) for family in models.families]


def test_models_of_halves_are_joined_and_go_on_together(trainer, begun, halves, ring_data):
    second = trainer.fresh(begun, halves[1])
    assert sizes(second) == sizes(begun) == [2] * len(begun.families)
    wanted = [family.wanted for family in begun.families]
    both = begun.joined(second)
    assert sizes(both) == wanted
    finished = trainer.finished(pickle.loads(pickle.dumps(both)))
    assert sizes(finished) == sizes(trainer.finished(begun)) == wanted
    before, after = (np.mean(models.trained[-1].score(ring_data)) for models in (begun, finished))
    assert after > before - 0.01


def test_a_policy_is_improved_on_given_models_and_episodes(trainer, begun, halves, ring, ring_data):
    """What the front door does with one half: a learning discount, a policy, and then all episodes."""
    (discount,) = chosen_discounts(begun, *halves, [0.85, 0.9], Regression(), 1)
    assert discount.value == max(discount.gains, key=discount.gains.get)
    data, memory = ring_data[:200], begun.memory(2)
    view = overview(100_000, 0, data)
    softmax = improved(memory, halves[0].data, view, Reader(data), discount.value, Regression())
    policy = belief_policy(memory, softmax, 0.0)
    assert uqf.estimate_return(ring, policy, episodes=200).mean == pytest.approx(0.9**3, abs=1e-6)
    learner = uqf.BeliefQ(0.9, states=12).go_on(Begun(begun, discount), ring_data)
    assert learner.diagnostics_["states_evidence"] == begun.likelihoods
    assert learner.diagnostics_["learning_discount_evidence"] == discount.gains


def test_models_of_another_layout_go_on_alone(begun, ring):
    """Episodes with the same codes and other frequencies: new models would not fit to those that have begun."""
    right = uqf.ContextQ(0.9).fit(uqf.rollout(ring, episodes=50, seed=3)).policy_.with_temperature(0.05)
    other = uqf.rollout(ring, right, episodes=200, epsilon=0.1, seed=4)
    trainer = Trainer(sample_of(other), SMALL, seed=0)
    assert trainer.codes <= begun.codes
    finished = trainer.finished(begun)
    assert sizes(finished) == sizes(begun) and sum(sizes(begun)) < 4
    assert np.isfinite(finished.trained[-1].score(other)).all()


def test_models_begin_anew_where_something_new_occurs(begun, ring_data):
    wider = uqf.Trajectories(**ring_data.__getstate__() | {"n_observations": 4})
    shown = np.where(np.arange(wider.n_steps) % 7 == 0, 3, wider.observations)
    wider = uqf.Trajectories(**wider.__getstate__() | {"observations": shown})
    trainer = Trainer(sample_of(wider), SMALL, seed=0)
    finished = trainer.finished(replace(begun, families=begun.families[-1:]))
    assert sizes(finished) == [begun.families[-1].wanted]
    assert finished.codes == trainer.codes


def test_models_of_two_sizes_with_kinds_of_their_own_are_joined_action_by_action():
    """Larger models group more of the rare actions; their transitions must still be those of the action."""
    rng = np.random.default_rng(0)

    class Family:
        def __init__(self, states, kinds):
            count = 2
            self.parts = {
                "states": np.full(count, states),
                "starts": np.full(count * states, 1.0 / states, np.float32),
                "transitions": rng.dirichlet(np.ones(states), (count, max(kinds) + 1, states))
                .astype(np.float32)
                .ravel(),
                "shown": np.zeros(0, np.float32),
                "ranges": np.tile([[0, states]], (count, 3, 1)),
                "kinds": np.array(kinds),
                "opens": False,
            }

        def filters(self):
            return dict(self.parts)

    families = [Family(2, [0, 1, 2, 3]), Family(3, [0, 1, 1, 0])]
    joined = BeliefMemory(families, 4).parts
    first, tables = 0, max(joined["kinds"]) + 1
    for family in families:
        states, own = int(family.parts["states"][0]), family.parts
        size = 2 * tables * states**2
        found = joined["transitions"][first : first + size].reshape(2, tables, states, states)
        expected = own["transitions"].reshape(2, -1, states, states)[:, own["kinds"]]
        np.testing.assert_array_equal(found[:, joined["kinds"]], expected)
        first += size
    assert first == len(joined["transitions"])
