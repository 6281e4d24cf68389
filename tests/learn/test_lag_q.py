"""LagQ: what was seen some steps ago."""

import numpy as np
import pytest

import uqf
from logged import changed, logged

CARDS, AGO, LENGTH = 4, 4, 30


def dealt(episodes, seed):
    """Cards are shown one after the other; naming the one of four steps ago pays 1, another costs 1."""
    rng = np.random.default_rng(seed)
    shown, named = rng.integers(CARDS, size=(2, episodes, LENGTH))
    right = named[:, AGO:] == shown[:, : LENGTH - AGO]
    rewards = np.hstack([np.zeros((episodes, AGO)), np.where(right, 1.0, -1.0)])
    return logged(
        named,
        shown,
        rewards,
        n_actions=CARDS,
        n_observations=CARDS,
        behavior_probs=1.0 / CARDS,
        terminated=True,
    )


def named_rightly(policy, data):
    """Share of the cards of four steps ago that a policy names, told what the log did."""
    hits = []
    for episode in data:
        state = policy.initial_state()
        for step, (action, observation) in enumerate(episode.history):
            if step >= AGO:
                hits.append(policy.action(state) == episode.observations[step - AGO])
            state = policy.update(state, action, observation)
    return np.mean(hits)


def test_what_was_seen_four_steps_ago_is_named():
    data, fresh = dealt(300, 0), dealt(30, 1)
    assert named_rightly(uqf.LagQ(0.99).fit(data).policy_, fresh) > 0.95
    # Three do not reach so far.
    assert named_rightly(uqf.LagQ(0.99, lags=3).fit(data).policy_, fresh) < 0.4


def test_the_front_door_takes_it_there():
    chosen = uqf.fit(dealt(200, 2), discount=0.99)
    assert type(chosen) is uqf.LagQ
    assert chosen.diagnostics_["chosen"]["learner"] == "LagQ"


def test_the_state_is_the_last_observations():
    data = dealt(40, 3)
    policy = uqf.LagQ(0.9, lags=3).fit(data).policy_
    parts = policy.parts()
    state = np.zeros(3 * CARDS)
    memory, seen = policy.initial_state(), []
    for action, observation in data[0].history[:10]:
        seen = [observation, *seen][:3]
        state = np.concatenate([np.eye(CARDS)[card] for card in seen] + [np.zeros(CARDS)] * (3 - len(seen)))
        memory = policy.update(memory, action, observation)
        np.testing.assert_allclose(
            policy.q_values(memory), parts["weights"][0] + state @ parts["weights"][1:], atol=1e-5
        )


def test_many_observations_shorten_it_and_too_many_are_refused():
    data = dealt(40, 4)
    numbers = np.arange(data.n_steps)
    wide = changed(data, observations=numbers % 20, n_observations=20)
    assert uqf.LagQ(0.9).fit(wide).diagnostics_["rank"] == 60
    wider = changed(data, observations=numbers % 40, n_observations=40)
    with pytest.raises(uqf.UQFError, match="40 observations: LagQ"):
        uqf.LagQ(0.9).fit(wider)
    with pytest.raises(ValueError, match="lags = 0"):
        uqf.LagQ(0.9, lags=0).fit(data)


def opened(data, seed):
    return changed(data, first_observations=np.random.default_rng(seed).integers(CARDS, size=len(data)))


@pytest.mark.parametrize("learner", [uqf.LagQ(0.9, lags=3), uqf.SpectralQ(0.9, rank=7, rounds=1)])
def test_what_reset_shows_is_part_of_the_memory(learner, tmp_path):
    data = opened(dealt(60, 5), 6)
    policy = learner.fit(data).policy_
    learner.save(tmp_path / "policy.safetensors")
    loaded = uqf.load(tmp_path / "policy.safetensors")
    states = [policy.q_values(policy.initial_state(first=card)) for card in range(CARDS)]
    assert len({values.tobytes() for values in states}) == CARDS
    along, before = policy.q_values_along(data), 0
    for episode in data:
        state = loaded.initial_state(first=int(episode.first_observation))
        for action, observation in episode.history:
            np.testing.assert_allclose(along[before], policy.q_values(state), atol=1e-5)
            state, before = loaded.update(state, action, observation), before + 1


def test_the_card_that_reset_shows_is_named():
    """The card of three steps ago is, before the third step, the one that reset showed."""
    rng = np.random.default_rng(7)
    named, shown = rng.integers(CARDS, size=(2, 400, 3))
    first = rng.integers(CARDS, size=400).astype(np.int32)
    rewards = np.zeros((400, 3))
    rewards[:, 2] = np.where(named[:, 2] == first, 1.0, -1.0)
    data = logged(
        named,
        shown,
        rewards,
        n_actions=CARDS,
        n_observations=CARDS,
        behavior_probs=1.0 / CARDS,
        terminated=True,
        first_observations=first,
    )
    policy = uqf.LagQ(0.9, lags=3).fit(data).policy_
    hits = [
        policy.q_values(state_after(policy, episode)).argmax() == episode.first_observation
        for episode in data
    ]
    assert np.mean(hits) > 0.95


def state_after(policy, episode):
    """The memory before the last step."""
    state = policy.initial_state(first=int(episode.first_observation))
    for action, observation in episode.history[:-1]:
        state = policy.update(state, action, observation)
    return state
