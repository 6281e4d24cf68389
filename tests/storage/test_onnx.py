"""What an ONNX runtime does with an exported policy is what the policy does."""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from column_logs import column_logs, forest_on
from random_policies import policies
from uqf.learn.memory.summaries import VIEWS
from uqf.policies.policy import ForestPolicy
from uqf.storage.onnx import export_onnx

LEARNERS = {
    "BeliefPolicy": lambda: uqf.BeliefQ(0.95, states=6, models=2),
    "ContextPolicy": lambda: uqf.ContextQ(0.95),
    "FilterPolicy": lambda: uqf.SpectralQ(0.95),
    "ObservationPolicy": lambda: uqf.TableQ(0.95),
    "AutomatonPolicy": lambda: uqf.UQF(4, 0.95),
    "SummaryPolicy": lambda: uqf.SummaryQ(0.95, view="history"),
}


class Runtime:
    """The loop that a user of another language would write."""

    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        told = self.session.get_inputs()[0]
        dtype = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64}
        self.zeros = np.zeros(told.shape, dtype[told.type])

    def step(self, state, action, observation):
        given = {"state": state, "action": np.array(action), "observation": np.array(observation)}
        return self.session.run(["next_state", "values"], given)

    def reset(self, first=None):
        """Nothing shown is −1 for a code, and a row of NaN for raw columns."""
        shape = self.session.get_inputs()[2].shape
        nothing = np.full(shape, np.nan, np.float32) if shape else -1
        return self.step(self.zeros, -1, nothing if first is None else first)


def log(opens, seed=0):
    """A log of the tiger, perhaps with a hint before the first action."""
    data = uqf.rollout(uqf.make("tiger"), episodes=300, seed=seed)
    first = np.random.default_rng(seed).integers(2, size=300) if opens else None
    return uqf.Trajectories(
        data.actions,
        data.observations,
        data.rewards,
        data.offsets,
        n_actions=3,
        n_observations=3,  # one of them never occurs
        behavior_probs=data.behavior_probs,
        terminated=data.terminated,
        first_observations=first,
    )


def shown(policy, observation):
    """A code, as the row of one column where the policy reads columns."""
    if policy.column_sizes is None or observation is None:
        return observation
    return np.atleast_1d(np.asarray(observation, np.float32))


def compare(policy, runtime, history, first):
    first = shown(policy, first)
    state, (memory, values) = policy.initial_state(first=first), runtime.reset(first)
    for action, observation in [*history, (None, None)]:
        expected = policy.q_values(state)
        if (policy.supported is not None and policy.supported.any()) or policy.supported_after is not None:
            expected = np.where(policy.with_temperature(1e9).action_probs(state) > 0.0, expected, -np.inf)
        scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-4 * scale)
        # The runtime sums in another order: actions that are worth the same but for rounding may change places.
        assert expected[values.argmax()] >= expected.max() - 1e-3 * scale
        if action is not None:
            observation = shown(policy, observation)
            state = policy.update(state, action, observation)
            memory, values = runtime.step(memory, action, observation)


@pytest.mark.parametrize("opens", [False, True])
@pytest.mark.parametrize("kind", LEARNERS)
def test_the_runtime_values_actions_as_the_policy_does(tmp_path, kind, opens):
    policy = LEARNERS[kind]().fit(log(opens)).policy_
    assert type(policy).__name__ == kind
    path = tmp_path / "policy.onnx"
    export_onnx(policy, path)
    runtime = Runtime(path)

    @settings(max_examples=40, deadline=None)
    @given(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12),
        st.sampled_from([None, 0, 1, 2]),
    )
    def check(history, first):
        compare(policy, runtime, history, first)

    check()


@settings(max_examples=60, deadline=None)
@given(policies(), st.data())
def test_any_policy_is_exported_or_refused_by_name(policy, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.onnx")
        parts = policy.parts()
        if isinstance(policy, ForestPolicy) or parts.get("window") or parts.get("behavior"):
            with pytest.raises(TypeError):
                export_onnx(policy, path)
        else:
            export_onnx(policy, path)
            observations = st.integers(0, policy.n_observations - 1)
            if policy.column_sizes is not None:
                strange = [-1.0, 0.0, 1.0, 2.5, np.nan, np.inf]
                row = st.lists(st.sampled_from(strange), min_size=2, max_size=2)
                observations = row.map(lambda row: np.array(row, np.float32))
            codes = (st.integers(0, policy.n_actions - 1), observations)
            history = data.draw(st.lists(st.tuples(*codes), max_size=8))
            compare(policy, Runtime(path), history, data.draw(st.none() | codes[1]))


@pytest.mark.parametrize("view", VIEWS)
@settings(max_examples=25, deadline=None)
@given(data=column_logs(), pooled=st.booleans())
def test_summaries_of_raw_columns_are_stepped_as_by_the_policy(view, data, pooled):
    """Categories and numbers, missing ones, many values, many actions; every summary has a say."""
    policy = forest_on(data, VIEWS[view], pooled=pooled)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.onnx")
        export_onnx(policy, path)
        runtime = Runtime(path)
        told = runtime.session.get_modelmeta().custom_metadata_map
        assert json.loads(told["column_sizes"]) == data.column_sizes.tolist()
        for episode in data:
            history = list(zip(episode.actions.tolist(), episode.columns, strict=True))
            compare(policy, runtime, history, episode.first_columns)


def test_learners_export_what_they_learned_with_the_meaning_of_the_codes(tmp_path):
    book = uqf.Codebook.named(["listen", "left", "right"], ["growl left", "growl right"])
    plain = log(False)
    data = uqf.Trajectories(
        plain.actions,
        plain.observations,
        plain.rewards,
        plain.offsets,
        n_actions=3,
        n_observations=3,
        codebook=book,
    )
    learner = uqf.ContextQ(0.95).fit(data)
    learner.export_onnx(tmp_path / "policy.onnx")
    told = Runtime(tmp_path / "policy.onnx").session.get_modelmeta().custom_metadata_map
    assert uqf.Codebook.from_dict(json.loads(told["codebook"])) == book
    assert (told["n_actions"], told["n_observations"], float(told["temperature"])) == (
        "3",
        "3",
        learner.policy_.temperature,
    )


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    learner = uqf.ContextQ(0.95).fit(log(False))
    for name in [*sys.modules]:
        if name.startswith("uqf.storage.onnx"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"export_onnx needs onnx: pip install 'uqf\[onnx\]'"):
        learner.export_onnx(tmp_path / "policy.onnx")
