import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf.reports.names import Names, text
from uqf.reports.situations import Condition, Fineness, Situation, recent, situations


def code_before(data, step, condition):
    """The same as `recent`, one step at a time."""
    episode = int(np.searchsorted(data.offsets, step, side="right")) - 1
    place = step - condition.ago
    if place >= data.offsets[episode]:
        return int((data.actions if condition.kind == "action" else data.observations)[place])
    shown = data.first_observations
    first = condition.kind == "observation" and shown is not None and place == data.offsets[episode] - 1
    return int(shown[episode]) if first else -1


@given(trajectories(), st.integers(0, 2**32 - 1))
def test_conditions_hold_for_every_step_and_no_step_has_two_situations(data, seed):
    decisions = np.random.default_rng(seed).dirichlet(np.ones(data.n_actions), data.n_steps)
    found = situations(data, decisions, Fineness(min_steps=2))
    steps = np.concatenate([one.steps for one in found]) if found else np.array([], int)
    assert len(np.unique(steps)) == len(steps)
    for one in found:
        assert 1 <= len(one.conditions) <= Fineness().max_conditions and len(one.steps) >= 2
        for condition in one.conditions:
            assert all(code_before(data, step, condition) == condition.code for step in one.steps)


def test_a_situation_is_divided_by_what_decisions_depend_on():
    rng = np.random.default_rng(0)
    count = 4000
    data = uqf.Trajectories(
        rng.integers(2, size=count), rng.integers(2, size=count), np.zeros(count), np.arange(0, count + 1, 10),
        n_actions=2, n_observations=2,
    )  # fmt: skip
    before = recent(data)
    wants = ((before[1, "observation"] == 1) & (before[2, "observation"] == 1)).astype(float)
    found = situations(data, np.stack([1 - wants, wants], axis=1))
    conditions = [set(one.conditions) for one in found]
    assert {Condition(1, "observation", 1), Condition(2, "observation", 1)} in conditions
    assert {Condition(1, "observation", 0)} in conditions, "nothing depends on more there"


def test_situations_in_words():
    names = Names(uqf.Codebook.named(("run", "oil"), ("low", "high")), 3)

    def words(*conditions):
        return text(Situation(conditions, np.array([0])).phrase(names))

    high, low = Condition(1, "observation", 1), Condition(2, "observation", 0)
    assert words(high) == "after “high”"
    assert words(high, Condition(2, "observation", 1)) == "after “high” twice"
    assert words(high, low) == "after “low”, then “high”"
    assert words(high, Condition(1, "action", 1), low) == "after “low”, then “oil” and “high”"
    assert words(Condition(1, "observation", -1)) == "at the start"
    assert words(high, Condition(2, "action", -1)) == "after the first step, then “high”"
    numbers = Names(uqf.Codebook.named(), 3)
    assert text(Situation((high,), np.array([0])).phrase(numbers)) == "after “observation 1”"
