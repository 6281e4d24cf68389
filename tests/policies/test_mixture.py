"""Old rules as policies, and cautious mixtures of a new policy and what was done before."""

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest

import uqf
from uqf.policies.mixture import behaviour
from uqf.policies.policy import probs_along


@pytest.fixture(scope="module")
def tiger():
    data = uqf.rollout(uqf.make("tiger"), episodes=400, seed=0)
    return data, uqf.ContextQ(0.95, depth=2).fit(data)


def names_log(seed=0, episodes=300):
    """Two columns; the action "cool" pays where it is hot."""
    rng = np.random.default_rng(seed)
    steps = 10 * episodes
    temp, mode = rng.uniform(50, 100, steps), rng.choice(["eco", "full"], steps)
    action = rng.choice(["cool", "wait"], steps)
    table = {"episode": np.repeat(np.arange(episodes), 10), "temp": temp, "mode": mode, "action": action}
    reward = np.where(action == "cool", np.where(temp > 80, 1.0, -1.0), 0.0)
    columns = uqf.LogColumns(observation=["temp", "mode"], observed="before")
    return uqf.read_log(pa.table(table | {"reward": reward}), columns=columns)


def test_a_rule_is_a_policy_of_the_last_observation(tiger):
    data, _ = tiger
    rule = uqf.rule(lambda heard: 0 if heard is None else 1 + heard)
    probs = probs_along(rule, data)
    seen = np.roll(data.observations, 1)
    expected = np.where(np.isin(np.arange(data.n_steps), data.offsets[:-1]), 0, 1 + seen)
    assert probs.argmax(axis=1).tolist() == expected.tolist() and (probs.max(axis=1) == 1).all()
    world = uqf.make("tiger")
    table = rule.of(None, 3, 2)
    played = [uqf.rollout(world, one, episodes=50, seed=3) for one in (rule, table)]
    assert played[0].actions.tolist() == played[1].actions.tolist()
    begun = uqf.rule(lambda heard: heard + 1, start=0).of(None, 3, 2)
    assert begun.action(begun.initial_state()) == 0


def test_a_number_in_a_table_is_a_name_of_the_log_before_it_is_a_code(tmp_path):
    """Actions called "x", "2" and "1": a table that said 2 did what is called 1."""
    (tmp_path / "rule.csv").write_text(f"seen,action\nhot,2\ncold,0\n,{'9' * 5000}\n")
    rule = uqf.rule(tmp_path / "rule.csv")
    book = uqf.Codebook.named(("x", "2", "1"), ("hot", "cold"))
    assert rule.of(book, 3, 2, shown=True).values.argmax(axis=1)[:2].tolist() == [1, 0]
    assert [rule.action(seen) for seen in ("hot", "cold")] == [2, 0], "without a log a number is a code"
    with pytest.raises(ValueError, match="does not occur in the logs, which know x, 2, 1"):
        rule.of(book, 3, 2)


def test_a_rule_of_several_columns_speaks_the_names_of_the_log(tmp_path):
    data = names_log()
    rule = uqf.rule(lambda seen: "cool" if seen["temp"] > 80 else "wait")
    taken = rule.probs_along(data).argmax(axis=1)
    logged = (data.rewards == 1.0) & (data.actions == 0)
    agreed = taken[data.rewards != 0.0] == np.where(logged, 0, 1)[data.rewards != 0.0]
    assert agreed.mean() > 0.97, "cells of the codebook end near 80"
    (tmp_path / "rule.csv").write_text("temp;mode;action\n> 80;;cool\n;eco;wait\n;;wait\n")
    assert np.array_equal(uqf.rule(tmp_path / "rule.csv").probs_along(data), rule.probs_along(data))
    estimate = uqf.ope.evaluate(rule, data, discount=0.9)
    assert estimate.mean > uqf.ope.evaluate(None, data, discount=0.9).mean


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_mixture_has_the_probabilities_of_both(tiger, share, tmp_path):
    data, learner = tiger
    old = uqf.rule(lambda heard: 0)
    mixed = uqf.mix(learner, old, share)
    one, other = learner.policy_.probs_along(data), old.probs_along(data)
    np.testing.assert_allclose(mixed.probs_along(data), share * one + (1 - share) * other, atol=1e-12)
    uqf.save(mixed, tmp_path / "mixed.safetensors")
    again = uqf.load(tmp_path / "mixed.safetensors")
    np.testing.assert_array_equal(again.probs_along(data), mixed.probs_along(data))
    state = again.initial_state()
    for action, observation in data[0].history[:6]:
        np.testing.assert_allclose(again.action_probs(state).sum(), 1.0)
        state = again.update(state, action, observation)
    agent = uqf.Agent(tmp_path / "mixed.safetensors", n=2000, seed=1)
    agent.reset()
    counts = np.bincount(agent.act(), minlength=3) / 2000
    np.testing.assert_allclose(counts, mixed.action_probs(mixed.initial_state()), atol=0.05)


