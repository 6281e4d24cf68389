"""The boundary of the core: whatever Python hands over, no panic comes back."""

import numpy as np
import pytest

import uqf
from random_policies import KINDS, random_automaton, random_forest, random_table
from uqf import _core


class Damaged:
    """Arrays that never passed through the checks of `Trajectories`."""

    def __init__(self, **changes):
        self.actions = self.observations = np.zeros(2, np.int32)
        self.rewards = np.zeros(2)
        self.offsets = np.array([0, 1, 2])
        self.behavior_probs = self.first_observations = None
        self.terminated = np.zeros(2, np.bool_)
        self.n_actions = self.n_observations = 1
        self.__dict__.update(changes)


SMALL = uqf.TablePolicy(np.ones((2, 1)), 1)
TIGER = uqf.make("tiger")


HOSTILE = {
    "no offsets": lambda: _core.episode_priorities(Damaged(offsets=np.array([], np.int64)), 0),
    "negative offsets": lambda: _core.validate(Damaged(offsets=np.array([-5, 1, 2]))),
    "falling offsets": lambda: _core.validate(Damaged(offsets=np.array([2, 1, 0]))),
    "short arrays": lambda: _core.validate(Damaged(rewards=np.zeros(1))),
    "short terminated": lambda: _core.episode_priorities(Damaged(terminated=np.zeros(0, bool)), 0),
    "validate no offsets": lambda: _core.validate(Damaged(offsets=np.array([], np.int64))),
    "validate strided": lambda: _core.validate(Damaged(rewards=np.zeros(4)[::2])),
    "validate dtype": lambda: _core.validate(Damaged(rewards=np.zeros(2, np.float32))),
    "validate nothing": lambda: _core.validate(None),
    "foreign policy": lambda: _core.rollout(
        _core.World.named("tiger", ""),
        uqf.TablePolicy(np.ones((2, 1)), 1),
        TIGER.schedule(None, 1000, 5, 0),
        threads=2,
    ),
    "policy without world": lambda: _core.rollout(None, None, TIGER.schedule(None, 1, 1, 0)),
    "no schedule": lambda: _core.rollout(_core.World.named("tiger", ""), None, {"episodes": 5}),
    "no episodes": lambda: _core.rollout(
        _core.World.named("tiger", ""), None, TIGER.schedule(None, 1, 1, 0) | {"episodes": -1}
    ),
    "huge seed": lambda: _core.World.named("tiger", "").simulation(2**70),
    "negative episode number": lambda: _core.World.named("tiger", "").simulation(0, -1),
    "short probabilities": lambda: _core.World.named("tiger", "").simulation(0).choose(np.ones(1)),
    "automaton of a huge alphabet": lambda: uqf.AutomatonPolicy(
        **(random_automaton(1, 1).parts() | {"n_observations": 2**62})
    ),
    "number as a state": lambda: SMALL.action_probs(5),
    "state of a larger table": lambda: SMALL.action_probs(random_table(3, 2).initial_state()),
    "step of a larger table": lambda: SMALL.update(random_table(3, 2).initial_state(), 0, 0),
    "huge step": lambda: SMALL.update(SMALL.initial_state(), 2**63, 2**63),
    "negative step": lambda: SMALL.update(SMALL.initial_state(), -1, 0),
    "data of another policy": lambda: random_automaton(1, 1).states_along(uqf.rollout(TIGER, episodes=3)),
    "features of other data": lambda: random_forest(1, 1).features_along(uqf.rollout(TIGER, episodes=3)),
    "sums of a number": lambda: _core.discounted_sums(np.array(5.0), np.array([0]), 0.9),
    "sums of rows without entries": lambda: _core.discounted_sums(np.zeros((3, 0)), np.array([0, 3]), 0.9),
    "sums of columns": lambda: _core.discounted_sums(np.zeros((2, 3)).T, np.array([0, 3]), 0.9),
    "differences of rows for other steps": lambda: _core.temporal_differences(
        np.zeros((4, 2), np.float32), np.array([0, 4]), *np.zeros((4, 4), np.float32)
    ),
    "differences without offsets": lambda: _core.temporal_differences(
        np.zeros((4, 2), np.float32), np.array([], np.int64), *np.zeros((4, 4), np.float32)
    ),
    "tabular shapes": lambda: _core.World.tabular(
        np.ones((1, 1, 1)), np.ones((2, 3, 4)), np.ones(()), np.ones(0), np.ones(5, np.bool_), [], [], []
    ),
}


def test_arrays_that_are_right_are_taken():
    _core.validate(Damaged())
    assert len(_core.episode_priorities(Damaged(), 0)) == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_no_panic_crosses_into_python(name):
    """A panic would surface as pyo3's PanicException, which is not an `Exception`."""
    with pytest.raises((ValueError, TypeError, OverflowError, AttributeError, RuntimeError)):
        HOSTILE[name]()


COMPILED = [kind for kind, make in KINDS.items() if isinstance(make(), _core.CompiledPolicy)]


@pytest.mark.parametrize("kind", COMPILED)
def test_arrays_mean_the_same_however_they_lie_in_memory(kind):
    """A transposed array lies column by column; read entry by entry it would be another one."""
    parts = KINDS[kind]().parts()
    lying = {
        name: np.asfortranarray(part) if isinstance(part, np.ndarray) else part
        for name, part in parts.items()
    }
    again = type(KINDS[kind]())(**lying).parts()
    for name, part in parts.items():
        if isinstance(part, np.ndarray):
            np.testing.assert_array_equal(again[name], part)


def test_sums_mean_the_same_however_their_rows_lie_in_memory():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 3)).astype(np.float32)
    numbers = [rng.random(3).astype(np.float32) for _ in range(4)]
    plain, turned = (
        _core.temporal_differences(order(rows), np.array([0, 1, 3]), *numbers)
        for order in (np.ascontiguousarray, np.asfortranarray)
    )
    np.testing.assert_array_equal(plain, turned)


def test_worlds_mean_the_same_however_their_arrays_lie_in_memory():
    tiger = TIGER.tabular()
    arrays = (tiger.transitions, tiger.observations, tiger.rewards, tiger.start, tiger.terminal, np.eye(2))
    plain, turned = (
        _core.World.tabular(*map(order, arrays), [], [], [])
        for order in (np.ascontiguousarray, np.asfortranarray)
    )
    played = (
        _core.rollout(world, None, TIGER.schedule(None, 20, 9, 0, epsilon=1.0)) for world in (plain, turned)
    )
    for one, other in zip(*played, strict=True):
        np.testing.assert_array_equal(one, other)
