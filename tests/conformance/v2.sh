# v2.sh - traces of Go 1.22 and later, compared with Go 1.27's reader and its `go tool trace`.
# shellcheck shell=bash

# go_verdict FILE: the exit status of Go's reader. A verdict is 0 or 1, anything else is a crash.
go_verdict() {
    timeout "$HANG" "$GOREAD_V2" "$1" >/dev/null 2>"$WORK/go.err"
}

check_verdict_v2() { # FILE
    local expected status

    if [ ! -x "$GOREAD_V2" ]; then
        skip verdict "no $GOREAD_V2"
        return
    fi
    go_verdict "$1"
    expected=$?
    "$GOTRACE" validate "$1" >"$WORK/out" 2>"$WORK/err"
    status=$?
    cat "$WORK/go.err" "$WORK/out" "$WORK/err" >"$WORK/both"
    if [ $expected -gt 1 ] && [ $status -le 1 ]; then
        ok "verdict ($status; Go's reader has none)"
    elif [ $expected -ne $status ]; then
        fail verdict "Go's reader ends with $expected, gotrace with $status" "$WORK/both"
    else
        ok "verdict ($([ $status -eq 0 ] && echo sound || echo unsound))"
    fi
    # A rejected trace is rejected by a rule with a name.
    if [ $status -eq 1 ]; then
        grep -q '^.*: error: .* \[[a-z]*\.\{0,1\}[a-z0-9]*\]$' "$WORK/err"
        fail_if $? 'rule of the verdict' 'no error that names a rule' "$WORK/both"
    fi
}

# One line for each event: its details (stacks, clocks) are appended to its first line.
blocks() { awk '/^M=/ { if (NR > 1) print "" } { printf "%s\001", $0 } END { print "" }' "$1" | sort; }

# Two threads may have events of the same tick. Their order depends on the reader (Go's, on the
# history of its heap), and the second is a nanosecond later. Here all events of such a row have
# the time of the first, followed by the original times.
untied() {
    awk '/^M=/ {
            match($0, / Time=-?[0-9]+/)
            time = substr($0, RSTART + 6, RLENGTH - 6)
            if (time + 0 != last + 1) first = time
            last = time + 0
            print "time", time
            $0 = substr($0, 1, RSTART + 5) first substr($0, RSTART + RLENGTH)
        }
        { print }' "$1" >"$1.untied"
    blocks <(grep -v '^time ' "$1.untied")
    grep '^time ' "$1.untied" | sort
}

check_print_v2() { # FILE: a sound one; writes Go's output to $WORK/go.events
    if [ ! -x "$GOREAD_V2" ]; then
        skip 'print --format go' "no $GOREAD_V2"
        return
    fi
    if ! "$GOTRACE" print --format go "$1" >"$WORK/events" 2>"$WORK/err"; then
        fail 'print --format go' 'gotrace failed' "$WORK/err"
        return
    fi
    blocks "$WORK/go.events" >"$WORK/go.sorted"
    blocks "$WORK/events" >"$WORK/sorted"
    if ! cmp -s "$WORK/go.sorted" "$WORK/sorted" &&
        cmp -s <(untied "$WORK/go.events") <(untied "$WORK/events"); then
        ok 'print --format go, but for the order within a tick'
        cp "$WORK/events" "$WORK/go.events" # what the timelines are compared with
        return
    fi
    same 'print --format go' "$WORK/go.sorted" "$WORK/sorted"
}

# `dump` prints the lines of `go tool trace -d=wire` after the header of Go's raw text format. Go 1.27
# does not support the events of experiments in versions before its own: it stops
# there, and its output up to that point is compared.
check_wire() { # FILE
    local status version whole=yes
    if [ ! -x "$GO_TRACE" ]; then
        skip 'dump, as go tool trace -d=wire' "no $GO_TRACE"
        return
    fi
    version=$(version_of "$1")
    echo "Trace Go1.$version" >"$WORK/wire"
    if ! "$GO_TRACE" -d=wire "$1" >>"$WORK/wire" 2>"$WORK/err"; then
        if [ "$version" -ge 26 ] || ! grep -q '^invalid event type: 1[23][0-9]$' "$WORK/err"; then
            fail 'dump, as go tool trace -d=wire' 'go tool trace failed' "$WORK/err"
            return
        fi
        whole=no
    fi
    "$GOTRACE" dump "$1" >"$WORK/dump" 2>"$WORK/err"
    status=$?
    fail_if $status 'dump' "status $status" "$WORK/err"
    if [ $whole = no ]; then
        head -n "$(wc -l <"$WORK/wire")" "$WORK/dump" >"$WORK/dump1"
        mv "$WORK/dump1" "$WORK/dump"
    fi
    same 'dump, as go tool trace -d=wire' "$WORK/wire" "$WORK/dump"
}

