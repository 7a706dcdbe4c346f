# make serve     the service and its page, on this machine's port 8000; KINGPAIR_* are its settings
# make test      everything that must hold before a commit
# make fast      the same without the tests marked slow
# make sanitize  the kernel tests against kernels built with address and undefined-behaviour checks
# make bench     the numbers
# make signature one number that says whether the tables are still the same
# make format    let ruff and clang-format write
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

# Other Python environments of the caller must not show through.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE PYTHONOPTIMIZE PYTHONWARNINGS PYTHONSAFEPATH PYTHONSTARTUP
unexport VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV

ifeq ($(origin CXX),default)
CXX := g++
endif
export CXX
export PYTHON

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Packages are kept as wheels, so that the next environment is made without a network.
WHEELS := $(or $(XDG_CACHE_HOME),$(if $(HOME),$(HOME)/.cache),$(CURDIR)/build)/kingpair/wheels
KEPT := $(PIP) install -qq --no-index --find-links '$(WHEELS)' --requirement
# A compiler that was never tried here may warn of more: make WARNINGS_ARE_ERRORS=OFF.
WARNINGS_ARE_ERRORS ?= ON
STRICT := --config-settings cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=$(WARNINGS_ARE_ERRORS)
SOURCES := $(wildcard workers/kernels/*.?pp)
KERNELS := CMakeLists.txt $(SOURCES)
KERNEL_TESTS := tests/workers/kernels tests/workers/sets/test_slots.py
SANITIZED := build/sanitize
ASSERTED := build/asserted
SOURCE := build/source
SITE = $$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')
# With -S: without the editable install, whose finder goes before any path.
ALONE = PYTHONPATH="$(SOURCE):$(SITE)"

# Neighbours share what a module sets up; a process that is done takes half of another's rest.
SPREAD := --dist worksteal

.PHONY: serve test fast check kernels sanitize bench signature format package clean

# The quick checks run first.
test: fast
	$(BIN)/python -m pytest -m slow --numprocesses auto --maxprocesses 4 $(SPREAD)

fast: check $(ASSERTED)/.kernels
	$(BIN)/python -m pytest -m "not slow" --numprocesses auto --maxprocesses 8 $(SPREAD)

check: kernels $(VENV)/.testing $(SOURCE)/kingpair
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run -Werror $(SOURCES)
	$(BIN)/mypy
	$(BIN)/mypy $$(git ls-files 'tests/*.py')
	$(ALONE) $(BIN)/python -P -S tests/support/imports.py lint

# The package as it is installed, of links to the folders that it is made of.
$(SOURCE)/kingpair:
	@mkdir -p $(SOURCE)/kingpair.begun
	@for each in ../../../api ../../../coordinator ../../../workers \
	    ../../../deploy/kingpair/__init__.py ../../../deploy/kingpair/__main__.py; do \
	    ln -sfn $$each $(SOURCE)/kingpair.begun/; done
	@mv $(SOURCE)/kingpair.begun $@

kernels: $(VENV)/.kernels

# A stamp below has the time at which its step began, so that a file edited meanwhile is built again.

# An environment does not survive a move, nor the loss of the Python it was made with.
ifneq ($(shell cat $(VENV)/.home 2>&1),$(CURDIR))
.PHONY: $(VENV)/.home
else ifneq ($(shell env -u PYTHONPATH -u PYTHONHOME $(BIN)/python -c 'import pip' 2>&1),)
.PHONY: $(VENV)/.home
endif

$(VENV)/.home:
	@python=$$(sh .ci/toolchain) && rm -rf $(VENV) && echo "making $(VENV) with $$python" && \
	    "$$python" -m venv $(VENV) && printf '%s\n' '$(CURDIR)' >$@

# The packages that the product needs and is built with; then those that the tests need.
PROJECT := import tomllib; table = tomllib.load(open("pyproject.toml", "rb")); \
    project = table["project"]; extras = sum(project["optional-dependencies"].values(), [])
$(VENV)/.requirements: WANTED := "cmake", "ninja", *table["build-system"]["requires"], *project["dependencies"]
$(VENV)/.requirements: PURPOSE := needs
$(VENV)/.testing: WANTED := *project["dependencies"], *extras
$(VENV)/.testing: PURPOSE := is tested with

$(VENV)/.requirements $(VENV)/.testing: pyproject.toml $(VENV)/.home
	@touch $@.begun
	@$(BIN)/python -c '$(PROJECT); print($(WANTED), sep="\n")' >$@.txt
	@echo 'installing the Python packages that kingpair $(PURPOSE)'
	@$(KEPT) $@.txt 2>$@.lacking || \
	    { echo 'fetching those that are not in $(WHEELS) yet'; \
	    $(PIP) wheel -qq --wheel-dir '$(WHEELS)' --requirement $@.txt && $(KEPT) $@.txt; }
	@mv $@.begun $@

# Without isolation, so that cmake finds the same nanobind each time and rebuilds only what changed.
$(VENV)/.kernels: $(VENV)/.requirements $(KERNELS)
	@sh .ci/toolchain >/dev/null
	@touch $@.begun
	@echo 'compiling the kernels: one to four minutes the first time'
	@$(BIN)/python .ci/progress $(PIP) install -v --no-build-isolation --no-deps $(STRICT) --editable .
	@# As pip does with packages that it copies: else every start might compile all modules again.
	@$(BIN)/python -m compileall -q api coordinator workers deploy/kingpair
	@mv $@.begun $@

# The kernels that tests run in their own process (tests/support/asserted.py). What they start runs
# the installed ones.
$(ASSERTED)/.kernels: $(VENV)/.requirements $(KERNELS)
	@mkdir -p $(ASSERTED)
	@touch $@.begun
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B $(ASSERTED) -G Ninja --log-level=WARNING \
	    -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -DKINGPAIR_ASSERT=ON \
	    -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" \
	    -DCMAKE_COMPILE_WARNING_AS_ERROR=$(WARNINGS_ARE_ERRORS) >/dev/null
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $(ASSERTED) -- --quiet
	@mv $@.begun $@

# An ordinary install of the whole product into a folder of its own, which then goes before the
# environment's packages; -S keeps the editable install from being found first.
sanitize: kernels
	$(PIP) install -qq --no-build-isolation --no-deps --upgrade --target $(SANITIZED)/root \
	    $(STRICT) --config-settings build-dir=$(SANITIZED)/cmake \
	    --config-settings cmake.define.KINGPAIR_SANITIZE=ON .
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONPATH="$(SANITIZED)/root:$(SITE)" $(BIN)/python -P -S -m pytest --import-mode=append $(KERNEL_TESTS)

serve: kernels
	@exec $(BIN)/kingpair serve

bench: kernels
	$(BIN)/kingpair bench

signature: kernels
	@$(BIN)/kingpair bench --signature
	@$(BIN)/kingpair bench --signature --pawns 2>/dev/null

package: $(VENV)/.requirements $(VENV)/.testing
	@sh .ci/toolchain >/dev/null
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

format: $(VENV)/.testing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(SOURCES)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find api coordinator workers deploy tests -name __pycache__ -prune -exec rm -rf {} +
