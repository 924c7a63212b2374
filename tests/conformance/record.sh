#!/usr/bin/env bash
# record.sh: Go's readers accept the traces that several threads recorded, with random schedules of all
# events, in each version. Prints results in the form of lib.sh.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
export TRACE_NAME=record
recorder=$(dirname "$GOTRACE")/tests/test_record_threads

if [ ! -x "$recorder" ] || [ ! -x "$GOREAD_V1" ] || [ ! -x "$GOREAD_V2" ]; then
    skip 'traces of threads' "no $recorder (make tests), $GOREAD_V1 or $GOREAD_V2"
    exit
fi
RECORD_TRACES=$WORK "$recorder" >"$WORK/log" 2>&1
fail_if $? 'what threads recorded is in the traces' 'see the log' "$WORK/log"
RECORD_TRACES=$WORK "${recorder%threads}several" >"$WORK/log" 2>&1
fail_if $? 'several recorders at the same time' 'see the log' "$WORK/log"
# Crash files of programs that were killed.
KILLS=500 RECORD_TRACES=$WORK "${recorder%threads}crash" >"$WORK/log" 2>&1
fail_if $? 'what was counted before 500 kills is in the crash files' 'see the log' "$WORK/log"
for trace in "$WORK"/*.trace; do
    TRACE_NAME=record/$(basename "$trace" .trace)
    reader=$([ "$(version_of "$trace")" -lt 22 ] && echo "$GOREAD_V1" || echo "$GOREAD_V2")
    "$reader" "$trace" >"$WORK/log" 2>&1
    fail_if $? "accepted by $(basename "$reader")" 'rejected' "$WORK/log"
done

# Programs that are killed at random moments: Go's readers accept the traces, and every call that the
# programs counted is in them.
read -ra compiler <<<"${CC:-cc}"
kills() {
    TRACE_NAME=record/kills-$3
    timeout "$HANG" "$CONFORMANCE/../record/kills.sh" "$1" "$GOTRACE" "$WORK/counts" "$2" "$3" >"$WORK/log" 2>&1
    fail_if $? "$1 kills" 'calls are missing, or a trace is rejected' "$WORK/log"
}
if "${compiler[@]}" -O1 -pthread -o "$WORK/counts" "$CONFORMANCE/../../testdata/record/counts.c"; then
    kills 400 "$GOREAD_V2" 1.26
    kills 100 "$GOREAD_V1" 1.21
else
    TRACE_NAME=record/kills skip 'kills' 'no compiler'
fi
