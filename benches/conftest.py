"""One thread for the rivals' linear algebra, and the versions that a table must tell."""

import time
from importlib.metadata import PackageNotFoundError, version

import pytest
from threadpoolctl import threadpool_limits

PACKAGES = ["uqf", "numpy", "scipy", "scikit-learn", "hmmlearn", "pomdp-py"]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("benchmark") is None:
            item.add_marker(pytest.mark.benchmark(timer=time.process_time))


def pytest_benchmark_update_machine_info(config, machine_info):
    machine_info["versions"] = {}
    for package in PACKAGES:
        try:
            machine_info["versions"][package] = version(package)
        except PackageNotFoundError:
            machine_info["versions"][package] = "not installed"
