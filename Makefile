# `make test` on a fresh clone does everything: environment, compilation, tests.
PYTHON ?= python3
VENV := .venv
EXTRAS := dev,fast,http,s3,zst

BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
INSTALLED := $(VENV)/.installed
COMPILED := $(VENV)/.compiled
# cython-lint looks for pycodestyle on the PATH.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: venv test test-all lint format demo docs bench dist clean

venv: $(COMPILED)

# Without build isolation, because the pinned setuptools and Cython shall compile, and pip does not
# hand constraints to an isolated build. build/ goes: its objects may come from other settings.
$(INSTALLED): pyproject.toml setup.py constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@rm -rf build
	@$(PIP_INSTALL) setuptools cython
	@$(PIP_INSTALL) --no-build-isolation -e ".[$(EXTRAS)]"
	@touch $@

# The install has compiled everything; only what changed after it is compiled here.
$(COMPILED): $(INSTALLED) $(wildcard cython_ext/*)
	@if [ -n "$$(find cython_ext -newer $(INSTALLED))" ]; then \
		$(BIN)/python setup.py --quiet build_ext --inplace; \
	fi
	@touch $@

test: $(COMPILED)
	@$(BIN)/python -m pytest -q

test-all: $(COMPILED)
	@$(BIN)/python -m pytest -q -m ""

lint: $(COMPILED)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary gensim_hilbert
	@$(BIN)/cython-lint cython_ext

format: $(COMPILED)
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

demo: $(COMPILED)
	@sh examples/demo.sh

docs: $(COMPILED)
	@$(BIN)/python docs/write_cli.py

bench: $(COMPILED)
	@$(BIN)/python benchmarks/counting.py

# Isolated, as the world will build it; then the wheel must import without the source tree.
dist: $(COMPILED)
	@rm -rf dist build/wheel
	@mkdir -p build
	@PIP_CONSTRAINT="$(CURDIR)/constraints.txt" $(BIN)/python -m build >build/dist.log 2>&1 || { cat build/dist.log; exit 1; }
	@$(BIN)/python -m pytest -q -m "" tests/packaging
	@$(PIP_INSTALL) --no-deps --target build/wheel dist/*.whl
	@cd build && PYTHONPATH=wheel ../$(BIN)/python -c 'import gensim_hilbert; print("imports from", gensim_hilbert.__file__)'

clean:
	@rm -rf $(VENV) build demo dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find gensim_hilbert cython_ext tests \( -name '*.so' -o -name '*.pyd' -o -name __pycache__ \) -prune -exec rm -rf {} +
