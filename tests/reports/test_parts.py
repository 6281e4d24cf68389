"""Every part against what it should say where that is known."""

import json

import numpy as np
import pytest

import uqf
from uqf.reports.frontier import Frontier
from uqf.reports.hidden_states import POLICY, HiddenStates
from uqf.reports.log import Log
from uqf.reports.memory import Memory
from uqf.reports.notebook import fragment
from uqf.reports.report import Report
from uqf.reports.rules import Rules
from uqf.reports.situations import situations
from uqf.reports.study import Study


def test_the_log_is_counted(log):
    found = Log.of(log, 0.9, [])
    assert (found.episodes, found.steps) == (len(log), log.n_steps)
    assert sum(one.steps for one in found.actions) == log.n_steps
    assert sum(one.steps for one in found.observations) == log.n_steps
    assert sum(count for _, _, count in found.lengths) == len(log)
    assert found.returns[-1].upto == len(log)
    assert found.mean_return == pytest.approx(log.returns(0.9).mean())


def test_gains_of_situations_are_parts_of_the_whole(study, report):
    gains = study.gains(study.taken(study.probs))
    found = situations(study.held_out, study.probs)
    covered = np.concatenate([one.steps for one in found])
    assert len(covered) == study.held_out.n_steps, "nothing in this log is rare"
    total = sum(gains[one.steps].sum() for one in found) / len(study.held_out)
    assert total == pytest.approx(report.differences.gain)
    assert sum(one.first for one in report.differences.actions) == pytest.approx(1.0)
    assert sum(one.second for one in report.differences.actions) == pytest.approx(1.0)
    logged = study.taken(study.probs).mean()
    assert report.differences.agreement == pytest.approx(logged)


def test_rules_find_a_policy_that_is_a_rule(log):
    class Rule:
        """Replaces after the second observation, else runs."""

        n_actions, n_observations, temperature = 3, 3, 0.0

        def initial_state(self):
            return 0

        def update(self, state, action, observation):
            return observation

        def action_probs(self, state):
            return np.eye(3)[2 if state == 1 else 0]

    found = Rules.of(Study.of(Rule(), log[:300], discount=0.9, seed=0, progress=None))
    assert found.decisions == 1.0 and found.tree.leaves == 2
    assert found.tree.question == 'the last observation is “vibration "high", </script><i>hot</i>”'
    assert (found.tree.yes.action, found.tree.no.action) == ("replace", "run")
    assert found.tree.yes.alike == found.tree.no.alike == 1.0
    assert found.tree.yes.share + found.tree.no.share == pytest.approx(1.0)


def test_hidden_states_are_those_of_the_policy(study):
    assert isinstance(study.policy, uqf.BeliefPolicy)
    found = HiddenStates.of(study)
    assert (
        found.covered == pytest.approx(sum(one.share for one in found.states)) and found.covered <= 1 + 1e-6
    )
    assert {one.looks for one in found.states} <= {study.names.observation(code) for code in range(2)}
    assert set(found.transitions) == {POLICY, *(study.names.action(code) for code in range(3))}
    for transitions in found.transitions.values():
        for number in range(len(found.states)):
            assert sum(one.share for one in transitions if one.start == number) <= 1 + 1e-6


def test_the_frontier_ends_at_the_log_and_at_the_policy(study, report):
    frontier = report.frontier
    data = study.held_out
    (first,) = uqf.ope.versions([(study.policy, 0.01)], data, discount=study.discount)
    assert frontier.followed[0].effective_episodes == pytest.approx(first.effective_sample_size)
    assert frontier.followed[0].mean == pytest.approx(frontier.logged, abs=0.2)
    estimate = uqf.ope.evaluate(study.policy, data, discount=study.discount, method="importance")
    assert frontier.followed[-1].mean == pytest.approx(estimate.mean)
    assert frontier.followed[-1].effective_episodes == pytest.approx(estimate.effective_sample_size)
    sizes = [point.effective_episodes for point in frontier.followed]
    assert sizes == sorted(sizes, reverse=True)
    own = next(
        point for point in frontier.temperatures if point.setting == pytest.approx(study.policy.temperature)
    )
    assert own.mean == pytest.approx(estimate.mean)


def test_what_is_not_known_has_no_interval(report):
    for one in report.expectations.estimates:
        if one.method == "model":
            assert one.interval is None and one.told.startswith("not known from this log")
    advice = report.expectations.advice()
    assert "enough to tell" in advice or "episodes of this policy" in advice


@pytest.mark.parametrize(
    ("learner", "spectrum"),
    [
        (uqf.UQF(3, 0.9), "singular values"),
        (uqf.SpectralQ(0.9), "correlations"),
        (uqf.ContextQ(0.9), None),
        (uqf.TableQ(0.9), None),
        (uqf.baselines.MemorylessQ(discount=0.9), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_learner_can_be_reported_on(learner, spectrum, log, tmp_path):
    data = log[:400]
    path = tmp_path / "report.html"
    found = learner.fit(data).report(data, path)
    assert found.memory.spectrum_is == spectrum and bool(found.memory.spectrum) == bool(spectrum)
    assert ('id="spectrum"' in path.read_text()) == bool(spectrum)
    json.dumps(found.as_dict(), allow_nan=False)


def test_the_same_log_gives_the_same_page(study, report):
    assert Report(study).page() == report.page()


def test_a_notebook_shows_the_essentials_and_escapes_names(learner, report):
    text = fragment(learner)
    assert "does what the log did" in text and "</script>" not in text and "<b>oil" not in text
    assert learner._repr_mimebundle_()["text/html"] == text
    assert "not fitted" in uqf.ContextQ()._repr_html_().lower() or "ContextQ" in uqf.ContextQ()._repr_html_()


def test_memory_of_a_frontier_without_temperature_is_left_out(log):
    class Uniform:
        n_actions, n_observations, temperature = 3, 3, 0.0

        def initial_state(self):
            return None

        def update(self, state, action, observation):
            return None

        def action_probs(self, state):
            return np.full(3, 1 / 3)

    study = Study.of(Uniform(), log[:60], discount=0.9, seed=0, progress=None)
    assert Frontier.of(study).temperatures == []
    assert Memory.of(study).hidden_states is None
