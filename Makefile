# Switchbox. `make help` prints what there is. T=path runs one test or folder; P=name works on another compose project.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

COMPOSE := docker compose $(if $(P),-p $(P))
VENV := .venv
T ?=

# Who the checks run as: you, so that what they write is yours; root has a user without rights in its place.
UID := $(shell id -u)
CHECK_UID := $(if $(filter 0,$(UID)),10010,$(UID))
# Behind an intercepting proxy, the bundle your programs are told to trust goes into the builds too.
export BUILD_CA ?= $(firstword $(wildcard $(SSL_CERT_FILE)) /dev/null)
BUILD := docker build --quiet --secret id=build_ca,src=$(BUILD_CA)

# Where the packages are inside it, for the processes that tests start too.
PATHS := $(shell printf ':/src/%s' libs/*/src services/*/src | cut -c2-)

# The checks run in a container of the development image: no network, no rights, the source read-only.
IN_DEV := docker run --rm --init --user $(CHECK_UID):$(CHECK_UID) --cap-drop ALL --security-opt no-new-privileges \
	--network none --tmpfs /tmp:exec,mode=1777 -e PYTHONPATH=$(PATHS) -e HYPOTHESIS_STORAGE_DIRECTORY=/cache/hypothesis \
	-v switchbox-dev-cache:/cache -v "$(CURDIR)":/src:ro switchbox-dev
# Where something is to be written, or fetched, it is you who does it.
IN_DEV_RW := docker run --rm --init --user $(UID):$(shell id -g) --tmpfs /tmp:exec,mode=1777 \
	-v switchbox-dev-cache:/cache -v "$(CURDIR)":/src switchbox-dev

UNIT_TESTS = $(wildcard libs/*/tests services/*/tests services/gateway/ui/scripts cli/tests)
STACK_TESTS = $(wildcard tests/integration tests/claims tests/e2e)

.PHONY: help
help: ## print this
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | awk -F ':.*## ' '{printf "  %-13s %s\n", $$1, $$2}'
	@echo '  run-<service> stop that service of the stack and run it here in the foreground, with its log'

# --- using it ---------------------------------------------------------------------------------------------------------

.PHONY: setup
setup: ## find or install what is needed: a Docker engine, compose, base images, the tests' environment
	@scripts/host-setup.sh

