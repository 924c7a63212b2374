# export.sh - the output of `convert` loads in a Perfetto engine without errors, and shows the facts
# from Go's own reader (expected.awk).
# shellcheck shell=bash

# Rows that must not exist: the engine's errors, and slices that never end.
COMPLAINTS="select name || ' ' || value as line from stats where value > 0 and
    (severity in ('error', 'data_loss') or name glob '*_errors*' or name glob 'packet_skipped*')
    union all select 'slice without end: ' || name from slice where dur < 0"

# The states of a goroutine are consecutive, without gaps.
STATES="(select slice.*, track.name as track_name from slice join track on slice.track_id = track.id
    join track as parent on track.parent_id = parent.id where parent.name in ('Goroutines', 'System goroutines'))"
PERFETTO_COMPLAINTS="$COMPLAINTS
    union all select 'gap of ' || gap || ' ns at ' || ts || ' on ' || track_name from
        (select ts, track_name, ts - lag(ts + dur)
            over (partition by track_id order by ts, id) as gap from $STATES)
        where gap <> 0"

METRICS="select 'metric ' || name || ' ' || count(*) || ' ' ||
            sum(iif(value < 9007199254740992, cast(value as int), 0) % 1000003) || ' ' ||
            sum((ts - first) % 1000003) as line
        from (select counter.ts, value, name, min(counter.ts) over (partition by name) as first
            from counter join counter_track on counter.track_id = counter_track.id
            where name in ('heap allocated', 'heap goal', 'GOMAXPROCS'))
        group by name"

# v2, where no two events have the same time: each value of the counters of goroutines is the
# number of goroutines in that state, and that of threads the number of running ones and of those in a system call.
# At the trace's end all end.
COUNTER_STATES="(select ts, dur, substr(name || ' ', 1, instr(name || ' ', ' ') - 1) as word from $STATES
        where category is null)"
SPANS="(select ts, dur, word as state from $COUNTER_STATES
    union all select ts, dur, 'busy' from $COUNTER_STATES where word in ('running', 'in'))"
COUNTS_COMPLAINTS="select 'goroutines or threads ' || state || ': ' || value || ' instead of ' || is_now ||
        ' at ' || ts as line
    from (select state, ts, value, sum(more) over (partition by state order by ts, value is not null
                rows unbounded preceding) as is_now
        from (select state, ts, 1 as more, null as value from $SPANS
            union all select state, ts + dur, -1, null from $SPANS
            union all select iif(name = 'goroutines in syscall', 'in', replace(replace(name, 'goroutines ', ''),
                    'threads ', '')), counter.ts, 0, cast(value as int)
                from counter join counter_track on counter.track_id = counter_track.id
                where name glob 'goroutines *' or name = 'threads busy'))
    where value <> is_now and ts < (select max(ts + dur) from $STATES)"

# The facts of expected.awk, from the timeline.
# Arrows that end at a run, on its proc.
ARROWS="select 'arrows ' || count(*) as line
        from flow join slice on flow.slice_in = slice.id where slice.category = 'run'"

PERFETTO_FACTS="select 'runs ' || substr(track.name, 2) || ' ' || count(*) as line
        from slice join track on slice.track_id = track.id
        where slice.category = 'run' group by track.name
    union all select 'running ' || cast(substr(name, 2) as int) || ' ' || sum(dur)
        from slice where category = 'run' group by cast(substr(name, 2) as int)
    union all select 'onproc ' || cast(substr(track_name, 2) as int) || ' ' || sum(dur)
        from $STATES where name = 'running' group by track_name
    union all select 'state ' || cast(substr(track_name, 2) as int) || ' ' ||
            substr(name || ' ', 1, instr(name || ' ', ' ') - 1) || ' ' || sum(dur)
        from $STATES where category is null and name not glob 'running*' and dur > 0
        group by cast(substr(track_name, 2) as int), substr(name || ' ', 1, instr(name || ' ', ' '))
    union all $ARROWS
    union all $METRICS
    union all select * from (select 'heap ' || cast(value as int)
        from counter join counter_track on counter.track_id = counter_track.id
        where counter_track.name = 'heap allocated' order by ts desc, counter.id desc limit 1)
    union all select 'tasks ' || count(*) from slice where category = 'task'
    union all select 'regions ' || count(*) from slice where category = 'region'
    union all select 'logs ' || count(*) from slice where category = 'log'
    union all select 'gc ' || count(*) from slice where name = 'GC'
    union all select 'samples ' || count(*) from perf_sample"

