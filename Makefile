# Everything happens in .venv, made once; `make PYTHON=python3.12 …` picks the interpreter it is made from.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHECKED := arena benchmarks boards bots docs examples noxfile.py packages protocol tests

.DEFAULT_GOAL := help
.PHONY: help tournament test test-long test-all test-packages test-thorough mutants hostile durability soak fuzz check format lint types docs docs-check site-docs tour golden screenshots pictures bots bench fairness overload blunders ladder matchmaking environments tuning verdicts finals statistics cluster crowd release venv clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tournament: $(VENV)/with-pages ## Play a tournament of the bundled Python bots, print the standings and make the page that shows it
	@$(BIN)/arena tournament
	@$(BIN)/arena site

test: $(VENV)/with-test bots ## Run the quick tests, six minutes; those that need a missing tool are skipped, with the reason
	@$(BIN)/pytest -q

test-core: $(VENV)/with-test bots ## Run the core's quick tests with every wing but the games away; OPTIONS are pytest's
	@ARENA_WINGS= $(BIN)/pytest -q tests/core -m 'not long and not thorough' $(OPTIONS)

test-long: $(VENV)/with-test bots ## Run the other tests, which take long: bots of every language built, documents followed, every case
	@$(BIN)/pytest -q -n 6 -m 'long and not thorough'

