# find.sh - find finds the moments that an independent program finds in the printed events.
# shellcheck shell=bash

check_find() { # FILE: a sound one
    local out
    # The program takes minutes for a large one.
    [ "$(stat -c %s "$1")" -le 131072 ] || return 0
    out=$(python3 -B "$CONFORMANCE/../cli/find.py" "$GOTRACE" "${EXPRESSIONS:-$(fewer 20 "$1")}" 1 "$1" 2>&1)
    if grep -qxE '[1-9][0-9]* comparisons, [0-9]+ moments' <<<"$out" && [ "$(wc -l <<<"$out")" = 1 ]; then
        ok 'find'
    else
        echo "$out" >"$WORK/err"
        fail 'find' 'random expressions' "$WORK/err"
    fi
}