.PHONY: up
up: setup ## bring the stack up and print the address and a one-time login link
	@case "$${SWITCHBOX_WORKSPACES:-/}" in /*) ;; *) echo 'SWITCHBOX_WORKSPACES must be an absolute path, such as /home/you/workspaces.' >&2; exit 1 ;; esac
	@if ! $(COMPOSE) up --build --detach --wait --remove-orphans; then \
		echo; echo 'The stack did not come up. What its services say:'; \
		$(COMPOSE) logs --no-color --tail 15 $$($(COMPOSE) ps -a --format '{{.Service}} {{.State}} {{.ExitCode}} {{.Health}}' | \
			awk '!($$2 == "running" && $$4 == "healthy") && !($$2 == "exited" && $$3 == 0) {print $$1}'); \
		exit 1; \
	fi
	@echo; echo "Switchbox is up: http://127.0.0.1:$${SWITCHBOX_PORT:-8787}"; $(MAKE) login

.PHONY: login
login: ## print a new one-time login link
	@echo 'Log in, once and within ten minutes, by this link:'
	@$(COMPOSE) exec -T gateway /opt/venv/bin/python -m gateway.app.login_link

.PHONY: down
down: ## stop the stack; chats, keys and workspaces stay
	@$(COMPOSE) down --remove-orphans

.PHONY: clean
clean: ## stop the stack and delete everything it kept: chats, keys, workspaces, its images
	@$(COMPOSE) down --volumes --remove-orphans --rmi local
	@docker volume rm -f switchbox-dev-cache >/dev/null
	@rm -rf $(VENV)

.PHONY: logs
logs: ## follow the logs of the stack, or of S=service
	@$(COMPOSE) logs --follow --tail 100 $(S)

.PHONY: smoke
smoke: $(VENV)/.made ## ask the running stack one question on four panes and try every tool
	@PYTHONPATH=libs/contracts/src:libs/policy/src:tests $(VENV)/bin/python tests/smoke.py

run-%: ## (see above)
	@$(COMPOSE) stop $*
	@trap '$(COMPOSE) start $*' EXIT; $(COMPOSE) run --rm --build --no-deps --service-ports --use-aliases $*

# --- checking it ------------------------------------------------------------------------------------------------------

.PHONY: check
check: fmt-check lint layers locks unit types ui-check ## everything that needs no running stack; CI runs this

.PHONY: dev-image
dev-image:
	@$(BUILD) -f dev/Dockerfile -t switchbox-dev . >/dev/null

.PHONY: fmt
fmt: dev-image ## format the Python code and mend what the linter can
	@$(IN_DEV_RW) sh -c 'ruff format . && ruff check --fix-only --exit-zero .'

.PHONY: fmt-check
fmt-check: dev-image
	@$(IN_DEV) ruff format --check .

.PHONY: lint
lint: dev-image ## ruff, every rule but those with a reason against them
	@$(IN_DEV) ruff check .

.PHONY: types
types: dev-image ## mypy, strict
	@$(IN_DEV) dev/types.sh

.PHONY: layers
layers: dev-image ## imports go one way and services never meet (import-linter)
	@$(IN_DEV) dev/layers.sh

.PHONY: locks
locks: dev-image
	@$(IN_DEV) python dev/check_locks.py

.PHONY: lock
lock: dev-image ## renew the hashed requirement files; UPGRADE=1 takes newer versions
	@$(IN_DEV_RW) sh -c 'UV_CACHE_DIR=/tmp/uv dev/lock.sh $(if $(UPGRADE),--upgrade)'

.PHONY: unit
unit: dev-image ## the unit tests of libraries and services
	@$(IN_DEV) python -m pytest -q -p no:cacheprovider --timeout 60 -m 'not container' $(or $(T),$(UNIT_TESTS))

.PHONY: ui-check
ui-check: ## the browser app: types, lint, unit tests
	@$(BUILD) -f dev/ui.Dockerfile -t switchbox-dev-ui . >/dev/null
	@docker run --rm --init --network none --cap-drop ALL switchbox-dev-ui

# --- proving it on the running stack ----------------------------------------------------------------------------------

# The tests' own environment on the host. It is made anew when its lock changes.
$(VENV)/.made: tests/requirements.txt
	@scripts/host-setup.sh
	@python3 -m venv --clear $(VENV)
	@$(VENV)/bin/pip install -qq --disable-pip-version-check --require-hashes -r tests/requirements.txt
	@touch $@

.PHONY: setup-tests
setup-tests:
	@scripts/host-setup.sh --tests

.PHONY: test
test: setup-tests $(VENV)/.made ## integration, claims and browser tests on a stack of their own; CI runs this
	@$(VENV)/bin/python -m pytest -p no:cacheprovider --timeout 600 $(or $(T),$(STACK_TESTS))

.PHONY: integration claims e2e
integration: setup $(VENV)/.made ## the integration tests alone
	@$(VENV)/bin/python -m pytest -p no:cacheprovider --timeout 600 $(or $(T),tests/integration)

claims: setup $(VENV)/.made ## the tests behind what README.md and SECURITY.md claim
	@$(VENV)/bin/python -m pytest -p no:cacheprovider --timeout 600 $(or $(T),tests/claims)

e2e: setup-tests $(VENV)/.made ## the browser tests alone
	@$(VENV)/bin/python -m pytest -p no:cacheprovider --timeout 600 $(or $(T),tests/e2e)

.PHONY: container-tests
container-tests: setup dev-image ## the services' own tests that start containers (marked `container`)
	@docker run --rm --init --network host -v /var/run/docker.sock:/var/run/docker.sock -v "$(CURDIR)":"$(CURDIR)" -w "$(CURDIR)" \
		switchbox-dev python -m pytest -q -p no:cacheprovider -m container $(or $(T),$(UNIT_TESTS))
