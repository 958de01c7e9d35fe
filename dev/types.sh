#!/bin/sh
# mypy, strict, over every package.
set -eu
cd "$(dirname "$0")/.."
MYPYPATH=$(printf '%s:' libs/*/src services/*/src)tests
export MYPYPATH
mypy libs/*/src services/*/src dev/*.py
