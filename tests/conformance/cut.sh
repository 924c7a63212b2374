# cut.sh - Go's readers accept parts of a trace, which have the events that were selected.
# shellcheck shell=bash

check_cut() { # FILE READER: a sound one
    local out
    if [ ! -x "$2" ]; then
        skip 'cut' "no $2"
        return
    fi
    out=$(READERS=$(dirname "$2") python3 -B "$CONFORMANCE/../cli/cut.py" "$GOTRACE" "${CUTS:-$(fewer 20 "$1")}" 1 "$1" 2>&1)
    if grep -qx '[1-9][0-9]* cuts' <<<"$out" && [ "$(wc -l <<<"$out")" = 1 ]; then
        ok 'cut'
    else
        echo "$out" >"$WORK/err"
        fail 'cut' 'random selections' "$WORK/err"
    fi
}
