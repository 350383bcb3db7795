# Every target sets up what it needs in .venv first; nothing has to be installed beforehand but Python.
PYTHON ?= python3
export ALLOT_PYTHON := $(PYTHON)

.PHONY: help demo test test-cluster cluster cluster-down soak soak-cluster bench conformance lint format constraints clean

help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: .venv/ready-ocr    ## set up, then read a small campaign of scanned volumes on this machine
	./scripts/demo

test: .venv/ready-dev    ## set up, then lint, types, layers, tests
	./scripts/test

test-cluster: .venv/ready-dev  ## the tests of a real control plane, built first out of published modules (SMOKE=1: few)
	./scripts/test-cluster

cluster: .venv/ready-dev ## a real control plane that stays up: prints its kubeconfig (DESCRIBE="2 nodes of 8 x H100-SXM")
	@.venv/bin/python -m tests.controlplane up $(if $(DESCRIBE),--describe "$(DESCRIBE)")

cluster-down: .venv/ready-dev ## end the control plane of `make cluster`
	@.venv/bin/python -m tests.controlplane down

soak: .venv/ready-dev    ## the long versions of the kill, fault and mutation tests
	.venv/bin/python -m pytest -n 2 --dist worksteal -m 'soak and not cluster' tests
	SOAK=1 ./scripts/test-cluster

soak-cluster: .venv/ready-dev  ## of these, those of a real control plane
	SOAK=1 ./scripts/test-cluster

bench: .venv/ready-dev   ## each budget beside its rival, in one run, as ratios
	.venv/bin/python -m benchmarks

conformance: .venv/ready-dev  ## compare decisions with upstream's recorded answers: make conformance DATA=folder
	@.venv/bin/python -m tests.conformance $(if $(DATA),--data "$(DATA)") $(ARGS)

lint: .venv/ready-dev    ## lint, layout, types and layers only
	./scripts/lint

format: .venv/ready-dev  ## mend what lint can mend
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

constraints: .venv/ready-dev  ## pin every dependency anew, with hashes
	./scripts/constraints

clean:           ## forget the environment and the demo
	rm -rf .venv demo

.venv/ready-%: pyproject.toml constraints.txt scripts/setup
	@./scripts/setup $*
