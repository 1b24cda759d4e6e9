# The front door: make demo, make test, make bench. Each installs what it needs, once.
#
# Nothing is installed or built a second time: stamps remember. Without a network that works as
# long as everything was installed once. PYTHON=/path/to/python uses that Python, and its torch if
# it has one. WERROR=ON lets every warning fail the build, as a build server does.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMPS := build/stamps
WHEELS := build/wheel
JOBS ?= $(shell nproc)
WERROR ?= OFF
FUZZ_SECONDS ?= 30

# Some images forbid bytecode. torch would then be compiled anew in each of a thousand processes.
unexport PYTHONDONTWRITEBYTECODE

SYSTEM_PACKAGES := g++ cmake ninja-build python3-dev python3-venv \
  libcli11-dev libfmt-dev libzstd-dev libsimdjson-dev libzip-dev zlib1g-dev
TEST_PACKAGES := git clang clang-format libclang-rt-14-dev libgtest-dev
STYLE_PACKAGES := git clang clang-format clang-tidy libgtest-dev
SOURCES := $(shell find tidemark python cmake -type f -not -name '*.pyc') \
  CMakeLists.txt CMakePresets.json pyproject.toml
CXX_FILES = $(shell git ls-files '*.cpp' '*.h')

# The folders of one name are one run of pytest. The longest come first.
PYTHON_TESTS := test-estimate test-trackers test-package test-phantom \
  test-graphs test-oracle test-wild test-transformers

.PHONY: demo test test-cpp test-fuzz test-python $(PYTHON_TESTS) test-models test-truth bench \
  bench-graph bench-profile \
  install wheel build-tests format check-format tidy clean help
.DEFAULT_GOAL := help

# Several targets at once. A failure does not keep the others from telling theirs.
at_once = +$(MAKE) --no-print-directory --keep-going -j $(JOBS)

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1 \t\2/' | expand -t 24

demo: install  ## a GPT-2-like training script on a virtual H100
	$(VENV)/bin/tidemark estimate --save build/demo.tape examples/train_gpt.py
	$(VENV)/bin/tidemark timeline build/demo.tape

# What waits for the network and what waits for the compiler go side by side, then all tests do.
test: $(STAMPS)/system-test  ## every test
	$(at_once) $(STAMPS)/installed $(VENV)/test-packages build-tests
	$(at_once) --output-sync=target check-format test-fuzz $(PYTHON_TESTS)

install: $(STAMPS)/system  ## the tidemark command and package into .venv
	$(at_once) $(STAMPS)/installed

