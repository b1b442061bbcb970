# Thin over CMake, ctest and pip; `make help` lists the targets. Every target installs what it needs (scripts/setup.sh).
SHELL := /bin/bash
# CMake comes from .venv where the system's is too old.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# One name of the compiler for pip and for the tests' build: the compiler cache tells c++ from g++.
export CXX

PROMPT ?= Why is the sky blue?

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-asan test-tsan check bench docs clean install-python

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: ## build the command and let the default model answer one question (PROMPT="...")
	@scripts/setup.sh demo
	@$(MAKE) --no-print-directory install-python
	.venv/bin/atb info
	.venv/bin/atb run -p "$(PROMPT)"

install-python:
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps .

test: ## C++ and Python tests, with a summary
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory install-python
	scripts/test.sh release --python

test-long: ## the same with the tests that take minutes
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory install-python
	scripts/test.sh release --python --long

test-asan: ## C++ tests under the address and undefined-behaviour sanitizers
	@scripts/setup.sh build
	scripts/test.sh asan

test-tsan: ## C++ tests under the thread sanitizer
	@scripts/setup.sh build
	scripts/test.sh tsan

check: ## formatting, linting, layers, public headers alone
	@scripts/setup.sh check
	scripts/check.sh

bench: ## speed beside other engines on the default model
	@scripts/setup.sh bench
	@$(MAKE) --no-print-directory install-python
	.venv/bin/python benchmarks/peers/run.py
	.venv/bin/python benchmarks/peers/report.py

docs: ## write docs/commands.md and check the links of all documents
	@scripts/setup.sh demo
	@$(MAKE) --no-print-directory install-python
	.venv/bin/python scripts/docs.py

clean: ## remove what was built; .venv stays
	rm -rf build dist
