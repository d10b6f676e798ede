# What a newcomer types. `make help` lists it. Everything runs inside .venv, which the first command makes: with what
# running needs; the first command for developers adds their tools.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.ready-tools
SHELL := /bin/sh

.DEFAULT_GOAL := help
.PHONY: help setup run ask page screenshots test lint format wheel site cost picture transcripts clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: $(TOOLS) ## Install everything into .venv, developers' tools too (the other commands do what they need)

$(READY): pyproject.toml constraints.txt tools/setup.sh
	@sh tools/setup.sh $(VENV)
	@touch $@

$(TOOLS): pyproject.toml lab/pyproject.toml constraints.txt tools/setup.sh
	@sh tools/setup.sh $(VENV) dev
	@touch $(READY) $@

run: $(READY) ## Start the server with its page at http://127.0.0.1:8000
	@sh tools/page.sh try
	@$(BIN)/python -m agent.server

ask: $(READY) ## Ask the demo database questions at a prompt
	@$(BIN)/python -m agent.main --interactive

page: ## Build the page (Node 20 or newer); `make run` does it when something changed
	@sh tools/page.sh build

screenshots: $(TOOLS) page ## Take the pictures of docs/images from the real page (needs Chromium)
	@$(BIN)/python -m tools.screenshots docs/images

test: $(TOOLS) ## Run all tests but that of the wheel, on every core
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadfile --ignore tests/frame/test_wheel.py

wheel: $(TOOLS) ## Build the wheel into dist/ and try it in an empty environment
	@sh tools/wheel.sh dist
	$(BIN)/python -m pytest tests/frame/test_wheel.py

lint: $(TOOLS) ## Style, types and the rules on who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests
	$(BIN)/lint-imports

site: $(TOOLS) ## Build the documentation as a site into build/site; a link that leads nowhere fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

format: $(TOOLS) ## Lay the code out as `make lint` wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

cost: $(TOOLS) ## Fail when a question costs over a tenth more than what is stored
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m experiments.speed.gate

picture: $(TOOLS) ## Draw docs/terminal.svg from a real run
	@$(BIN)/python tools/picture.py docs/terminal.svg

transcripts: $(TOOLS) ## Ask the questions of docs/transcripts offline and write down what came back
	@$(BIN)/python docs/transcripts/record.py

clean: ## Remove .venv and all caches of the tools
	rm -rf frontend/dist frontend/node_modules
	rm -rf $(VENV) build dist *.egg-info lab/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find text2sql agent eval lab prompts experiments tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