wheel: $(STAMPS)/system  ## the package for the torch that is here, as a file in build/wheel
	$(at_once) $(STAMPS)/wheel
	@ls $(WHEELS)/*.whl

# The engine and its tests alone, without Python and torch, under both sanitizers.
build-tests: $(STAMPS)/system-test
	@echo "building the C++ tests"
	cmake --preset sanitize --log-level=WARNING -DTIDEMARK_WERROR=ON
	cmake --build --preset sanitize -j $(JOBS) -- --quiet

test-cpp: build-tests
	ctest --test-dir build/sanitize --output-on-failure -j $(JOBS)

test-fuzz: test-cpp
	JOBS=$(JOBS) tests/fuzz/run.sh $(FUZZ_SECONDS)

test-python: $(STAMPS)/installed $(VENV)/test-packages
	$(at_once) --output-sync=target $(PYTHON_TESTS)

# No cache: runs side by side would overwrite each other's.
pytest = TIDEMARK_BIN=$(CURDIR)/$(VENV)/bin/tidemark $(PY) -m pytest -q -p no:cacheprovider --durations=8 --durations-min=5
$(PYTHON_TESTS): $(STAMPS)/installed $(VENV)/test-packages
test-package:
	$(pytest) tests/python tests/cli tests/package tests/checks
test-phantom:
	$(pytest) tests/phantom
test-trackers:
	$(pytest) tests/oracle_tracker tests/oracle_fsdp tests/recording
test-graphs:
	$(pytest) tests/oracle_graph tests/oracle_profile
test-estimate:
	$(pytest) tests/estimate
test-wild:
	$(pytest) tests/wild
test-oracle:
	$(pytest) tests/oracle
test-transformers:
	$(pytest) tests/models

test-models: $(STAMPS)/installed $(VENV)/test-packages  ## every model type of transformers on virtual GPUs, into docs/models.md
	$(PY) tests/models/sweep.py --jobs $(JOBS) --timeout 240 --markdown docs/models.md

# PAGE=docs/accuracy.md writes that page's table anew.
test-truth: $(STAMPS)/installed  ## every run that a real GPU was measured with, estimated and compared
	$(PY) bench/truth/compare.py --real tests/golden/gpu/h200-torch2.11.json --check --jobs $(JOBS) \
	  $(if $(PAGE),--page $(PAGE))

bench: $(STAMPS)/system $(STAMPS)/installed $(VENV)/test-packages  ## the benchmarks: ratios beside plain passes and PyTorch's tools
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS)
	build/bench/bench/tidemark_tape_bench
	$(PY) bench/allocator_speed.py
	$(PY) bench/estimate_speed.py
	$(PY) bench/tracker_cost.py

bench-profile: $(STAMPS)/installed  ## memory profiles beside PyTorch's
	$(PY) bench/profile_against_torch.py

bench-graph: $(STAMPS)/installed  ## static graphs beside PyTorch's estimator
	$(PY) bench/graph_against_torch.py

format: $(STAMPS)/system-style  ## lays out the C++ as .clang-format says
	clang-format -i $(CXX_FILES)

check-format: $(STAMPS)/system-test  ## fails where C++ is laid out otherwise
	@clang-format --dry-run --Werror $(CXX_FILES)

tidy: $(STAMPS)/system-style  ## looks for bugs in the engine, as .clang-tidy says
	cmake --preset engine --log-level=WARNING
	git ls-files 'tidemark/engine/*.cpp' | xargs -P $(JOBS) -n 4 \
	  clang-tidy --quiet -p build/engine --extra-arg=-Wno-unknown-warning-option

clean:  ## forget all builds (.venv stays)
	rm -rf build

# What Debian supplies. Only what is missing is installed, so a second run needs no network.
define install_system
	@mkdir -p $(STAMPS)
	@missing=$$(for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || printf '%s ' $$p; done); \
	if [ -n "$$missing" ]; then \
	  if ! command -v apt-get >/dev/null; then echo "Please install: $$missing"; exit 1; fi; \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  echo "installing $$missing"; \
	  $$sudo apt-get update -qq && \
	  $$sudo env DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
	@touch $@
endef

$(STAMPS)/system:
	$(call install_system,$(SYSTEM_PACKAGES))

$(STAMPS)/system-test:
	$(call install_system,$(SYSTEM_PACKAGES) $(TEST_PACKAGES))
	@touch $(STAMPS)/system

$(STAMPS)/system-style: $(STAMPS)/system
	$(call install_system,$(STYLE_PACKAGES))

# What PyPI supplies, into a virtual environment of the checkout.
$(VENV)/packages: python/requirements.txt python/environment.sh | $(STAMPS)/system
	@echo "making $(VENV)"
	python/environment.sh "$(PYTHON)" $(VENV)
	@touch $@

$(VENV)/test-packages: tests/requirements.txt | $(VENV)/packages
	$(PY) -m pip install --quiet --disable-pip-version-check --no-compile -r $<
	@touch $@

# The part of the package that needs no torch, in the folder where the rest is built later: it is
# compiled while torch is on its way.
$(STAMPS)/library: $(SOURCES) | $(STAMPS)/system
	@echo "building the engine and the command"
	cmake --preset package --log-level=WARNING -DTIDEMARK_WERROR=$(WERROR)
	cmake --build --preset package -j $(JOBS) -- --quiet
	@touch $@

# The file's name says for which torch it was compiled: tidemark-0.1.0-0torch2.13-...
torch_series = $(shell $(PY) -c "from importlib.metadata import version; \
  print(*version('torch').split('.')[:2], sep='.')")
$(STAMPS)/wheel: $(SOURCES) $(STAMPS)/library $(VENV)/packages
	@echo "building the package"
	@rm -rf $(WHEELS)
	CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(PY) -m pip wheel --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --wheel-dir $(WHEELS) \
	  --config-settings=wheel.build-tag=0torch$(torch_series) \
	  --config-settings=cmake.define.TIDEMARK_WERROR=$(WERROR) .
	@touch $@

$(STAMPS)/installed: $(STAMPS)/wheel
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(WHEELS)/*.whl
	@touch $@