CHROME_FACTS="with run as (select slice.*, thread.name as thread_name from slice
        join thread_track on slice.track_id = thread_track.id join thread using (utid)
        where thread.name glob 'Proc *' and slice.name glob 'G[0-9]*')
    select 'runs ' || substr(thread_name, 6) || ' ' || count(*) as line
        from run group by thread_name
    union all select 'running ' || cast(substr(name, 2) as int) || ' ' || sum(dur)
        from run group by cast(substr(name, 2) as int)
    union all select 'arrows ' || count(*) from flow
        where extract_arg(arg_set_id, 'name') <> 'newTask'
    union all select * from (select 'heap ' || cast(value as int)
        from counter join counter_track on counter.track_id = counter_track.id
        where counter_track.name glob 'Heap*Allocated' order by ts desc, counter.id desc limit 1)
    union all select 'gc ' || count(*) from slice where name = 'GC'"

CHROME_FACTS_V2="with proc_slice as (select slice.*, thread.name as thread_name from slice
        join thread_track on slice.track_id = thread_track.id join thread using (utid)
        where thread.name glob 'Proc *')
    select 'viewed ' || cast(substr(name, 2) as int) || ' ' || sum(dur) as line
        from proc_slice where name glob 'G[0-9]*' and dur > 0 group by cast(substr(name, 2) as int)
    union all select * from (select 'heap ' || cast(value as int)
        from counter join counter_track on counter.track_id = counter_track.id
        where counter_track.name glob 'Heap*Allocated' order by ts desc, counter.id desc limit 1)
    union all select 'stops ' || count(*) from slice where name glob 'stop-the-world*'
    union all select 'gc ' || count(*) from slice where name = 'GC concurrent mark phase'"

compare_facts() { # FORMAT KINDS: compare $WORK/rows with the facts from Go's output
    local heap
    grep -E "^($2) " "$WORK/expected" | sort >"$WORK/want"
    sort "$WORK/rows" >"$WORK/got"
    # Go's reader does not print the proc of a goroutine that was found in a system call.
    sed -n 's/^unknown \(.*\)/^(onproc|viewed) \1 /p' "$WORK/expected" >"$WORK/unknown"
    { grep -vE -f "$WORK/unknown" "$WORK/got" || true; } >"$WORK/got1"
    mv "$WORK/got1" "$WORK/got"
    # A counter that was never set is 0 in Chrome's format, where it includes the heap's goal.
    grep -q '^heap ' "$WORK/want" || sed -i '/^heap 0$/d' "$WORK/got"
    # Any of several last values of the heap is valid.
    heap=$(grep '^heap ' "$WORK/got")
    if [ -n "$heap" ] && grep -qx "$heap" "$WORK/want"; then
        { grep -v '^heap ' "$WORK/want"; echo "$heap"; } | sort >"$WORK/want1"
        mv "$WORK/want1" "$WORK/want"
    fi
    same "convert --to $1: the facts" "$WORK/want" "$WORK/got"
}

# engine FILE QUERY...: write the result of the queries to $WORK/complaints and $WORK/rows.
# Compiled in one pass, the engine starts in a fifth of the time; these traces are small.
engine() {
    node --liftoff-only "$TPQ" "$@" >"$WORK/tpq" 2>"$WORK/err" || return 1
    # After each query's rows there is an empty line.
    awk -v one="$WORK/complaints.json" -v two="$WORK/rows.json" \
        'BEGIN { printf "" >one; printf "" >two } /^$/ { n++; next } { print >(n ? two : one) }' \
        "$WORK/tpq"
    jq -r .line "$WORK/complaints.json" >"$WORK/complaints" &&
        jq -r .line "$WORK/rows.json" >"$WORK/rows"
}

