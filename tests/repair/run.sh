#!/usr/bin/env bash
# A fixed part of damage.py, headless.py, flips.py, losses.py, agree.py and large.py, with ALL a larger one: damaged
# traces are repaired, all verbs agree on what is in them, files that are not traces are rejected, and traces with
# flipped bits or lost batches and tables are read.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/hang.bash
. tests/hang.bash
export GOTRACE="${BUILD:-build}/gotrace"

# Sanitizers are slow, and need memory.
places=1 files=2 flips=21 tens=8 losses=0 agree=1 large=(echo '0 passed, 0 failed, 1 skipped')
if nm "$GOTRACE" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)'; then
    files=1 flips=20 tens=4
elif [ -n "${ALL:-}" ]; then
    places=10 files=8 flips=214 tens=40 losses=1 agree=2 large=(tests/repair/large.py --check)
fi

{
    tests/repair/damage.py --check -n $places -s 1
    tests/repair/headless.py --check -n $files -s 1 --most 50000
    tests/repair/flips.py --check -n $flips -s 1
    tests/repair/flips.py --check -n $tens -s 1 -b 10
    tests/repair/losses.py --check -n $losses -s 1
    tests/repair/agree.py --check -n $agree -s 1
    "${large[@]}"
} | awk '
    /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; n++; next }
    { print }
    END { if (n != 7) { print "FAIL a script did not end as it should"; f++ }; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
