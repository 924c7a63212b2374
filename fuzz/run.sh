#!/usr/bin/env bash
# Fuzzes each target that was built, for FUZZ_SECONDS (30) each. What a target was broken by stays in
# $BUILD/fuzz/found; the corpus grows in $BUILD/fuzz/grown. Called by `make fuzz`.
#
#   BUILD=build/fuzz fuzz/run.sh [NAME...]
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/fuzz}
seconds=${FUZZ_SECONDS:-30}
found=$BUILD/fuzz/found
passed=0 failed=0
mkdir -p "$found"
fuzz/dictionary.sh >"$BUILD/fuzz/dictionary" || exit 1

[ $# -gt 0 ] || for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    set -- "$@" "${name#fuzz_}"
done

for name in "$@"; do
    grown=$BUILD/fuzz/grown/$name
    log=$BUILD/fuzz/$name.log
    mkdir -p "$grown"
    seeds=(testdata/traces fuzz/corpus/traces)
    [ ! -d "fuzz/corpus/$name" ] || seeds=("fuzz/corpus/$name")
    if "$BUILD/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -max_len=40000 -dict="$BUILD/fuzz/dictionary" -artifact_prefix="$found/$name-" \
        "$grown" "${seeds[@]}" >"$log" 2>&1; then
        echo "ok   $name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") runs"
        passed=$((passed + 1))
    else
        echo "FAIL $name:"
        tail -n 40 "$log" | sed 's/^/  /'
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
