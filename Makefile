# `make demo` and `make test` need nothing but Python, a C compiler and a package index: they create .venv, install what
# users (demo) or developers (test) need, and compile the Cython modules.
PYTHON ?= python3
VENV := .venv
EXTRAS := dev,docs,fast,http,s3,zst
# Peers that are published as source only. Where one cannot be compiled, what compares with it is skipped.
TEST_PEERS := annoy fasttext
BENCH_PEERS := fasttext mittens word2vec

BIN := $(VENV)/bin
# Without bytecode, because pip takes longer to compile all modules than to install them. Python writes the bytecode of
# a module when it is first imported, which PYTHONDONTWRITEBYTECODE would prevent.
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check --no-input install --no-compile -c constraints.txt
unexport PYTHONDONTWRITEBYTECODE
# cython-lint looks for pycodestyle on the PATH.
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Each stamp stands for a step that is done: an environment with pip, our package and its dependencies, the development
# extras, and Cython modules that are up to date.
CREATED := $(VENV)/.created
INSTALLED := $(VENV)/.installed
DEVELOPMENT := $(VENV)/.development
COMPILED := $(VENV)/.compiled

.PHONY: venv demo test test-all sanitize lint format docs bench bench-peers dist clean

venv: $(DEVELOPMENT) $(COMPILED)

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed: make PYTHON=...")'
	@echo "Creating $(VENV) ($$($(PYTHON) --version))"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# Our package is built without isolation, so that the pinned setuptools and Cython compile it (pip does not pass
# constraints on to isolated builds), and without dependencies, which are then installed in a second step, where pip
# builds any source package in isolation, with the build requirements that it names. What was compiled before is removed:
# the settings or the Python may have been others.
$(INSTALLED): pyproject.toml setup.py constraints.txt | $(CREATED)
	@rm -rf build gensim_hilbert/*.so
	@echo "Installing setuptools and Cython"
	@$(PIP_INSTALL) -qq setuptools cython
	@echo "Compiling the Cython modules"
	@$(PIP_INSTALL) -qq --no-build-isolation --no-deps -e .
	@echo "Installing gensim, torch and what they need (about 1 GB)"
	@$(PIP_INSTALL) -qq gensim-hilbert
	@touch $@

$(DEVELOPMENT): $(INSTALLED)
	@echo "Installing the tools for tests and lint"
	@$(PIP_INSTALL) -qq "gensim-hilbert[$(EXTRAS)]"
	@$(call install_peers,$(TEST_PEERS))
	@touch $@

# The installation has compiled everything; only what has changed since then is compiled here.
$(COMPILED): $(INSTALLED) $(wildcard cython_ext/*)
	@if [ -n "$$(find cython_ext -newer $(INSTALLED))" ]; then \
		echo "Compiling the Cython modules" && \
		$(BIN)/python setup.py --quiet build_ext --inplace; \
	fi
	@touch $@

# One at a time, so that one that fails does not take others with it.
define install_peers
	mkdir -p build; \
	for peer in $(1); do \
		echo "Installing $$peer"; \
		$(PIP_INSTALL) $$peer >build/$$peer.log 2>&1 || \
		echo "$$peer could not be installed, so what compares with it is skipped. build/$$peer.log says why."; \
	done
endef

demo: $(COMPILED)
	@sh examples/demo.sh

test: $(DEVELOPMENT) $(COMPILED)
	@$(BIN)/python -m pytest -q

test-all: $(DEVELOPMENT) $(COMPILED)
	@$(BIN)/python -m pytest -q -m ""

# The tests of kernels and of damaged files, with modules that end the process where C code reads or writes outside of an
# array, or does what C does not define. The sanitized package is a build of its own; the other one stays as it is. Its
# memory is not measured, and what a sanitizer says is not captured.
SANITIZED := build/sanitized
SANITIZED_TESTS := tests/property tests/counting tests/corpus tests/training/test_gibbs.py tests/training/test_pairs.py \
	tests/training/test_gradients.py tests/training/test_factors.py tests/test_vocabulary.py tests/explore/test_selection.py
CC_FILE = $(shell $(or $(CC),cc) -print-file-name=$(1))
SANITIZED_PYTEST = LD_PRELOAD="$(call CC_FILE,libasan.so) $(call CC_FILE,libubsan.so) $(call CC_FILE,libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	OMP_NUM_THREADS=1 PYTHONPATH=$(SANITIZED)/lib $(BIN)/pytest -q --capture=sys

sanitize: $(DEVELOPMENT)
	@echo "Compiling the Cython modules with sanitizers"
	@rm -rf $(SANITIZED)
	@GENSIM_HILBERT_SANITIZE=address,undefined $(BIN)/python setup.py --quiet build --build-lib $(SANITIZED)/lib \
		--build-temp $(SANITIZED)/temp
	@$(SANITIZED_PYTEST) -k "not peak_memory" $(SANITIZED_TESTS)
	@$(SANITIZED_PYTEST) -m slow tests/property/test_damage.py

lint: $(DEVELOPMENT) $(COMPILED)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary gensim_hilbert
	@$(BIN)/cython-lint cython_ext

format: $(DEVELOPMENT)
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

# The site is the folder build/site, to be opened as files or put on any web server. The theme's advertisement of its
# successor is not shown.
docs: $(DEVELOPMENT) $(COMPILED)
	@$(BIN)/python docs/write_cli.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo "The documentation is in build/site/index.html"

bench: $(COMPILED)
	@$(BIN)/python benchmarks/counting.py

bench-peers: $(INSTALLED)
	@$(call install_peers,$(BENCH_PEERS))

# The build is isolated, as it will be on the machines of users; the tests then examine these very files.
dist: $(DEVELOPMENT)
	@rm -rf dist
	@mkdir -p build
	@echo "Building the sdist and the wheel"
	@PIP_CONSTRAINT="$(CURDIR)/constraints.txt" $(BIN)/python -m build >build/dist.log 2>&1 || { cat build/dist.log; exit 1; }
	@echo "Testing them"
	@GENSIM_HILBERT_DIST="$(CURDIR)/dist" $(BIN)/python -m pytest -q -m "" tests/packaging
	@ls -l dist

clean:
	@rm -rf $(VENV) build demo dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find gensim_hilbert cython_ext tests \( -name '*.so' -o -name '*.pyd' -o -name __pycache__ \) -prune -exec rm -rf {} +
