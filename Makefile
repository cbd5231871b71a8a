# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` install what they need; a newcomer needs no other command.
SHELL := /bin/bash
.DEFAULT_GOAL := help

BIN := .venv/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# `make bench COMPONENT=ddu` runs the benchmarks of one top-level folder.
COMPONENT ?=
FUZZ_SECONDS ?= 300
AGENT ?= orca
# Evaluated when a recipe runs, not before: setup/ensure-rust may have to install Rust first.
CARGO = PATH="$$(setup/ensure-rust):$$PATH" cargo

# A distribution's Rust may lack rustfmt or clippy.
define if_cargo_has
if $(CARGO) $(1) --version >/dev/null 2>&1; then $(CARGO) $(1) $(2); \
	else echo "skipped: cargo $(1) is not installed (rustup component add $(subst fmt,rustfmt,$(1)))"; fi
endef

.PHONY: announce dist site help demo test test-kernels test-oai-real build kernel setup check format bench faults fuzz audit sbom train lock install clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | column -t -s'|'

announce:
	@setup/announce

demo: announce build ## run Reminis once over 40 MHz of 5G and write its report (says first what it does, and how long)
	@setup/kernel-wheel
	@setup/kernel >/dev/null || echo "demo: without that kernel, in real time as root"
	$$($(BIN)/nr-link virtual doctor >/dev/null 2>&1 || echo $(SUDO)) $(BIN)/ccu run --cc reminis --dl --prb 106

test: build ## run every test (LANES="virtual rust": some of them)
	setup/virtual-kernel >/dev/null # which keeps what modules are built with
	setup/kernel
	setup/system-packages test
	setup/docker-compose
	packaging/environment >/dev/null
	.ci/test $(LANES)

test-kernels: build ## test Reminis in Debian's own kernels in QEMU (KERNELS="6.1 6.12")
	setup/system-packages kernels
	$(MAKE) --no-print-directory -C kmod qemu-test

test-oai-real: build ## test the real OpenAirInterface, with images that Docker has (docs/oai.md)
	setup/docker-compose
	$(if $(SUDO),$(SUDO) --preserve-env) $(BIN)/pytest -p no:cacheprovider -ra tests/oai_real

bench: build ## run the benchmarks and write docs/benchmarks/ (COMPONENT=ddu: those of one component)
	setup/system-packages bench
	.ci/bench $(COMPONENT)

faults: build ## fail each call of the commands once, and kill them at it (continues where it was ended; hours)
	$(BIN)/python -m testsupport.faults

fuzz: ## fuzz every reader of files (FUZZ_SECONDS=300 for each)
	setup/system-packages test
	.ci/fuzz $(FUZZ_SECONDS)
	DDU_FUZZ_EXAMPLES=20000 $(BIN)/pytest -q -p no:cacheprovider -p testsupport.reached ddu/tests/test_fuzz_logs.py ccu/tests/test_fuzz_files.py

audit: ## look for known advisories against the locked packages
	.ci/audit

sbom: ## write the bill of materials (CycloneDX) of the locked packages into sbom.cdx.json
	.ci/sbom sbom.cdx.json

setup:
	@setup/system-packages run
	@setup/ensure-rust >/dev/null
	@setup/python-environment

build: setup ## build the programs into .venv/bin
	$(CARGO) build --quiet --release --locked -p nr-link -p socket-sampler -p quic-flow \
	  -p nr-link-virtual-guest -p nr-link-virtual-library
	install -m 755 target/release/nr-link target/release/socket-sampler target/release/quic-flow \
	  target/release/nr-link-guest target/release/libnr_link_virtual.so $(BIN)/
	@if lacking=$$(setup/system-packages real-time); then \
	  $(MAKE) --silent --no-print-directory -C kmod bpf; \
	else echo "build: virtual time only, as real time needs packages that are missing:"; echo "$$lacking"; fi
	PATH="$$(setup/ensure-rust):$$PATH" .tools/uv/bin/uv pip install --quiet --python $(BIN)/python \
	  --no-deps --no-build-isolation --editable cc/python --editable cc/training --editable ccu --editable ddu --editable over5g
	$(BIN)/python -m compileall -q cc/python/src cc/training/src ccu/src ddu/src over5g/src

kernel: setup ## take the kernel of the virtual testbed from where one is built, else build it, once (5 to 12 minutes of CPU)
	setup/kernel

check: build ## check language, formatting, types and lints, as CI does
	.ci/language
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy cc/python/src cc/training/src ccu/src ddu/src over5g/src
	$(BIN)/mypy kmod/loader
	$(BIN)/lint-imports --no-logo --no-cache
	.ci/circles
	@if $(BIN)/python -c 'import grafana_foundation_sdk' 2>/dev/null; then \
	  $(BIN)/mypy --python-version 3.11 dashboards/boards; \
	  else echo "skipped: types of dashboards/ (Grafana's SDK needs Python 3.11)"; fi
	$(call if_cargo_has,fmt,--check)
	$(call if_cargo_has,clippy,--quiet --locked --workspace --all-targets -- -D warnings)
	@# The fuzz targets are workspaces of their own, whose lock files follow the libraries'.
	@for crate in $(wildcard */fuzz/Cargo.toml */*/fuzz/Cargo.toml); do \
	  $(CARGO) metadata --locked --format-version 1 --manifest-path $$crate >/dev/null || exit 1; done
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files 'kmod/*.[ch]' 'cc/*.[ch]')

format: ## format every file
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(CARGO) fmt
	$(BIN)/clang-format -i $$(git ls-files 'kmod/*.[ch]' 'cc/*.[ch]')

dist: build kernel ## build the wheels over5g and over5g-kernel into dist/ (docs/releases.md)
	packaging/wheels dist

site: setup ## build the site of docs/ into site/, for a web server
	packaging/site/build site

train: setup ## train a learned congestion control again (AGENT=orca or deepcc; 3 GB of packages, 3 minutes of CPU)
	@[ -x .tools/training/bin/python ] || .tools/uv/bin/uv venv --quiet --python "$$(command -v python3)" .tools/training
	.tools/uv/bin/uv pip install --quiet --python .tools/training/bin/python --require-hashes -r cc/training/requirements.txt
	PYTHONPATH=cc/python/src:cc/training/src .tools/training/bin/python -m cctraining.train $(AGENT)

lock: ## pin the newest Python packages that setup/requirements.in allows
	.tools/uv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate setup/requirements.in -o setup/requirements.txt
	.tools/uv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate cc/training/requirements.in -o cc/training/requirements.txt
	.tools/uv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate packaging/requirements.in -o packaging/requirements.txt

install: build ## link `ccu`, `ddu` and `nr-link` into /usr/local/bin for all users; install man pages
	$(SUDO) ln -sf "$(CURDIR)/$(BIN)/ccu" "$(CURDIR)/$(BIN)/ddu" "$(CURDIR)/$(BIN)/nr-link" /usr/local/bin/
	$(SUDO) $(BIN)/nr-link man /usr/local/share/man/man1

clean: ## remove what `make build` made; runs/ stays
	rm -rf .venv .tools target kmod/build ddu/src/ddu/_packets.abi3.so
