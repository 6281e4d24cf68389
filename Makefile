# `make help` lists the targets. Needed: Python 3.11 or later, a C compiler and cargo; everything else is
# installed into .venv in this folder.

PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := python -m pip --quiet --disable-pip-version-check
INSTALL := $(BIN)/uv pip install --quiet --python .venv
RUST := Cargo.toml Cargo.lock $(shell find rust -name '*.rs')

# Where this is set every program compiles 1,300 modules anew: two seconds each, and the tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := all
.PHONY: all help build demo table browser test test-slow test-lowest fuzz lint deny docs format lock rust-targets wheel wheel-check \
	bench bench-record bench-check clean

all: lint build test ## lint, build and test (what `make` alone does)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

# The environment follows the lock; uv, which stands in it too, installs it in a tenth of the time of pip.
# The core is compiled once and installed in place; it follows the Rust sources.
.venv/installed: requirements-dev.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; try make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	@sed -n '/^uv==/,/# via/p' requirements-dev.lock > .venv/uv.lock
	$(BIN)/$(PIP) install --require-hashes --requirement .venv/uv.lock
	$(INSTALL) --require-hashes --requirement requirements-dev.lock || \
		$(BIN)/$(PIP) install --require-hashes --requirement requirements-dev.lock
	@touch $@

.venv/built: .venv/installed pyproject.toml $(RUST)
	PIP_QUIET=1 $(BIN)/maturin develop --release --quiet
	@touch $@

build: .venv/built ## compile the core and install the package into .venv

demo: build ## both of the paper's experiments, small: three minutes on two idle cores, the build aside, then seconds; writes results/report.html
	@$(BIN)/python -m uqf demo

table: build ## learners beside others: TABLE=gymnasium, popgym, pomdp, cues, own, spectral, … OPTIONS="--seeds 10"
	@$(BIN)/python -m experiments $(TABLE) $(OPTIONS)

browser: ## install chromium, in which the tests open the report, where it is missing and apt-get may
	@command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq chromium > /dev/null; } || \
		echo "no chromium and no way to install it: the test that opens the report in a browser will be left out"

test: build ## the Rust and Python tests, slow ones left out; says at the end what was skipped and why
	cargo test --quiet
	$(BIN)/python -m pytest -m "not slow" -rfEs -n auto --dist loadfile

test-slow: build ## the long statistical tests as well, and new examples for the property-based ones
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -rfEs

# The core is that of `make build`: it runs with every Python and NumPy that the floors allow.
LOWEST := build/lowest
test-lowest: build ## the tests with the oldest versions that pyproject.toml allows
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct --requirement pyproject.toml --extra dev
	PYTHONPATH=$(CURDIR)/python $(LOWEST)/bin/python -m pytest -m "not slow" -rfEs -n auto --dist loadfile

# Inputs for every door; SEED=… repeats a run.
COUNT ?= 1000000

fuzz: build ## damaged inputs through every door, COUNT of each: about an hour for every million of most doors
	$(BIN)/python tests/fuzz/run.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

lint: build docs ## ruff, mypy, stubtest, rustfmt, clippy, the documentation site and the workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest uqf._core
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	cargo fmt --check
	cargo clippy --quiet --all-targets --all-features -- --deny warnings

# What cargo-deny looks at; advisories need the network.
CHECKS ?= licenses bans sources advisories

deny: ## licences, sources and known vulnerabilities of the crates; installs cargo-deny where it is missing: ten minutes
	cargo deny --version > /dev/null || cargo install --locked cargo-deny
	cargo deny check $(CHECKS)

# The theme advertises its successor at every build; that is not our news.
docs: build ## the documentation site, into build/site; fails at a broken link or an undocumented name
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

format: build ## put Rust and Python into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt

# Python 3.11 is the oldest we support: what installs there installs on later ones.
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11
lock: ## remake the lock files from pyproject.toml, with the newest versions, pinned by hash
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/$(PIP) install uv
	$(LOCK) --upgrade pyproject.toml --extra dev --extra docs --extra release --output-file requirements-dev.lock
	$(LOCK) --upgrade pyproject.toml --extra bench --constraint requirements-dev.lock --output-file requirements-bench.lock

# On Linux one machine builds for both processors, with zig as linker against an old C library; elsewhere for its own.
TARGETS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
rust-targets: ## install Rust's library for the processors that `make wheel` builds for
ifeq ($(shell uname -s),Linux)
	rustup target add $(TARGETS)
endif

wheel: .venv/installed ## wheels into dist/; on Linux manylinux2014 for x86_64 and aarch64, and a source distribution
	rm -rf dist
ifeq ($(shell uname -s),Linux)
	$(BIN)/maturin sdist --out dist
	@for target in $(TARGETS); do rustup target list --installed | grep -qx $$target || \
		{ echo "Rust's library for $$target is missing: make rust-targets"; exit 1; }; done
	for target in $(TARGETS); do PATH="$(CURDIR)/$(BIN):$$PATH" maturin build --release --zig --target $$target \
		--compatibility manylinux2014 --out dist || exit 1; done
else
	$(BIN)/maturin build --release --out dist
endif

CLEAN := build/clean
wheel-check: .venv/installed ## look at what `make wheel` built; install it where there is no cargo, and try it
	$(BIN)/twine check --strict dist/*
	for wheel in dist/*manylinux*.whl; do [ ! -e $$wheel ] || $(BIN)/auditwheel show $$wheel || exit 1; done
	$(PYTHON) -m venv --clear $(CLEAN)
	$(subst .venv,$(CLEAN),$(BIN))/$(PIP) install --only-binary :all: --no-index --no-deps --find-links dist uqf
	$(subst .venv,$(CLEAN),$(BIN))/$(PIP) install --only-binary :all: uqf --find-links dist
	cd build && env PATH="$(CURDIR)/$(subst .venv,$(CLEAN),$(BIN)):/usr/bin:/bin" python ../tests/smoke.py

# What a run of the benches measured; a file, so that several targets can read one run.
RUN := build/bench.json

# The rivals (the extra `bench`) are installed where they can be; without them their rows are left out.
.venv/rivals: .venv/installed requirements-bench.lock
	-$(INSTALL) --require-hashes --requirement requirements-bench.lock
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
	rm -rf .venv target build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks python/uqf/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
