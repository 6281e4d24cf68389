import numpy as np

import uqf
from reports_log import machine
from uqf.learn.improve.gain import policy_gain
from uqf.reports.differences import Differences
from uqf.reports.study import Study


def study_of(judged, data, discount=None):
    return Study.of(judged, data, discount=discount, seed=0, progress=None)


def test_a_learner_of_fit_is_judged_as_it_was_there(study, learner, log):
    assert study.policy is learner.trial_.policy and study.log is log
    assert study.held_out == learner.trial_.held_out
    found = study.total(study.gains(study.taken(study.probs)))
    expected = policy_gain(study.policy, study.baseline, study.held_out)
    assert np.allclose(found.totals, expected.totals)


def test_a_learner_of_this_log_learns_again_from_half_of_it(log):
    learner = uqf.ContextQ(0.9).fit(log)
    stages = []
    study = Study.of(learner, log, discount=None, seed=0, progress=lambda stage, *_: stages.append(stage))
    assert study.policy is not learner.policy_ and study.discount == 0.9
    assert len(study.held_out) == len(study.training) == len(log) // 2
    same = uqf.ContextQ(0.9).fit(study.training).policy_
    assert np.array_equal(study.probs, same.probs_along(study.held_out))
    together = sorted([*study.training.returns(), *study.held_out.returns()])
    assert np.allclose(together, sorted(log.returns())), "every episode is on one side"


def test_on_another_log_a_learner_and_a_policy_are_judged_as_they_are(log, learner):
    other = machine(200, 1)
    for judged, discount in ((learner, None), (learner.policy_, 0.95)):
        study = study_of(judged, other, discount)
        assert study.policy is learner.policy_
        assert len(study.held_out) + len(study.training) == 200


def test_a_policy_gains_nothing_over_itself(study):
    found = Differences.of(study, study.probs)
    assert found.gain == 0.0 and found.stderr == 0.0 and found.situations == []
