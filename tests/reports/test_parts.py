"""Every part against what it should say where that is known."""

import json
from dataclasses import replace

import numpy as np
import pytest

import uqf
from reports_log import OBSERVATIONS, machine
from uqf.ope.estimates import ANYTHING, Doubt
from uqf.reports.answers import answers
from uqf.reports.expectations import Expectations
from uqf.reports.frontier import Frontier, Point
from uqf.reports.hidden_states import HiddenStates
from uqf.reports.log import Log
from uqf.reports.memory import Memory
from uqf.reports.names import text
from uqf.reports.report import Report
from uqf.reports.rules import Rules
from uqf.reports.situations import situations
from uqf.reports.study import Study


def test_the_log_is_counted(log):
    found = Log.of(log, 0.9, [])
    assert (found.episodes, found.steps) == (len(log), log.n_steps)
    assert sum(steps for _, steps, _ in found.actions) == log.n_steps
    assert sum(steps for _, steps, _ in found.observations) == log.n_steps
    assert (found.shortest, found.longest) == (log.lengths.min(), log.lengths.max())
    assert found.returns[-1][0] == len(log)
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
    replace, run = found.card
    assert found.decisions == 1.0 and (replace.action, run.action) == ("replace", "run")
    (condition,), otherwise = replace.conditions, run.conditions
    assert (
        text(condition) == 'the last observation is “vibration "high", </script><i>hot</i>”' and not otherwise
    )
    assert replace.alike == run.alike == 1.0 and replace.share + run.share == pytest.approx(1.0)


def test_hidden_states_are_those_of_the_policy(study):
    assert isinstance(study.policy, uqf.BeliefPolicy)
    found = HiddenStates.of(study)
    assert (
        found.covered == pytest.approx(sum(one.share for one in found.states)) and found.covered <= 1 + 1e-6
    )
    assert {look for one in found.states for look in one.looks} <= set(OBSERVATIONS)
    names = {one.name for one in found.states}
    for one in found.states:
        shares = [share for _, share in one.leads_to]
        assert shares == sorted(shares, reverse=True) and sum(shares) <= 1 + 1e-6
        assert {name for name, _ in one.leads_to} <= names
    above = sum(one.share * one.to_come for one in found.states)
    assert found.covered < 1 - 1e-6 or above == pytest.approx(0.0, abs=1e-6)


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


def test_what_is_not_known_has_no_interval(report):
    best, model = report.expectations.plot.rows
    assert "unknown" in model.style and model.words.startswith("not known from this log")
    known = report.expectations.interval is not None
    assert known != best.words.startswith("not known from this log") and known == (
        "unknown" not in best.style
    )
    advice = report.expectations.advice()
    assert "which is enough" in advice or "episodes of this policy" in advice


def test_the_value_under_the_model_is_the_mean_over_starts():
    """One step, worth ten times what was seen first: the first episode alone would say 0."""
    seen = np.arange(200) % 2
    data = uqf.Trajectories(
        np.arange(200) // 2 % 2, np.zeros(200, int), 10.0 * seen, np.arange(201),
        n_actions=2, n_observations=2, first_observations=seen, behavior_probs=np.full(200, 0.5),
    )  # fmt: skip
    study = Study.of(uqf.TablePolicy(np.full((5, 2), 0.5), 2), data, discount=1.0, seed=0, progress=None)
    found = Expectations.of(study, Frontier.of(study))
    assert found.modelled == pytest.approx(study.held_out.rewards.mean(), abs=0.05)


def expectations(ends, bold_ends=None, logged=1.0, condition=""):
    """As if the whole policy had this interval, and half of it that one."""
    estimate = uqf.ope.evaluate(None, machine(4, 0), discount=0.9, replicates=100)
    estimate = replace(
        estimate,
        method="doubly-robust",
        interval=ends or ANYTHING,
        doubts=(Doubt("a lack.", condition),) if condition or not ends else (),
        effective_sample_size=120.0 if ends else 3.0,
    )
    point = Point(0.5, 2.0, bold_ends, "", 120.0)
    return Expectations(estimate, 2.0, 25_000.0, Frontier([point], logged), (0.0, 10.0))