def test_the_behaviour_of_a_log_is_learned_and_mixed(tiger):
    _, learner = tiger
    old = learner.policy_.with_temperature(3.0)
    data = uqf.rollout(uqf.make("tiger"), old, episodes=4000, seed=5)
    behaviour = uqf.mix(learner, data, 0.0)
    states = np.arange(200)
    exact = uqf.mix(learner, uqf.ContextQ(0.95, depth=1).fit(data), 0.0)
    assert exact.n_actions == behaviour.n_actions
    shares = behaviour.probs_along(data[:50])[np.arange(data[:50].n_steps), data[:50].actions]
    assert abs(np.log(shares).mean() - np.log(data[:50].behavior_probs).mean()) < 0.15 and len(states)


def test_a_mixture_is_exported_to_onnx(tiger, tmp_path):
    data, learner = tiger
    for first in (learner, uqf.BeliefQ(0.95, seed=0).fit(data[:100])):
        mixed = uqf.mix(first, data, 0.3)
        uqf.save(mixed, tmp_path / "mixed.safetensors")
        uqf.export_onnx(tmp_path / "mixed.safetensors", tmp_path / "mixed.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "mixed.onnx")
        (kind,) = [one for one in session.get_inputs() if one.name == "state"]
        memory, state = np.zeros(kind.shape), mixed.initial_state()
        given = {"action": np.array(-1), "observation": np.array(-1)}
        for action, observation in data[3].history[:8]:
            memory, values = session.run(["next_state", "values"], {"state": memory} | given)
            np.testing.assert_allclose(np.exp(values), mixed.action_probs(state), atol=1e-5)
            given = {"action": np.array(action), "observation": np.array(observation)}
            state = mixed.update(state, action, observation)
        model = {
            one.key: one.value for one in __import__("onnx").load(tmp_path / "mixed.onnx").metadata_props
        }
        assert model["temperature"] == "1.0"


class Alternating:
    """A policy as anybody may write it: no probabilities, and no word of how many actions there are."""

    def initial_state(self):
        return 0

    def update(self, state, action, observation):
        return 1 - state

    def action(self, state, rng=None):
        return state


def test_a_policy_that_says_only_what_it_does_is_mixed_by_the_sizes_of_the_other(tiger):
    data, _ = tiger
    mixed = uqf.mix(Alternating(), data, 0.25)
    assert (mixed.n_actions, mixed.n_observations) == (3, 2)
    expected = 0.25 * np.eye(3)[[0, 1]] + 0.75 * behaviour(data).probs_along(data[:1])[:2]
    np.testing.assert_allclose(probs_along(mixed, data[:1])[:2], expected)
    state = mixed.update(mixed.initial_state(), int(data.actions[0]), int(data.observations[0]))
    np.testing.assert_allclose(mixed.action_probs(state), expected[1])
    np.testing.assert_allclose(uqf.batch(mixed, 2).action_probs(), expected[[0, 0]])
    assert uqf.rollout(uqf.make("tiger"), mixed, episodes=2, seed=0).n_actions == 3
    for other in (Alternating(), uqf.rule(lambda heard: 0, start=0)):
        with pytest.raises(TypeError, match="n_actions"):
            uqf.mix(Alternating(), other, 0.5)


def test_files_and_rules_are_mixed_in_the_names_of_the_log(tmp_path):
    data, path = names_log(), tmp_path / "policy.safetensors"
    learner = uqf.ContextQ(0.9).fit(data)
    learner.save(path)
    rule = uqf.rule(lambda seen: "cool" if seen["temp"] > 80 else "wait", start="wait")
    mixed = uqf.mix(path, rule, 0.25)
    same = uqf.mix(learner, rule, 0.25)
    assert np.array_equal(probs_along(mixed, data), probs_along(same, data))
    assert np.array_equal(probs_along(uqf.mix(path, path, 0.25), data), probs_along(learner.policy_, data))
    for agent in (uqf.Agent(mixed), uqf.Agent(mixed)):
        agent.reset({"temp": 95.0, "mode": "eco"})
        assert agent.act() == "cool"
    uqf.save(mixed, tmp_path / "mixed.safetensors")
    assert uqf.inspect_policy(tmp_path / "mixed.safetensors").codebook == data.codebook


def test_a_mixture_with_a_policy_of_raw_columns_sees_them_too(tmp_path):
    data = names_log()
    learner = uqf.SummaryQ(0.9, seed=0).fit(data)
    mixed = uqf.mix(learner, data, 0.5)
    uqf.save(mixed, tmp_path / "mixed.safetensors", codebook=data.codebook)
    agent = uqf.Agent(tmp_path / "mixed.safetensors", n=2)
    whole = uqf.Agent(learner)
    for temp in (55.0, 79.0, 81.0, 95.0):
        seen = {"temp": temp, "mode": "eco"}
        agent.reset([seen] * 2)
        whole.reset(seen)
        code = data.codebook.encode_one(seen)
        second = mixed.policies[1]
        other = second.action_probs(second.initial_state(first=code))
        taken = data.codebook.encode_action(whole.act(deterministic=True))
        probs = agent._batch.action_probs()[0]
        np.testing.assert_allclose(probs, 0.5 * np.eye(2)[taken] + 0.5 * other, atol=0.3)
        assert probs.argmax() == (0.5 * np.eye(2)[taken] + 0.5 * other).argmax()
