# supple: everything runs in the virtualenv .venv, made on first use.
#
#   make demo    run the orthoglide study, results in build/demo
#   make test    everything: check, then the tests
#   make quick   one case of every test that is not slow: no compiler, browser, Octave or cluster; for the inner loop
#   make tools   programs that tests run (.ci/tools), installed where they are missing and that is allowed
#   make check   the fast part: lint, docstrings, spelling, wording, format, types, layers
#   make viewer  the page in the browser, built by npm (the machine's, or one from PyPI) where it has changed
#   make docs    the documentation site, build/site/html/index.html
#   make bench   run every benchmark
#   make wheel   dist/supple-*.whl with kernels compiled for this platform and Python; some minutes at first
#   make release source archive and wheel, checked and tried in an empty environment
#   make oldest  tests of compilation with the oldest numba that is allowed
#   make torture kills, a cluster, spoilt stores, full disks, damaged caches, odd arguments: some minutes, longer with TORTURE_ARGS="--cases 10000"
#   make clean   remove the virtualenv and everything built

# The first interpreter that is new enough; override with `make PYTHON=...`.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# A worker with one thread each: many small matrices gain nothing from a threaded BLAS and fight over the cores.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

# One more than two cores: some tests wait for a cluster, a browser or a killed process.
WORKERS ?= 3
PYTEST_ARGS ?=

.PHONY: help demo test quick tools viewer viewer-if-possible check format docs bench wheel release oldest torture clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

# The stamps are out of date whenever the dependencies may have changed.
$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "supple needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3"; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.python
	$(INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-docs

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/.python
	$(INSTALL) --editable '.[docs,measurements]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/.python
	$(INSTALL) --editable '.[bench]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/python examples/orthoglide/study.py --output build/demo

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src docs examples viewer/src README.md CHANGELOG.md CONTRIBUTING.md
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q --noconftest tests/house/test_kernel_rules.py tests/house/test_phrases.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Kernels first, each once: workers of pytest would all compile the same ones at the same time. Each begins with a half of
# its own, so that what tests of a file share is made once, and takes from the others what is left at the end.
test: check tools viewer-if-possible
	$(BIN)/supple warmup
	SUPPLE_TEST_KERNELS=complete $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# Needs the kernels in the cache: `supple warmup`, or one run of the tests.
quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --quick $(PYTEST_ARGS)

tools:
	@.ci/tools

viewer: | $(VENV)/.python
	@$(BIN)/python viewer/make_bundle.py --fetch --check

# Tests of the page are skipped where there is no npm to build it, naming that; a page that does not build is an error.
viewer-if-possible: | $(VENV)/.python
	@$(BIN)/python viewer/make_bundle.py --fetch --check --if-possible

docs: $(VENV)/.installed-docs
	$(BIN)/python docs/site/build.py --output build/site

bench: $(VENV)/.installed-bench viewer-if-possible
	@set -e; for script in $(sort $(wildcard benchmarks/*.py)); do \
	    echo "== $$script"; $(BIN)/python $$script; done

wheel: $(VENV)/.installed-dev viewer-if-possible
	rm -f dist/*.whl
	$(BIN)/python packaging/precompile.py
	$(BIN)/python -m build --outdir dist --wheel .

release: wheel
	rm -f dist/*.tar.gz
	$(BIN)/python -m build --outdir dist --sdist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/python packaging/check_wheel.py dist/*.whl dist/*.tar.gz

# Kernels are compiled through a step inside numba (compilation/intermediate_code.py), which differs among its versions.
# `make test` has the newest one.
OLDEST_NUMBA := $(shell sed -n 's/.*"numba>=\([0-9.]*\),.*/\1/p' pyproject.toml)
oldest: | $(VENV)/.python
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 14))'; then \
	    echo "numba $(OLDEST_NUMBA) does not support this Python; nothing is tested"; else \
	    set -ex; $(BIN)/python -m venv build/oldest; \
	    build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --editable . \
	        'numba==$(OLDEST_NUMBA).*' 'pytest>=8.3,<10' 'hypothesis>=6.112,<7'; \
	    SUPPLE_CACHE_DIR=build/oldest/kernels build/oldest/bin/python -m pytest -q -m 'not slow' tests/compilation; fi

# Each script says which seeds it took; `python tests/torture/NAME.py --help` says what else it takes.
TORTURE ?= $(filter-out %/same_models.py %/conftest.py,$(filter-out tests/torture/test_%,$(sort $(wildcard tests/torture/*.py))))
TORTURE_ARGS ?=
torture: $(VENV)/.installed-dev
	@set -e; for script in $(TORTURE); do echo "== $$script"; $(BIN)/python $$script $(TORTURE_ARGS); done

clean:
	rm -rf $(VENV) build dist src/supple/view/page/bundle viewer/node_modules .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
