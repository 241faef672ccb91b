# Every target sets up .venv by itself; all it takes is Python 3.11 or later, make, and Java 17 or later.
.DEFAULT_GOAL := help
.PHONY: help run test test-light test-live test-docs check bench soak conformance docs lock clean java

# The interpreter .venv is made from (default: the first suitable of python3.13, 3.12, 3.11, python3),
# and the folder that stands for .venv where there is to be another: make VENV=build/newest test-light
PYTHON ?=
VENV := .venv
# pytest workers. Tests that use the `spark` fixture form one group on one worker and share its
# session (--dist loadgroup); all other tests are spread over the workers.
WORKERS ?= 2
# More arguments for the command behind a target: make test ARGS="-k match"
ARGS ?=

READY := $(VENV)/.stamp
BIN := $(VENV)/bin
ARCHIVE := build/spark-classes.jsa
QUICK_JVM := -XX:TieredStopAtLevel=1 -Xlog:disable -Xlog:all=error:stderr
export PYTHON VENV

# A checkout that was moved or copied sets up anew.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(READY) java ## the demo: a catalog and a stream of messages become typed tables in build/demo
	@$(BIN)/heraldry demo --to build/demo $(ARGS)

# The many short-lived JVMs of the tests need no thorough compiler, and take Spark's classes from an
# archive; without one that fits them, they load and verify 13,000 classes each.
test test-live test-docs conformance: export SPARK_SUBMIT_OPTS ?= $(QUICK_JVM) -XX:SharedArchiveFile=$(CURDIR)/$(ARCHIVE)

PYTEST = $(BIN)/pytest -n $(WORKERS) --dist loadgroup

test: $(READY) java $(ARCHIVE) ## the tests that run everywhere, in parallel and in random order
	@$(PYTEST) -m "not soak and not live and not docs" $(ARGS)

test-light: $(READY) ## those of them that need no Java
	@$(PYTEST) -m "not soak and not live and not docs and not spark" $(ARGS)

test-live: $(READY) java $(ARCHIVE) ## the tests with real servers and clients; what is missing skips and says so
	@$(PYTEST) -m "(live or amqp) and not soak and not alone" $(ARGS)
	@$(BIN)/pytest -n 0 -m "alone and not soak" $(ARGS) || [ $$? = 5 ] # 5: ARGS left none of them

test-docs: $(READY) java $(ARCHIVE) ## runs every page of the documentation, and what else tests them
	@$(PYTEST) tests/test_docs.py $(ARGS)

check: $(READY) ## lint, format, types, layers, dependencies, generated pages
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/deptry src
	@$(BIN)/python docs/generate.py --check

bench: $(READY) java ## benchmarks, with a plain Spark job beside ours
	@$(BIN)/python benchmarks/run.py $(ARGS)

# Who asks for these wants the servers they need: a skip would be a soak that did not happen.
soak: export HERALDRY_REQUIRE_LIVE ?= 1
soak: export HERALDRY_SOAK = 1
soak: $(READY) java ## the tests that run for minutes: kills, restarts, exactly once, a thousand more examples
	@$(BIN)/pytest -m "soak or thorough" -n 0 --timeout 3600 $(ARGS)

conformance: $(READY) java $(ARCHIVE) ## what is covered: each requirement with its tests, and the public suites case by case
	@$(BIN)/pytest tests/conformance -n $(WORKERS) --dist loadgroup -v -rs $(ARGS)
	@$(BIN)/pytest tests/model tests/store tests/registry tests/dialects tests/server tests/client tests/cli tests/conformance tests/live -p tests.conformance.requirement_report -m "covers and not soak" -q -n $(WORKERS) --dist loadgroup -rs

docs: $(READY) ## write docs/reference anew
	@$(BIN)/python docs/generate.py

lock: ## resolve the dependencies anew (needs uv; ARGS=--upgrade takes newer ones)
	@command -v uv >/dev/null || { echo "heraldry: uv is needed to lock: pipx install uv" >&2; exit 1; }
	@uv pip compile -q $(LOCK) $(ARGS) requirements/build.in -o requirements/build.txt
	@uv pip compile -q $(LOCK) $(ARGS) requirements/xrcg.in -o requirements/xrcg.txt
	@uv pip compile -q $(LOCK) $(ARGS) --extra spark --extra connect --extra fast --extra avro --extra protobuf --extra xsd --extra kafka --extra mqtt --extra nats --extra server --extra postgres --group dev pyproject.toml -o requirements/dev.txt
	@uv pip compile -q $(LOCK) $(ARGS) -c requirements/dev.txt --extra amqp pyproject.toml -o requirements/amqp.txt

LOCK := --universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --python-version 3.11

clean: ## remove .venv, build and all caches
	@rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests benchmarks docs examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

java:
	@scripts/bootstrap java

$(READY): pyproject.toml requirements/build.txt requirements/dev.txt
	@scripts/bootstrap venv

# Written by the JVM of a demo as it ends, and the pipe ends with it. It fits one Java and one .venv.
$(ARCHIVE): $(READY) | java
	@echo "heraldry: archiving Spark's classes for the tests (once)" >&2
	@rm -rf build/archiving && mkdir -p build/archiving
	@SPARK_SUBMIT_OPTS="$(QUICK_JVM) -XX:ArchiveClassesAtExit=$(CURDIR)/build/archiving/made" \
	    $(BIN)/heraldry demo --to build/archiving/demo --messages 1000 2>&1 | cat >build/archiving/log
	@mv build/archiving/made $@ || { cat build/archiving/log >&2; exit 1; }
	@rm -rf build/archiving
