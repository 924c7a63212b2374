#!/usr/bin/env bash
# Runs the unit tests (Check), and the fuzz targets over what lies in their corpora.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD="${BUILD:-build}"

passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CK_VERBOSITY=silent CK_TAP_LOG_FILE_NAME="$work/tap"
# Sanitizers and valgrind are slow; Check's own limit is four seconds a test.
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-120}"

for source in tests/unit/test_*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    rm -f "$work/tap"
    "$BUILD/tests/$name" >"$work/log" 2>&1
    status=$?
    [ -e "$work/tap" ] || : >"$work/tap"
    ok=$(grep -c '^ok ' "$work/tap")
    bad=$(grep -c '^not ok ' "$work/tap")
    passed=$((passed + ok))
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then
        sed -n "s/^not ok [0-9]* - /FAIL $name: /p" "$work/tap"
    elif [ "$status" -ne 0 ] || [ "$ok" -eq 0 ]; then
        echo "FAIL $name: status $status after $ok tests"
        failed=$((failed + 1))
    else
        continue
    fi
    sed 's/^/  /' "$work/log" | tail -n 40
done

for source in fuzz/fuzz_*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    corpus=()
    for folder in "fuzz/corpus/$name" fuzz/corpus/traces testdata/traces; do
        [ ! -d "$folder" ] || corpus+=("$folder")
    done
    if timeout 600 "$BUILD/fuzz/replay_$name" "${corpus[@]}" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        echo "FAIL fuzz_$name: status $? over ${corpus[*]}"
        sed 's/^/  /' "$work/log" | tail -n 40
        failed=$((failed + 1))
    fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