test-thorough: $(VENV)/with-test bots ## Run what the long tests leave out: every case, faults at every statement, a hundred games each: an hour
	@$(BIN)/pytest -q -m thorough
	@ARENA_TEST_THOROUGH=1 $(BIN)/pytest -q -m 'long or not long' -k any_statement tests/core/e2e/test_exactly_once.py tests/core/e2e/test_formats.py
	@ARENA_TEST_THOROUGH=1 $(BIN)/pytest -q -m 'long or not long' tests/*/property tests/league/door/test_openapi.py
	@ARENA_TEST_THOROUGH=1 $(BIN)/pytest -q -s -n 0 tests/league/door/test_beside.py
	@ARENA_TEST_THOROUGH=1 $(BIN)/pytest -q -m 'long or not long' tests/bots/test_options.py

test-packages: $(VENV)/with-bench ## Test the packages that are built on arena: OpenSpiel's games
	@PYTHONPATH=packages/openspiel $(BIN)/pytest -q packages

mutants: $(VENV)/with-test bots ## Plant 45 faults in arena, one after another, and say which tests find each: ten minutes; ONLY=rules-tie for one
	@nice $(BIN)/python -m tests.mutants $(ONLY)

test-all: $(VENV)/with-dev ## Run the tests in short form with every Python on the path, 3.11 to 3.14, and with the oldest dependencies: ONLY=promised-3.13 for one
	@$(BIN)/nox $(if $(ONLY),--session $(ONLY))

fuzz: $(VENV)/with-fuzz ## Fuzz what strangers can send: SECONDS=60 for each target, TARGET=log for one; minutes
	@$(BIN)/python -m tests.fuzz.run --seconds $(or $(SECONDS),60) $(TARGET)

durability: $(VENV)/with-test ## Try to lose a result, in every way that is known, and write docs/durability.md: half an hour
	@PYTHONPATH=. $(BIN)/python tests/durability/table.py

soak: $(VENV)/with-test ## Run a league through kills, full disks and hostile bots: SOAK_MINUTES=10 and what the end takes; SEED=N does the same again
	@PYTHONPATH=. $(BIN)/python -m tests.soak --minutes $(or $(SOAK_MINUTES),10) $(if $(SEED),--seed $(SEED))

LEVEL ?= trusted
hostile: $(VENV)/with-test ## Attack arena with hostile bots: make hostile LEVEL=trusted, isolated or strict
	@$(BIN)/python tests/hostile --level $(LEVEL)

check: lint types docs-check test ## Check format, lint, types and generated pages, and run the quick tests

format: $(VENV)/with-dev ## Format the code
	@$(BIN)/ruff format $(CHECKED)
	@$(BIN)/ruff check --fix $(CHECKED)

lint: $(VENV)/with-dev ## Check format and lint
	@$(BIN)/ruff format --check $(CHECKED)
	@$(BIN)/ruff check $(CHECKED)

types: $(VENV)/with-dev ## Check the types of arena/
	@$(BIN)/mypy

docs: $(VENV)/with-test ## Write the generated pages: the protocol's tables and schemas, docs/cli.md
	@$(BIN)/python protocol/generate.py
	@$(BIN)/python docs/generate.py

docs-check: $(VENV)/with-test ## Check that the generated pages are current
	@$(BIN)/python protocol/generate.py --check
	@$(BIN)/python docs/generate.py --check

site-docs: $(VENV)/with-docs ## Write the documentation as a site into build/documentation; a dead link fails
	@$(BIN)/python docs/site_of_docs.py
	@echo "To read it, and search: $(BIN)/python -m http.server -d build/documentation 8000"

tour: $(VENV)/with-test ## Run the README's commands and write what they print into it
	@$(BIN)/python docs/tour.py

screenshots: $(VENV)/with-test ## Write pictures of each kind of page into build/screenshots: needs chromium
	@PYTHONPATH=tests $(BIN)/python tests/browser/screenshots.py build/screenshots

pictures: $(VENV)/with-test ## Write the README's pictures into docs/pictures: needs chromium
	@PYTHONPATH=tests:tests/browser $(BIN)/python tests/browser/pictures.py docs/pictures

golden: $(VENV)/with-test ## Rewrite the golden playthroughs and the example logs; review the difference before you keep it
	@$(BIN)/python tests/golden/generate.py

bots: ## Build the bundled bots that need it (STRICT=1: a missing tool is an error)
	@$(call timed,Building the bundled bots,$(MAKE) --no-print-directory -C bots)

bench: $(VENV)/with-bench ## Measure what decisions, games, starts and commands cost, each beside something else, as one table: PART=costs for one
	@$(BIN)/python benchmarks/bench.py $(PART)

fairness: $(VENV)/with-test ## Measure what each seat is worth: 1,000 games of equal bots for every game, ruleset, number of players
	@$(BIN)/python benchmarks/fairness.py

overload: $(VENV)/with-test ## Measure which time losses are marked as the machine's, under load: five minutes on a quiet machine
	@$(BIN)/python benchmarks/overload.py

blunders: $(VENV)/with-bench ## Measure whether `arena analyse` finds blunders that were planted; an hour
	@$(BIN)/python benchmarks/blunders.py

ladder: $(VENV)/with-test ## Compare the bundled bots with `arena compare`: as many games as that takes, an hour and more
	@$(BIN)/python benchmarks/ladder.py

matchmaking: $(VENV)/with-test ## Simulate a league's matchmaking beside other rules: a quarter of an hour
	@$(BIN)/python benchmarks/matchmaking.py

environments: $(VENV)/with-bench ## Measure arena's games as environments of PettingZoo, beside its Hanabi: a minute
	@$(BIN)/python benchmarks/environments.py

tuning: $(VENV)/with-bench ## Measure what `arena tune` brings back of a lost rating, beside Optuna: half an hour
	@$(BIN)/python benchmarks/tuning.py

verdicts: $(VENV)/with-bench ## Time `arena compare` from start to verdict, by wins and by margins: five minutes
	@$(BIN)/python benchmarks/verdicts.py

finals: $(VENV)/with-test ## Simulate finals of seasons: how many are settled, and whether the best wins
	@$(BIN)/python benchmarks/finals.py

statistics: $(VENV)/with-test ## Measure how often intervals hold the truth, and how often the evidence is wrong: five minutes
	@$(BIN)/python benchmarks/coverage.py
	@$(BIN)/python benchmarks/evidence.py
	@$(BIN)/python benchmarks/versions.py
	@$(BIN)/python benchmarks/stages.py

cluster: $(VENV)/with-test ## Play 600 games on three workers that share nothing, while all are killed in turn: five minutes
	@ARENA_TEST_THOROUGH=1 $(BIN)/pytest -q -n 0 -m long tests/cluster/e2e/test_cluster_apart.py

GAMES ?= 1000000
crowd: $(VENV)/with-test ## Measure what one coordinator bears: a million games on a thousand pretended workers, GAMES=100000 for fewer
	@$(BIN)/python benchmarks/cluster.py --games $(GAMES)

release: $(VENV)/with-dev ## Build and check what is released, and tag it; uploading is left to .github/workflows/release.yml
	@VERSION=$$($(BIN)/python -c 'import arena; print(arena.__version__)') && \
	  { [ -z "$$(git status --porcelain)" ] || { echo "make: expected a clean checkout; commit what is changed" >&2; exit 1; }; } && \
	  { grep -q "^## \[$$VERSION\] - " CHANGELOG.md || \
	    { echo "make: expected a section [$$VERSION] with a date in CHANGELOG.md; write one" >&2; exit 1; }; } && \
	  rm -rf dist && $(BIN)/python -m build --outdir dist . && $(BIN)/python -m build --outdir dist packages/openspiel && \
	  $(BIN)/python -c 'import arena.core.extras as e; print(e.whose())' && \
	  $(BIN)/twine check --strict dist/* && ARENA_TEST_STRICT=1 $(BIN)/pytest -q -m 'long or not long' tests/core/e2e/test_wheel.py && \
	  git tag "v$$VERSION" && echo "dist/ is built and checked, and v$$VERSION is tagged: git push origin v$$VERSION releases it"

venv: $(VENV)/with-dev ## Make the virtual environment with all that developers need

clean: ## Remove the virtual environment and all that was built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .nox .ruff_cache .hypothesis
	@$(MAKE) --no-print-directory -C bots clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: expected Python 3.11 or newer, got: $$($(PYTHON) --version 2>&1); name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	  { echo "make: $(PYTHON) has no venv module; install it (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "Making $(VENV) ... The first time takes a minute or two." >&2
	@$(call timed,Making it,$(PYTHON) -m venv $(VENV))

# $(call timed,NAME,COMMAND): says what takes seconds, so that nobody takes what is made once for what is run each time.
timed = begun=$$(date +%s) && $(2) && took=$$(($$(date +%s) - begun)) && { [ $$took -lt 2 ] || echo "$(1) took $$took s." >&2; }

# On a terminal pip says what it fetches.
PIP_INSTALL := $(BIN)/python -m pip install $$([ -t 1 ] || echo --quiet) --disable-pip-version-check --editable

# What runs arena, and nothing else.
$(VENV)/installed: pyproject.toml | $(BIN)/python
	@echo "Installing arena and what it needs into $(VENV) ..." >&2
	@$(call timed,Installing,$(PIP_INSTALL) .)
	@touch $@

# One stamp per extra of pyproject.toml, or for several at once: with-dev,docs. Each has what runs arena, too.
comma := ,
$(VENV)/with-%: pyproject.toml | $(BIN)/python
	@echo "Installing arena and its $* requirements into $(VENV) ..." >&2
	@$(call timed,Installing,$(PIP_INSTALL) '.[$*]')
	@touch $@ $(addprefix $(VENV)/with-,$(subst $(comma), ,$*)) $(VENV)/installed
