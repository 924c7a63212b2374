#!/usr/bin/env bash
# A part of what damage.py does, always the same: damage to each trace at a few places, repaired.
set -u
cd "$(dirname "$0")/../.." || exit 1
export GOTRACE="${BUILD:-build}/gotrace"

# A sanitizer takes its time.
places=10
nm "$GOTRACE" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)' && places=1
exec tests/repair/damage.py --check -n $places -s 1
