# make serve     the service and its page, on this machine's port 8000; KINGPAIR_* are its settings
# make test      everything that must hold before a commit
# make fast      the same without the tests marked slow
# make sanitize  the kernel tests against kernels built with address and undefined-behaviour checks
# make bench     the numbers
# make signature one number that says whether the tables are still the same
# make format    let ruff write
# make package   a wheel and an sdist in dist/
# make clean     forget everything that was built
#
# Each sets the machine up the first time. Needs Python 3.11 or later with venv and headers, and g++
# 12 or later; says so if one is missing.
# All else is installed into .venv. A second run touches neither the network nor the compiler
# unless pyproject.toml, CMakeLists.txt or a C++ source has changed.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := test

# Other Python environments of whoever calls must not show through.
unexport PYTHONPATH PYTHONHOME PYTHONOPTIMIZE PYTHONWARNINGS PYTHONSAFEPATH PYTHONSTARTUP
unexport VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV

ifeq ($(origin CXX),default)
CXX := g++
endif
export CXX
export PYTHON

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# What was installed once is kept as wheels: the next environment is made without a network.
WHEELS := $(or $(XDG_CACHE_HOME),$(if $(HOME),$(HOME)/.cache),$(CURDIR)/build)/kingpair/wheels
KEPT := $(PIP) install -qq --no-index --find-links '$(WHEELS)' --requirement
# A compiler that nobody here has tried may warn of more: make WARNINGS_ARE_ERRORS=OFF.
WARNINGS_ARE_ERRORS ?= ON
STRICT := --config-settings cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=$(WARNINGS_ARE_ERRORS)
KERNELS := $(wildcard CMakeLists.txt workers/kernels/*)
KERNEL_TESTS := $(patsubst %,tests/test_%.py,kernels unmoves depths streams slots refusals verify_order)
SANITIZED := build/sanitize

.PHONY: serve test fast check kernels sanitize bench signature format package clean

# What is quick to find wrong is found first.
test: fast
	$(BIN)/python -m pytest -m slow

fast: check
	$(BIN)/python -m pytest -m "not slow" --numprocesses auto --maxprocesses 8 --dist loadfile

check: kernels $(VENV)/.testing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

kernels: $(VENV)/.kernels

# A stamp below is as old as the beginning of its step: what was edited meanwhile is done again.

# An environment does not survive a move, nor the loss of the Python it was made with.
ifneq ($(shell cat $(VENV)/.home 2>&1),$(CURDIR))
.PHONY: $(VENV)/.home
else ifneq ($(shell env -u PYTHONPATH -u PYTHONHOME $(BIN)/python -c 'import pip' 2>&1),)
.PHONY: $(VENV)/.home
endif

$(VENV)/.home:
	@python=$$(sh .ci/toolchain) && rm -rf $(VENV) && echo "making $(VENV) with $$python" && \
	    "$$python" -m venv $(VENV) && printf '%s\n' '$(CURDIR)' >$@

# What the product needs, and what scikit-build-core builds with; then what the tests need.
PROJECT := import tomllib; table = tomllib.load(open("pyproject.toml", "rb")); \
    project = table["project"]; extras = sum(project["optional-dependencies"].values(), [])
$(VENV)/.requirements: WANTED := "cmake", "ninja", *table["build-system"]["requires"], *project["dependencies"]
$(VENV)/.testing: WANTED := *project["dependencies"], *extras

$(VENV)/.requirements $(VENV)/.testing: pyproject.toml $(VENV)/.home
	@touch $@.begun
	@$(BIN)/python -c '$(PROJECT); print($(WANTED), sep="\n")' >$@.txt
	$(KEPT) $@.txt 2>$@.lacking || \
	    { $(PIP) wheel -qq --wheel-dir '$(WHEELS)' --requirement $@.txt && $(KEPT) $@.txt; }
	@mv $@.begun $@

# Without isolation, so that cmake finds the same nanobind each time and rebuilds only what changed.
$(VENV)/.kernels: $(VENV)/.requirements $(KERNELS)
	@sh .ci/toolchain >/dev/null
	@touch $@.begun
	$(PIP) install -qq --no-build-isolation --no-deps $(STRICT) --editable .
	@mv $@.begun $@

# An ordinary install of the whole product into a folder of its own, which then goes before the
# environment's packages; -S keeps the editable install from being found first.
sanitize: kernels
	$(PIP) install -qq --no-build-isolation --no-deps --upgrade --target $(SANITIZED)/root \
	    $(STRICT) --config-settings build-dir=$(SANITIZED)/cmake \
	    --config-settings cmake.define.KINGPAIR_SANITIZE=ON .
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONPATH="$(SANITIZED)/root:$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')" \
	    $(BIN)/python -P -S -m pytest --import-mode=append $(KERNEL_TESTS)

serve: kernels
	@exec $(BIN)/kingpair serve

bench: kernels
	$(BIN)/kingpair bench

signature: kernels
	@$(BIN)/kingpair bench --signature

package: $(VENV)/.requirements $(VENV)/.testing
	@sh .ci/toolchain >/dev/null
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

format: $(VENV)/.testing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find api coordinator workers tests -name __pycache__ -prune -exec rm -rf {} +
