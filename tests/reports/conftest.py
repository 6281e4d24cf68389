"""A small log with hostile names, and what `uqf.fit` makes of it."""

import pytest

import uqf
from reports_log import machine
from uqf.reports.report import Report
from uqf.reports.study import Study


@pytest.fixture(scope="session")
def log():
    return machine(1200, 0)


@pytest.fixture(scope="session")
def learner(log):
    return uqf.fit(log, discount=0.95)


@pytest.fixture(scope="session")
def study(learner, log):
    return Study.of(learner, log, discount=None, seed=0, progress=None)


@pytest.fixture(scope="session")
def report(study):
    return Report(study).complete()
