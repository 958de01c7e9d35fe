#!/bin/sh
# mypy over every package, then over each folder of tests: two folders may both have a test_settings.py, which one run
# would take for one module twice.
set -eu
cd "$(dirname "$0")/.."
MYPYPATH=$(printf '%s:' libs/*/src services/*/src)tests
export MYPYPATH
mypy libs/*/src services/*/src dev/*.py
# In tests a signature may be left out where it says nothing, and a helper may take anything.
in_tests='--no-error-summary --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls --allow-any-generics'
for folder in libs/*/tests services/*/tests; do
    [ -d "$folder" ] || continue
    # Helpers that the tests of a folder share are imported from it.
    MYPYPATH="$MYPYPATH:$folder" mypy $in_tests "$folder"
done
mypy $in_tests --python-version 3.11 --exclude '^tests/(cases|attacks)/' tests
