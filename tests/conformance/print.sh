# print.sh - gotrace prints the events that Go's reader prints; `info` accounts for every byte.
# shellcheck shell=bash

check_print() { # FILE: a sound one; writes Go's output to $WORK/go.events
    if [ ! -x "$GOREAD_V1" ]; then
        skip 'print --format go' "no $GOREAD_V1"
        return
    fi
    if ! "$GOTRACE" print --format go "$1" >"$WORK/events" 2>"$WORK/err"; then
        fail 'print --format go' 'gotrace failed' "$WORK/err"
        return
    fi
    sort "$WORK/go.events" >"$WORK/go.sorted"
    sort "$WORK/events" >"$WORK/sorted"
    same 'print --format go' "$WORK/go.sorted" "$WORK/sorted"
}

check_jsonl() { # FILE: a sound one
    local bad
    if ! "$GOTRACE" print --format jsonl "$1" >"$WORK/jsonl" 2>"$WORK/err"; then
        fail 'print --format jsonl' 'gotrace failed' "$WORK/err"
        return
    fi
    # Each line is an object, and time goes forward.
    bad=$(jq -n '[inputs] | [range(1; length) as $i | select(.[$i].time < .[$i - 1].time)] | length' \
        "$WORK/jsonl" 2>"$WORK/err") || bad=-1
    case $bad in
    0) ok 'print --format jsonl' ;;
    -1) fail 'print --format jsonl' 'not JSON Lines' "$WORK/err" ;;
    *) fail 'print --format jsonl' "time goes backwards $bad times" ;;
    esac
}

check_info() { # FILE
    local size sum
    size=$(stat -c %s "$1")
    "$GOTRACE" info --no-recover --json "$1" >"$WORK/info" 2>"$WORK/err"
    sum=$(jq -r 'select(.type == "info") | .header_bytes + .unread_bytes + ([.types[].bytes] | add)' \
        "$WORK/info" 2>&1)
    if [ "$sum" = "$size" ]; then
        ok 'info: bytes by type'
    else
        fail 'info: bytes by type' "they sum to $sum, the file has $size" "$WORK/err"
    fi
}
