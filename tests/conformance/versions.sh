# versions.sh - traces converted to all other versions: accepted by Go's readers, and the same after a
# round trip.
# shellcheck shell=bash

ALL_VERSIONS=(5 7 8 9 10 11 19 21 22 23 25 26)
# Round trips go through these; each has fewer events than the next.
THERE_AND_BACK=(5 9 11 21 22 26)

# Go's readers of that version: 1.21's reads v1, 1.27's from 1.11 on, except FutileWakeup (36), which it
# does not support.
accepted() { # VERSION FILE
    if [ "$1" -le 21 ] && [ -x "$GOREAD_V1" ]; then "$GOREAD_V1" "$2" || return 1; fi
    [ "$1" -ge 11 ] && [ -x "$GOREAD_V2" ] || return 0
    "$GOREAD_V2" "$2" >"$WORK/output" 2>&1 && return
    cat "$WORK/output"
    [ "$1" -le 21 ] && grep -q 'unexpected event type 36 ' "$WORK/output"
}

# Ticks per second for versions.py.
ticks_of() {
    if [ "$(version_of "$1")" -ge 22 ]; then
        echo 0
    else
        "$GOTRACE" info --json "$1" | sed -n 's/.*"frequency":\([0-9]*\).*/\1/p'
    fi
}

# Each event's stack, without times: events of one tick may be in either order.
stacks_of() { # WHAT IS PRINTED
    awk '/^M=/ { sub(/ Time=-?[0-9]+/, ""); if (NR > 1) print "" } { printf "%s\001", $0 }
        END { print "" }' "$1" | grep '@' | sort
}

# Go shows the frames of the trace, identified by their PCs; gotrace does not use PCs.
check_shown() { # FILE CHECK
    [ -x "$GOREAD_V2" ] || { skip "$2" "no $GOREAD_V2"; return; }
    "$GOREAD_V2" -print "$1" >"$WORK/shown.go" 2>/dev/null
    "$GOTRACE" print -q --format go "$1" >"$WORK/shown.ours" 2>/dev/null
    stacks_of "$WORK/shown.go" >"$WORK/stacks.go"
    stacks_of "$WORK/shown.ours" >"$WORK/stacks.ours"
    same "$2" "$WORK/stacks.go" "$WORK/stacks.ours"
}

check_version() { # VERSION FILE
    local made=$WORK/made.trace said=$WORK/made.said
    if ! "$GOTRACE" convert --to "go1.$1" -o "$made" "$2" 2>"$said" ||
        grep -q 'cannot have happened' "$said"; then
        fail "convert --to go1.$1" 'something is left out that the version can represent' "$said"
    elif ! "$GOTRACE" validate -q "$made" >"$said" 2>&1; then
        fail "convert --to go1.$1" 'not sound' "$said"
    elif ! accepted "$1" "$made" >"$said" 2>&1; then
        fail "convert --to go1.$1" 'Go refuses it' "$said"
    else
        ok "convert --to go1.$1"
        [ "$1" -lt 22 ] || check_shown "$made" "convert --to go1.$1, stacks as Go shows them"
    fi
}

# The input of versions.py.
project() { # FILE NAME: NAME.jsonl, NAME.tables
    "$GOTRACE" print -q --format jsonl -o "$WORK/$2.jsonl" "$1"
    "$GOTRACE" dump -q --format jsonl "$1" |
        grep -e '^{"event":"Stack"' -e '^{"event":"String"' -e '^{"event":"EventBatch"' >"$WORK/$2.tables"
}

check_there_and_back() { # VERSION FILE
    local from made=$WORK/made.trace back=$WORK/back.trace
    from=$(version_of "$2")
    "$GOTRACE" convert -q --to "go1.$1" -o "$made" "$2"
    "$GOTRACE" convert -q --to "go1.$from" -o "$back" "$made"
    project "$made" made
    project "$back" back
    python3 "$CONFORMANCE/versions.py" "$from" "$WORK/here.jsonl" "$(ticks_of "$2")" \
        "$1" "$WORK/made.jsonl" "$(ticks_of "$made")" >"$WORK/differences" 2>&1
    fail_if $? "convert --to go1.$1 gives the same events" 'it does not' "$WORK/differences"
    python3 "$CONFORMANCE/versions.py" "$from" "$WORK/here.jsonl" "$(ticks_of "$2")" \
        "$from" "$WORK/back.jsonl" "$(ticks_of "$back")" "$1" >"$WORK/differences" 2>&1
    fail_if $? "convert --to go1.$1 and back" 'it is not the same' "$WORK/differences"
}

# Compare Go 1.27's conversion of a v1 trace with ours.
check_upward() { # VERSION FILE
    [ -x "$GOREAD_V2" ] || return
    "$GOTRACE" convert -q --to "go1.$1" -o "$WORK/made.trace" "$2"
    "$GOREAD_V2" -print "$2" >"$WORK/v1.events" 2>/dev/null
    "$GOREAD_V2" -print "$WORK/made.trace" >"$WORK/v2.events" 2>/dev/null
    python3 "$CONFORMANCE/upward.py" "$WORK/v1.events" "$WORK/v2.events" >"$WORK/differences" 2>&1
    fail_if $? "convert --to go1.$1 as Go 1.27 reads it" 'states differ' "$WORK/differences"
}

# Whether the I-th target is tested: by a hash of the trace's name every third one, of fresh traces
# every sixth, so that over all traces each version is combined with each kind of trace. All of them would
# take as long as all other checks. ALL_TARGETS=1: always.
has_turn() { # I
    local every=3
    case $TRACE_NAME in fresh/*) every=6 ;; esac
    [ "${ALL_TARGETS:-}" = 1 ] ||
        [ $((($(cksum <<<"$TRACE_NAME" | cut -d ' ' -f 1) + $1) % every)) -eq 0 ]
}

check_versions() {
    local i from
    from=$(version_of "$1")
    for i in "${!ALL_VERSIONS[@]}"; do
        ! has_turn "$i" || check_version "${ALL_VERSIONS[i]}" "$1"
    done
    if ! command -v python3 >/dev/null; then
        skip 'there and back' 'no python3'
        return
    fi
    # Traces of testdata are compared in full; fresh ones need only be accepted.
    [ "${TRACE_NAME#fresh/}" = "$TRACE_NAME" ] || [ "${ALL_TARGETS:-}" = 1 ] || return 0
    project "$1" here
    for i in "${!THERE_AND_BACK[@]}"; do
        ! has_turn "$i" || check_there_and_back "${THERE_AND_BACK[i]}" "$1"
    done
    if [ "$from" -ge 11 ] && [ "$from" -le 21 ]; then check_upward 26 "$1"; fi
}
