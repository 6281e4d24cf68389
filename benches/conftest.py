"""One thread for the rivals' linear algebra; versions, and which instructions and caches a run had."""

import time
from importlib.metadata import PackageNotFoundError, version

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

PACKAGES = ["uqf", "numpy", "scipy", "scikit-learn", "hmmlearn", "pomdp-py"]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("benchmark") is None:
            item.add_marker(pytest.mark.benchmark(timer=time.process_time))


def instructions(flags):
    """The widest vectors that the core uses on a processor with these flags, as `pulp` chooses them."""
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        return "AVX-512"
    return "AVX2" if {"avx2", "fma"} <= flags else "128 bits"


def machine_name(cpu):
    """What ratios depend on beside our code: the processor, its vectors and cache, and the kernels that BLAS chose."""
    blas = {pool["architecture"] for pool in threadpool_info() if "architecture" in pool}
    model = f"family {cpu['family']} model {cpu['model']}" if "family" in cpu else cpu.get("arch", "")
    cache = f"L2 {int(cpu.get('l2_cache_size', 0)) >> 10:,} KB"
    vectors = instructions(set(cpu.get("flags", ())))
    name = cpu.get("brand_raw", "unknown processor")
    return f"{name} ({model}), {vectors}, {cache}, BLAS for {' and '.join(sorted(blas)) or 'unknown'}"


def pytest_benchmark_update_machine_info(config, machine_info):
    machine_info["name"] = machine_name(machine_info.get("cpu", {}))
    machine_info["versions"] = {}
    for package in PACKAGES:
        try:
            machine_info["versions"][package] = version(package)
        except PackageNotFoundError:
            machine_info["versions"][package] = "not installed"