@pytest.mark.parametrize(
    ("given", "shorts"),
    [
        (((2.0, 3.0), (1.5, 2.0)), ["Yes", "95 %", "Use it"]),
        (((0.5, 3.0), (0.9, 2.0)), ["Not clear", "95 %", "Try it in part"]),
        (((0.2, 0.9), (0.3, 0.9)), ["No", "95 %", "Keep today's way"]),
        ((None, (1.5, 2.0)), ["Yes, in part", "95 % for that part", "Try it: 50 %"]),
        ((None, (0.8, 2.0)), ["Not clear", "95 % for that part", "Try it: 50 %"]),
        ((None, (0.3, 0.8)), ["No, in part", "95 % for that part", "Keep today's way"]),
        ((None, None), ["Not known", "Not sure at all", "Keep today's way"]),
    ],
)
def test_the_head_answers_whether_how_sure_and_what_next(given, shorts):
    found = answers(expectations(*given))
    assert [one.short for one in found] == shorts
    better, sure, _ = (one.words for one in found)
    assert "as logged" in better or "not known" in better
    if given[0] is None:
        assert "not known from this log" in better and "25,000 episodes" in sure


def test_a_condition_of_what_is_known_is_in_the_head():
    _, sure, _ = answers(expectations((2.0, 3.0), condition="nothing was hidden"))
    assert sure.short == "95 %, on a condition" and "Only if nothing was hidden." in sure.words


def test_a_guess_that_no_episode_could_earn_is_not_shown():
    possible, beyond = (replace(expectations(None), modelled=value) for value in (9.0, 11.0))
    shown = [{row.value for row in one.plot.rows} for one in (possible, beyond)]
    assert shown[0] - shown[1] == {9.0} and not shown[1] - shown[0]
    assert {row.value for row in expectations((20.0, 30.0)).plot.rows} > {2.0}, "what is known is shown"


def test_guesses_beyond_the_figure_are_not_drawn_at_its_edge():
    points = [
        Point(0.1, 1.0, (0.9, 1.1), "", 300.0),
        Point(0.5, 1.15, None, "", 9.0),
        Point(0.75, 50.0, None, "", 1.0),
        Point(1.0, 50.0, None, "", 0.01),
    ]
    drawing, worth = Frontier(points, 1.0).figures
    assert len([one for one in worth.panels[0].shapes if one.tag == "circle"]) == 3
    marks = [one for one in drawing.panels[0].shapes if one.tag == "circle"]
    assert [("hollow" in one.attributes["class"]) for one in marks] == [False, True]
    assert all("± 0" not in one.note for one in marks)
    assert marks[0].note == "10 %: 1, from 0.9 to 1.1"


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
    found = uqf.report(learner.fit(data), data, path)
    assert found.memory.spectrum_is == spectrum and bool(found.memory.spectrum) == bool(spectrum)
    assert ('id="spectrum"' in path.read_text()) == bool(spectrum)
    json.dumps(found.as_dict(), allow_nan=False)


def test_the_same_log_gives_the_same_page(study, report):
    assert Report(study).page() == report.page()


def test_a_notebook_shows_the_essentials(learner):
    shown = learner._repr_mimebundle_()["text/html"]
    assert shown == learner._repr_html_()
    assert "1,200 episodes" in shown and "randomness" in shown
    assert str(learner.diagnostics_["chosen"]["why"][:20]) in shown
    unfitted = uqf.ContextQ()._repr_html_()
    assert "ContextQ" in unfitted and "learned from" not in unfitted


def test_a_policy_without_values_or_states_can_be_studied():
    class Uniform:
        n_actions, n_observations, temperature = 3, 3, 0.0

        def initial_state(self):
            return None

        def update(self, state, action, observation):
            return None

        def action_probs(self, state):
            return np.full(3, 1 / 3)

    study = Study.of(Uniform(), machine(60, 0), discount=0.9, seed=0, progress=None)
    memory = Memory.of(study)
    assert memory.hidden_states is None and memory.kind == "Uniform"
    assert Report(study).episodes.values_are == "probabilities"
