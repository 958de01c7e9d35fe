#!/bin/sh
# import-linter over every package, whose settings stand in pyproject.toml.
set -eu
cd "$(dirname "$0")/.."
PYTHONPATH=$(printf '%s:' libs/*/src services/*/src)
export PYTHONPATH
lint-imports --no-logo --no-cache
