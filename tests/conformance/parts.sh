# parts.sh - a trace split and merged is the same trace to Go's readers.
# shellcheck shell=bash

# check_taken FILE READER CHECK: one of Go's readers accepts it.
check_taken() {
    if [ ! -x "$2" ]; then
        skip "$3" "no $2"
    elif "$2" "$1" >/dev/null 2>"$WORK/err"; then
        ok "$3"
    else
        fail "$3" 'rejected' "$WORK/err"
    fi
}

# Generations are independent, unless the tracer wrote an event of a goroutine before the goroutine's
# status: Go's reader accepts such a trace as a whole, but not that part of it.
check_generation() { # FILE READER
    local name ours=0 theirs=0
    name=$(basename "$1" .trace | sed 's/.*\.//')
    if [ ! -x "$2" ]; then
        skip "part $name" "no $2"
        return
    fi
    "$2" "$1" >"$WORK/err" 2>&1 || theirs=1
    "$GOTRACE" validate -q "$1" >>"$WORK/err" 2>&1 || ours=1
    if [ $ours -ne $theirs ]; then
        fail "part $name" "validate says $ours, $(basename "$2") $theirs" "$WORK/err"
    elif [ $ours -eq 1 ] && ! grep -q '\[context\]' "$WORK/err"; then
        fail "part $name" 'rejected' "$WORK/err"
    else
        ok "part $name"
    fi
}

check_parts() { # FILE BY READER: a sound one
    local part again=$WORK/merged.trace
    rm -rf "$WORK/parts"
    if ! "$GOTRACE" split -q --by "$2" -o "$WORK/parts" "$1" 2>"$WORK/err"; then
        fail "split --by $2" 'refused' "$WORK/err"
        return
    fi
    "$GOTRACE" merge -q -o "$again" "$WORK/parts"/* 2>"$WORK/err"
    fail_if $? "split --by $2 | merge" 'not sound' "$WORK/err"
    "$CONFORMANCE/meaning.py" "$GOTRACE" "$1" "$again" >"$WORK/err" 2>&1
    fail_if $? "split --by $2 | merge, ordered events" 'the events differ' "$WORK/err"
    check_taken "$again" "$3" "split --by $2 | merge, by $(basename "$3")"
    [ "$2" = generation ] || return
    for part in "$WORK/parts"/*; do check_generation "$part" "$3"; done
}
