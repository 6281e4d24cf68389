"""Prints what the benchmarks recorded beside their times."""


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    rates = [
        (bench.name, bench.extra_info) for bench in getattr(session, "benchmarks", []) if bench.extra_info
    ]
    if rates:
        terminalreporter.section("rates")
    for name, extra in rates:
        terminalreporter.write_line(
            f"{name:50} " + "  ".join(f"{key} {value}" for key, value in extra.items())
        )
