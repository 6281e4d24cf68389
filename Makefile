# `make help` lists the targets. Needed: Python 3.11 or later, a C compiler and cargo; everything else is
# installed into .venv in this folder.

PYTHON ?= python3
BIN := .venv/bin
RUST := Cargo.toml Cargo.lock $(shell find rust -name '*.rs')

.DEFAULT_GOAL := all
.PHONY: all help build demo browser test test-slow fuzz lint format bench bench-record bench-check clean

all: lint build test ## lint, build and test (what `make` alone does)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

# The environment follows pyproject.toml and the pinned versions, the compiled core follows the Rust sources.
.venv/installed: pyproject.toml requirements-dev.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; try make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements-dev.lock maturin
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements-dev.lock \
		--no-build-isolation --editable '.[dev]'
	@touch $@

.venv/built: .venv/installed $(RUST)
	$(BIN)/maturin develop --release --skip-install --quiet
	@touch $@

build: .venv/built ## compile the core and install the package into .venv

demo: build ## both of the paper's experiments, small: about three minutes on two cores the first time, then seconds; writes results/report.html
	@$(BIN)/python -m uqf demo

browser: ## install chromium, in which the tests open the report, where it is missing and apt-get may
	@command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq chromium > /dev/null; } || \
		echo "no chromium and no way to install it: the test that opens the report in a browser will be left out"

test: build ## the Rust and Python tests, slow ones left out
	cargo test --quiet
	$(BIN)/python -m pytest -m "not slow"

test-slow: build ## the long statistical tests as well
	$(BIN)/python -m pytest

# Inputs for every door; SEED=… repeats a run.
COUNT ?= 1000000

fuzz: build ## damaged inputs through every door, COUNT of each: about an hour for every million of most doors
	$(BIN)/python tests/fuzz/run.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

lint: build ## ruff, mypy, stubtest, rustfmt and clippy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest uqf._core
	cargo fmt --check
	cargo clippy --quiet --all-targets -- --deny warnings

format: build ## put Rust and Python into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt

# What a run of the benches measured; a file, so that several targets can read one run.
RUN := build/bench.json

# The rivals (the extra `bench`) are installed where they can be; without them their rows are left out.
.venv/rivals: .venv/installed
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements-dev.lock hmmlearn pomdp-py
	@touch $@

.PHONY: $(RUN)
$(RUN): build .venv/rivals
	@mkdir -p $(@D)
	$(BIN)/python -m pytest benches --benchmark-only --benchmark-quiet --benchmark-json=$@

bench: $(RUN) ## speed: one table of all stages beside rivals and the machine's limits; some minutes
	@$(BIN)/python benches/table.py $(RUN)

bench-record: $(RUN) ## the same, kept in benches/recorded.json and benches/README.md
	@$(BIN)/python benches/table.py $(RUN) --record

bench-check: $(RUN) ## fails when a ratio is worse than the recorded one by more than 25 %
	@$(BIN)/python benches/check.py $(RUN)

clean: ## remove everything that was built
	rm -rf .venv target build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks python/uqf/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
