# Everything from nothing: a machine with Python 3.11 or newer and make is enough.
#   make demo    a small scheduling study, from design to report
#   make test    the whole test suite
# Each target sets up .venv by itself when it has to.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
UV := $(shell command -v uv 2>/dev/null)
# One more than a small machine has cores: many tests wait for processes that they have started.
WORKERS ?= 3
# Each process has one thread for its matrices.
PYTEST = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
DEMO := scheduling-demo
CHROMIUM := (for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name >/dev/null && exit 0; done; exit 1)

# Lines and branches of core, stats and design that their own fast tests must reach, in percent.
COVERED := 87

.PHONY: help setup demo test coverage test-slow test-lowest check format bench validate paper docs package clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

setup: $(STAMP)  ## make .venv with the package, all extras and the tools

$(STAMP): pyproject.toml case_studies/upmsp/pyproject.toml
	@echo "==> Setting up $(VENV): the package, its extras, the case study and the development tools (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "ampler needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Say which to use: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
ifdef UV
	@echo "==> using uv"
	@test -x $(BIN)/python || uv venv --quiet --python $(PYTHON) $(VENV)
	@VIRTUAL_ENV=$(VENV) uv pip install --quiet --compile-bytecode --editable '.[parquet,excel,dask,web]' --editable case_studies/upmsp --group dev --group docs
else
	@echo "==> using pip"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[parquet,excel,dask,web]' --editable case_studies/upmsp --group dev --group docs
endif
	@touch $(STAMP)
	@echo "==> Ready: $(BIN)/ampler"

demo: setup  ## a small scheduling study from design to report, in less than two minutes
	@echo "==> How many instances does it take to compare five variants with one algorithm, for effects of d = 1?"
	@echo '$$ ampler design --algorithms 6 --vs-one --effect 1 --power 0.8'
	@$(BIN)/ampler design --algorithms 6 --vs-one --effect 1 --power 0.8
	@echo "==> A scheduling problem: which neighbourhoods does a simulated annealing need?"
	@echo '$$ upmsp-demo --output $(DEMO)'
	@$(BIN)/upmsp-demo --output $(DEMO)
	@echo '$$ ampler run $(DEMO)/study.toml'
	@$(BIN)/ampler run $(DEMO)/study.toml
	@echo '$$ ampler analyse $(DEMO)/study.db'
	@$(BIN)/ampler analyse $(DEMO)/study.db
	@echo '$$ ampler report $(DEMO)/study.db -o $(DEMO)/report.html'
	@$(BIN)/ampler report $(DEMO)/study.db -o $(DEMO)/report.html

test: setup  ## all tests, in random order (the slow simulations in their small version)
	@echo "==> Running the tests and the doctests of src and README"
	@$(CHROMIUM) || echo "==> No Chromium on this machine: that pages and reports work in a real browser is not tested"
	@$(PYTEST) --hypothesis-profile ci -m "not slow"

coverage: setup  ## branch coverage of the computing packages (core, stats, design) by their tests, and its floor
	@$(PYTEST) --hypothesis-profile ci -m "not slow" --cov=ampler.core --cov=ampler.stats --cov=ampler.design --cov-branch --cov-report=term:skip-covered --cov-fail-under=$(COVERED) tests/core tests/stats tests/design

test-slow: setup  ## all tests with the slow simulations
	@echo "==> Running all tests, slow simulations included"
	@$(PYTEST) --hypothesis-profile thorough --timeout 1800

LOWEST := .venv-lowest
LOWEST_TESTS := tests/stats/test_noncentral_t.py tests/analysis/test_one_instance.py tests/analysis/test_units.py tests/report/test_tables.py tests/report/figures tests/data tests/design/test_words.py tests/app/cli/test_output.py \
	tests/app/web/test_design_page.py tests/running/engines/test_kinds_of_executors.py tests/running/engines/test_choose.py

test-lowest:  ## a telling part of the tests with the lowest versions that pyproject.toml allows, in an environment of its own
	@echo "==> Setting up $(LOWEST) with the lowest versions"
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; print(*(each.replace(">=", "==") for each in [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]), sep="\n")' > $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -r $(LOWEST)/lowest.txt pytest pytest-timeout hypothesis
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(LOWEST)/bin/python -m pytest -q -m "not slow" -p no:cacheprovider -o addopts=--import-mode=importlib -o filterwarnings=default $(LOWEST_TESTS)

check: setup  ## format, lint, types, layers
	@echo "==> ruff format, ruff lint, mypy --strict, import-linter"
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup  ## format the code and mend what lint can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup  ## measure the speed and memory targets, and write docs/benchmarks/speed.md
	@$(BIN)/python benchmarks/every.py

validate: setup  ## whole studies simulated, promises against what came (25 minutes); writes docs/benchmarks/validation.md
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/validate.py --write

paper: setup  ## the paper's two experiments, reduced, into paper-results/: reports beside the published numbers
	@echo "==> The paper's experiments on generated instances, at fewer iterations; interrupt it and it goes on next time"
	@$(BIN)/upmsp-paper --output paper-results

docs: setup  ## build the documentation into docs/_build/html
	@echo "==> Building the documentation"
	@$(BIN)/python -m sphinx -q -n -W -E -a -b html docs docs/_build/html
	@echo "==> Open docs/_build/html/index.html"

package: setup  ## build wheel and sdist into dist/, and try each in an environment of its own
	@echo "==> Building into dist/"
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . >/dev/null
	@$(BIN)/python tests/packaging/smoke.py dist

clean:  ## remove .venv and everything built
	rm -rf $(VENV) $(LOWEST) docs/_build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
