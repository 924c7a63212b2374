#!/usr/bin/env bash
# overlap.sh FILE BESIDE: two traces recorded at the same time by two processes, of a program with
# one task, are aligned on one timeline by their clocks. Prints results in the form of lib.sh.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
export TRACE_NAME=fresh/overlap

# Wall clocks are adjusted while the traces are recorded, by at most 0.05 %.
MOST_APART=5000000

# The first time at which the trace has clocks, and the task's: all in nanoseconds, and small
# enough for jq, which has no more than 53 bits.
# shellcheck disable=SC2016 # the variables are jq's
MOMENTS='reduce .[] as $e ({};
    if $e.clocks and (.clocks | not) then .clocks = $e.clocks
    elif $e.type == "UserTaskBegin" then .begin = $e.ticks
    elif $e.type == "UserTaskEnd" then .end = $e.ticks else . end)
    | "\(.begin - .clocks.trace) \(.end - .clocks.trace) \(.clocks.monotonic) \(.clocks.wall_seconds) \(.clocks.wall_nanoseconds)"'

# The task's begin and end by both clocks.
moments() { # FILE
    local begin end monotonic seconds nanoseconds wall
    read -r begin end monotonic seconds nanoseconds < <("$GOTRACE" print --format jsonl "$1" | jq -rs "$MOMENTS")
    wall=$((seconds * 1000000000 + nanoseconds))
    echo $((monotonic + begin)) $((monotonic + end)) $((wall + begin)) $((wall + end))
}

# For two spans: from the first's begin to the second's, and the time in which both are active.
overlap() { # BEGIN END BEGIN END
    echo $(($3 - $1)) $((($2 < $4 ? $2 : $4) - ($1 > $3 ? $1 : $3)))
}

check_engine() {
    local -a first second shown by_wall
    node --liftoff-only "$TPQ" "$WORK/both.pftrace" "select slice.ts || ' ' || (slice.ts + slice.dur) as line
        from slice join process_track on slice.track_id = process_track.id join process using (upid)
        where slice.category = 'task' order by process.pid" >"$WORK/tpq" 2>"$WORK/err" ||
        { fail 'two processes' 'the engine failed' "$WORK/err"; return; }
    read -ra first < <(moments "$1")
    read -ra second < <(moments "$2")
    read -ra shown < <(jq -r .line "$WORK/tpq" | xargs)
    if [ ${#shown[@]} -ne 4 ]; then
        fail 'two processes' 'there are not two tasks' "$WORK/tpq"
        return
    fi
    overlap "${shown[@]}" >"$WORK/got"
    overlap "${first[@]:0:2}" "${second[@]:0:2}" >"$WORK/want"
    same 'they overlap as the monotonic clock says' "$WORK/want" "$WORK/got"
    overlap "${first[@]:2:2}" "${second[@]:2:2}" >"$WORK/want"
    read -ra by_wall <"$WORK/want"
    read -ra shown <"$WORK/got"
    if [ "${shown[1]}" -le 0 ]; then
        fail 'they overlap' "by ${shown[1]} ns"
    elif [ $((by_wall[0] - shown[0])) -gt $MOST_APART ] || [ $((shown[0] - by_wall[0])) -gt $MOST_APART ] ||
        [ $((by_wall[1] - shown[1])) -gt $MOST_APART ] || [ $((shown[1] - by_wall[1])) -gt $MOST_APART ]; then
        fail 'they overlap as the wall clocks say' "${shown[*]} instead of ${by_wall[*]}"
    else
        ok 'they overlap as the wall clocks say'
    fi
}

if ! "$GOTRACE" convert "$1" "$2" -o "$WORK/both.pftrace" 2>"$WORK/err"; then
    fail 'two processes' 'convert failed' "$WORK/err"
elif ! grep -q 'aligned by the monotonic clock' "$WORK/err"; then
    fail 'two processes' 'convert says something else' "$WORK/err"
elif ! have_engine; then
    skip 'two processes, in the engine' "no engine (needs node, $TPQ and $TPQ_HOME/node_modules)"
else
    check_engine "$1" "$2"
fi
