# The front door: make demo, make test, make bench. Each installs what it needs, once.
#
# Nothing is installed or built a second time: stamps remember. Without a network that works as
# long as everything was installed once. PYTHON=/path/to/python uses that Python, and its torch if
# it has one.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMPS := build/stamps
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30

SYSTEM_PACKAGES := g++ cmake ninja-build git python3-dev python3-venv \
  libcli11-dev libfmt-dev libzstd-dev libsimdjson-dev libzip-dev libgtest-dev
CLANG_PACKAGES := clang libclang-rt-14-dev
SOURCES := $(shell find tidemark python cmake -type f -not -name '*.pyc') \
  CMakeLists.txt pyproject.toml

.PHONY: demo test test-cpp test-fuzz test-python test-package test-virtual-gpus test-models bench \
  bench-graph install clean help
.DEFAULT_GOAL := help

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1 \t\2/' | expand -t 24

demo: $(STAMPS)/installed  ## a GPT-2-like training script on a virtual H100
	$(VENV)/bin/tidemark estimate --save build/demo.tape examples/train_gpt.py
	$(VENV)/bin/tidemark timeline build/demo.tape

test: test-cpp test-fuzz test-python  ## every test

install: $(STAMPS)/installed  ## the tidemark command and package into .venv

# The engine and its tests alone, without Python and torch, under both sanitizers.
test-cpp: $(STAMPS)/system-clang
	cmake --preset sanitize
	cmake --build --preset sanitize -j $(JOBS)
	ctest --test-dir build/sanitize --output-on-failure -j $(JOBS)

test-fuzz: test-cpp
	tests/fuzz/run.sh $(FUZZ_SECONDS)

# Two halves at once: most tests wait for one process.
test-python: $(STAMPS)/installed
	$(MAKE) --no-print-directory --output-sync=target -j 2 test-package test-virtual-gpus

test-package: $(STAMPS)/installed
	TIDEMARK_BIN=$(CURDIR)/$(VENV)/bin/tidemark $(PY) -m pytest -q tests/python tests/cli tests/package tests/checks
	$(PY) -m pytest -q tests/oracle_graph
	$(PY) -m pytest -q tests/oracle_tracker tests/recording

test-virtual-gpus: $(STAMPS)/installed
	$(PY) -m pytest -q tests/phantom/test_cuda_answers.py tests/phantom/test_fourier_layouts.py
	$(PY) -m pytest -q tests/phantom --ignore=tests/phantom/test_cuda_answers.py --ignore=tests/phantom/test_fourier_layouts.py
	$(PY) -m pytest -q tests/models
	$(PY) -m pytest -q tests/estimate
	$(PY) -m pytest -q tests/oracle

test-models: $(STAMPS)/installed  ## every model type of transformers on virtual GPUs, into docs/models.md
	$(PY) tests/models/sweep.py --jobs $(JOBS) --timeout 240 --markdown docs/models.md

bench: $(STAMPS)/system $(STAMPS)/installed  ## the benchmarks: ratios beside plain passes and PyTorch's tools
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS)
	build/bench/bench/tidemark_tape_bench
	$(PY) bench/estimate_speed.py
	$(PY) bench/tracker_cost.py

bench-graph: $(STAMPS)/installed  ## static graphs beside PyTorch's estimator
	$(PY) bench/graph_against_torch.py

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
	  DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
	@touch $@
endef

$(STAMPS)/system:
	$(call install_system,$(SYSTEM_PACKAGES))

$(STAMPS)/system-clang: $(STAMPS)/system
	$(call install_system,$(CLANG_PACKAGES))

# What PyPI supplies, into a virtual environment of the checkout.
$(VENV)/packages: python/requirements.txt python/environment.sh | $(STAMPS)/system
	python/environment.sh "$(PYTHON)" $(VENV)
	@touch $@

$(STAMPS)/installed: $(SOURCES) $(VENV)/packages
	$(PY) -m pip install --quiet --no-build-isolation --no-deps .
	@touch $@
