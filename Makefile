# Each target makes its own .venv and installs what it needs; uv is used when present.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_ARGS ?=

ifneq ($(shell command -v uv 2>/dev/null),)
CREATE = uv venv --python $(PYTHON) --seed $(VENV)
INSTALL = uv pip install --python $(BIN)/python
else
CREATE = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: demo test lint types bench docs conformance wheel-test isolation clean

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py $(DEMO_ARGS)

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest

lint: $(VENV)/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/lint.stamp $(VENV)/test.stamp
	$(BIN)/mypy

bench: $(VENV)/benchmarks.stamp
	$(BIN)/python benchmarks/core_speed.py
	$(BIN)/python benchmarks/schema_cost.py
	$(BIN)/python benchmarks/langchain_speed.py
	$(BIN)/python benchmarks/earliest_verdict.py
	$(BIN)/python benchmarks/cut_anywhere.py

# Runs the examples of the README, the documentation and the docstrings.
docs: $(VENV)/test.stamp
	$(BIN)/python -m pytest --doctest-modules --doctest-glob='*.md' -p no:cacheprovider \
		README.md docs partial_json_core langchain_partial

conformance: $(VENV)/test.stamp
	$(BIN)/python tests/conformance/run.py

# The tests against the built wheel, with the source packages out of the way.
wheel-test: $(VENV)/test.stamp
	$(BIN)/python tests/isolation/run.py wheel

# A LangChain user needs no LlamaIndex, and the other way round.
isolation: $(VENV)/test.stamp
	$(BIN)/python tests/isolation/run.py plugins

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .conformance

$(BIN)/python:
	$(CREATE)

$(VENV)/%.stamp: requirements/%.txt pyproject.toml | $(BIN)/python
	$(INSTALL) -r $< -e .
	@touch $@