# The states in jsonl are those of Go's reader.
check_states() { # FILE: a sound one of Go 1.11 or later, which is printed in $WORK/jsonl
    if [ ! -x "$GOREAD_V2" ]; then
        skip 'states' "no $GOREAD_V2"
    elif ! command -v python3 >/dev/null; then
        skip 'states' 'no python3'
    elif ! "$GOREAD_V2" -print "$1" >"$WORK/states.go" 2>"$WORK/err"; then
        fail 'states' 'goread-v2 failed' "$WORK/err"
    else
        python3 "$CONFORMANCE/states.py" "$WORK/jsonl" "$WORK/states.go" >"$WORK/differences" 2>&1
        fail_if $? 'states' 'not those of goread-v2' "$WORK/differences"
    fi
}

# One of Go's tests: a trace as text, and the expected output of a reader.
check_go_test() { # FILE.test
    local wanted pattern expected status
    wanted=$(sed -n '/^-- expect --$/{n;p;q}' "$1")
    pattern=$(sed -n 's/^FAILURE "\(.*\)"$/\1/p' <<<"$wanted")
    case $wanted in
    SUCCESS) expected=0 ;;
    FAILURE*) expected=1 ;;
    *) fail 'the test' "it expects: $wanted"; return ;;
    esac
    if ! "$GOTRACE" synth "$1" >"$WORK/synthesized" 2>"$WORK/err"; then
        fail 'synth' 'gotrace failed' "$WORK/err"
        return
    fi
    "$GOTRACE" validate "$WORK/synthesized" >"$WORK/out" 2>"$WORK/err"
    status=$?
    cat "$WORK/out" >>"$WORK/err"
    [ $status -eq $expected ]
    fail_if $? "verdict ($wanted)" "status $status instead of $expected" "$WORK/err"
    # Go's reader gives the expected output, so this is the trace of the test.
    if [ -x "$GOREAD_V2" ]; then
        go_verdict "$WORK/synthesized"
        status=$?
        [ $status -eq $expected ] && grep -Eq -e "$pattern" "$WORK/go.err"
        fail_if $? 'what synth wrote, by goread-v2' "status $status instead of $wanted" "$WORK/go.err"
    fi
    sed '1,/^-- trace --$/d' "$1" >"$WORK/text"
    "$GOTRACE" dump "$WORK/synthesized" >"$WORK/dump" 2>"$WORK/err"
    same 'synth | dump' "$WORK/text" "$WORK/dump"
}

# Times of goroutines, regions and tasks, and utilization, are those of Go's analyses.
check_summary() { # FILE: a sound one of Go 1.11 or later
    if [ ! -x "$GOREAD_V2" ]; then
        skip 'summary' "no $GOREAD_V2"
    elif ! "$GOREAD_V2" -summary "$1" >/dev/null 2>"$WORK/err"; then
        # Go's utilization panics at a mark assist that is reported without a proc (gc.go, line 196).
        grep -q '^panic: runtime error: index out of range \[-1\]' "$WORK/err" && grep -q MutatorUtilizationV2 "$WORK/err" &&
            "$GOTRACE" stat --json --each "$1" >/dev/null 2>>"$WORK/err"
        fail_if $? "summary, which Go's analysis cannot make" "Go's analysis or gotrace failed" "$WORK/err"
    elif ! command -v python3 >/dev/null; then
        skip 'summary' 'no python3'
    else
        python3 "$CONFORMANCE/summary.py" "$GOREAD_V2" "$GOTRACE" "$1" >"$WORK/differences" 2>&1
        fail_if $? 'summary' "not that of goread-v2" "$WORK/differences"
    fi
}

# Critical paths are those that the definition gives; of v1 traces only their sums are checked.
check_paths() { # FILE: a sound one
    if ! command -v python3 >/dev/null; then
        skip 'paths' 'no python3'
    else
        python3 "$CONFORMANCE/paths.py" "$GOTRACE" "$1" >"$WORK/differences" 2>&1
        fail_if $? 'paths' 'not those of the definition' "$WORK/differences"
    fi
}

# Profiles have the samples of go tool trace -pprof.
check_profiles() { # FILE TOOL: a sound one, and go tool trace of the version that reads it
    # Calls from C use the ids of goroutines again. Go has one record of an id, and counts only what is after the first
    # run of the last goroutine of that id.
    [[ $TRACE_NAME != *cgothread* ]] || return
    if [ ! -x "$2" ]; then
        skip 'profiles' "no $2"
    elif ! command -v python3 >/dev/null; then
        skip 'profiles' 'no python3'
    else
        python3 "$CONFORMANCE/profiles.py" "$GOTRACE" "$2" "$1" >"$WORK/differences" 2>&1
        fail_if $? 'profiles' "not those of go tool trace" "$WORK/differences"
    fi
}