check_convert() { # FILE SOUND FORMAT COMPLAINTS FACTS KINDS
    local status wanted=0
    [ "$2" = yes ] || wanted=1
    # Compressed: the engine, like the Perfetto UI, opens it directly.
    # shellcheck disable=SC2086 # options may follow the name
    "$GOTRACE" convert --to $3 -o "$WORK/timeline.gz" "$1" >"$WORK/out" 2>"$WORK/err"
    status=$?
    if [ $status -ne $wanted ]; then
        fail "convert --to $3" "status $status instead of $wanted" "$WORK/err"
        return
    fi
    # The engine takes two seconds for a trace: use only the traces of testdata for the second format.
    if [ "${NO_ENGINE:-}" = 1 ] || [[ $3 = chrome && $TRACE_NAME = fresh/* ]]; then
        ok "convert --to $3"
        return
    elif ! have_engine; then
        skip "convert --to $3, in the engine" "no engine (needs node, $TPQ and $TPQ_HOME/node_modules)"
        return
    fi
    if ! engine "$WORK/timeline.gz" "$4" "$5"; then
        fail "convert --to $3" 'the engine failed' "$WORK/err"
    elif [ -s "$WORK/complaints" ]; then
        fail "convert --to $3" 'the engine complains' "$WORK/complaints"
    else
        ok "convert --to $3"
    fi
    if [ "$2" = yes ] && [ -x "$GOREAD_V1" ]; then
        compare_facts "$3" "$6"
    fi
}

# The timeline of several critical paths: nothing is outside of their time, and no slice is in two stretches of it.
check_paths() { # FILE
    local query='why --region inner --slowest 3' stretches
    [[ $TRACE_NAME = kept/*-user && ${NO_ENGINE:-} != 1 ]] && have_engine || return 0
    # shellcheck disable=SC2086 # words of the command; what jq computes has no variables of the shell
    stretches=$("$GOTRACE" $query --json "$1" | jq -rs '[.[] | select(.kind == "path") | [.begin, .end + 1]] | sort |
        reduce .[] as $path ([]; if length > 0 and $path[0] <= .[-1][1] then .[-1][1] = ([.[-1][1], $path[1]] | max)
            else . + [$path] end) | map("(\(.[0]), \(.[1]))") | join(", ")')
    # shellcheck disable=SC2086
    "$GOTRACE" $query --to perfetto -o "$WORK/timeline.gz" "$1" 2>/dev/null
    if ! engine "$WORK/timeline.gz" "with stretch (first, last) as (values $stretches) $COMPLAINTS
        union all select 'outside of the stretches: ' || name || ' at ' || ts from slice,
            (select min(ts) - (select min(first) from stretch) as zero from slice where category = 'path')
            where not exists (select 1 from stretch where ts >= zero + first and ts + dur <= zero + last)" \
        "select count(*) as line from slice where category is not 'path'"; then
        fail "$query --to perfetto" 'the engine failed' "$WORK/err"
    elif [ -s "$WORK/complaints" ] || [ "$(cat "$WORK/rows")" -lt 10 ]; then
        fail "$query --to perfetto" "$(cat "$WORK/rows") slices" "$WORK/complaints"
    else
        ok "$query --to perfetto"
    fi
}

check_export() { # FILE SOUND
    check_paths "$1"
    awk -f "$CONFORMANCE/expected.awk" "$WORK/go.events" >"$WORK/expected"
    check_convert "$1" "$2" perfetto "$PERFETTO_COMPLAINTS" "$PERFETTO_FACTS" \
        'runs|running|onproc|state|arrows|metric|heap|tasks|regions|logs|gc|samples'
    check_convert "$1" "$2" chrome "$COMPLAINTS" "$CHROME_FACTS" 'runs|running|arrows|heap|gc'
}

# The facts of expected_v2.awk. Slices of no duration are omitted, as there.
IN_PROCS="(select slice.*, track.name as track_name from slice join track on slice.track_id = track.id
    join track as parent on track.parent_id = parent.id where parent.name = 'Procs')"
TIDS="select distinct 'tid ' || thread.tid as line from thread join thread_track using (utid)
        join slice on slice.track_id = thread_track.id"
PERFETTO_FACTS_V2="select line from (
        select 'state ' || cast(substr(track_name, 2) as int) || ' ' ||
            substr(name || ' ', 1, instr(name || ' ', ' ') - 1) || ' ' || sum(dur) as line
        from $STATES where category is null and dur > 0
        group by cast(substr(track_name, 2) as int), substr(name || ' ', 1, instr(name || ' ', ' ')))
    union all select iif(slice.category = 'proc', 'held ', 'alone ') || cast(substr(slice.name, 2) as int) ||
            ' ' || sum(dur)
        from slice join thread_track on slice.track_id = thread_track.id
        where dur > 0 group by slice.category, cast(substr(slice.name, 2) as int)
    union all $TIDS
    union all $ARROWS
    union all $METRICS
    union all select 'last ' || substr(name, 12) || ' ' || cast(value as int) from
        (select replace(name, 'in ', '') as name, value, row_number()
                over (partition by name order by counter.ts desc, counter.id desc) as n
            from counter join counter_track on counter.track_id = counter_track.id
            where name glob 'goroutines *') where n = 1 and value > 0
    union all select 'onproc ' || cast(substr(name, 2) as int) || ' ' || sum(dur)
        from $IN_PROCS where category = 'run' and dur > 0 group by cast(substr(name, 2) as int)
    union all select 'runs ' || substr(track_name, 2) || ' ' || count(*)
        from $IN_PROCS where category = 'run' group by track_name
    union all select * from (select 'heap ' || cast(value as int)
        from counter join counter_track on counter.track_id = counter_track.id
        where counter_track.name = 'heap allocated' order by ts desc, counter.id desc limit 1)
    union all select 'tasks ' || count(*) from slice where category = 'task'
    union all select 'regions ' || count(*) from slice where category = 'region'
    union all select 'logs ' || count(*) from slice where category = 'log'
    union all select 'stw ' || count(*) from slice where name glob 'stop-the-world*'
    union all select 'gc ' || count(*) from slice where name = 'GC'
    union all select 'samples ' || count(*) from perf_sample"

# With --thread-runs.
THREAD_FACTS="select 'thread ' || cast(substr(slice.name, 2) as int) || ' ' || sum(dur) as line
        from slice join thread_track on slice.track_id = thread_track.id
        where slice.category = 'run' and dur > 0 group by cast(substr(slice.name, 2) as int)"

# With --detail: the time of all goroutines in each state, of slices and of what was merged.
DETAIL_FACTS="select 'total ' || state || ' ' || sum(ns) as line from (
        select substr(name || ' ', 1, instr(name || ' ', ' ') - 1) as state, dur as ns from $STATES
            where name glob 'run*' or name glob 'waiting*' or name = 'in syscall'
        union all select replace(replace(replace(key, 'debug.', ''), '_syscall', ''), '_ns', ''), int_value
            from slice join args using (arg_set_id)
            where key in ('debug.running_ns', 'debug.runnable_ns', 'debug.waiting_ns', 'debug.in_syscall_ns'))
    group by state having sum(ns) > 0"

check_export_v2() { # FILE SOUND
    check_paths "$1"
    awk -f "$CONFORMANCE/expected_v2.awk" "$WORK/go.events" >"$WORK/expected"
    awk '/^state / { total[$3] += $4 } END { for (state in total) printf "total %s %.0f\n", state, total[state] }' \
        "$WORK/expected" >"$WORK/totals"
    cat "$WORK/totals" >>"$WORK/expected"
    check_convert "$1" "$2" perfetto "$PERFETTO_COMPLAINTS union all $COUNTS_COMPLAINTS" "$PERFETTO_FACTS_V2" \
        'state|held|alone|tid|arrows|metric|last|onproc|runs|heap|tasks|regions|logs|stw|gc|samples'
    [[ $TRACE_NAME = fresh/* ]] ||
        check_convert "$1" "$2" 'perfetto --thread-runs' "$PERFETTO_COMPLAINTS" "$THREAD_FACTS" thread
    # The unit test of the exporter has --detail for all traces.
    if [[ $TRACE_NAME = kept/*-@(user|syscall|gens|seconds|http|gc) ]]; then
        check_convert "$1" "$2" 'perfetto --detail 50us' "$COMPLAINTS" "$DETAIL_FACTS" total
    fi
    check_convert "$1" "$2" chrome "$COMPLAINTS" "$CHROME_FACTS_V2" 'viewed|heap|stops|gc'
}
