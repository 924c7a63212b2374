#!/usr/bin/env bash
# run.sh [FILE...]: measure gotrace on large traces, and compare with Go's reader if it is installed.
#
#   GOTRACE         the program (default $BUILD/gotrace, build/gotrace)
#   GOTRACE_PEERS   Go toolchains and readers (default $HOME/.cache/gotrace-peers)
#   GOTRACE_BENCH   folder of the large traces (default $HOME/.cache/gotrace-bench); missing ones
#                   are recorded, 110 MiB each (BIG_BYTES): of each toolchain one on a quiet machine
#                   (*-big.trace), and one of a program of many phases while two busy loops per
#                   processor run (*-loaded.trace), as production machines are
#   SETS            which of them to measure (default "big loaded")
#   PARTS           what to measure (default "validate threads stages repair stat tables view cut find perfetto chrome script gen fleet functions record redis
#                   programs");
#                   threads: times with 1, 2 and 4 threads; stages: what validate spends its time on
#                   with one thread, by perf(1); repair: of the v1 traces, cut off at 60 MB,
#                   compared with validate of the same file; fleet: find in 500 traces; functions: memory
#                   for 10^5 start functions; record: the cost of an event of the recorder;
#                   redis: requests to a recorded redis-server, compared with one that is not recorded;
#                   programs: how much longer those of conformance take when they are recorded
#   GEN_EVENTS      events of the traces that gen writes (default 100000000)
#   RUNS            number of runs; the median is reported (default 3)
#
# Exit 1 if a target was missed, or something could not be measured.
set -u
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build}
gotrace=$(realpath -m "${GOTRACE:-$build/gotrace}")
# shellcheck source=testdata/recorders/toolchains.bash
. "$root/testdata/recorders/toolchains.bash"
# shellcheck source=tests/conformance/programs.bash
. "$root/tests/conformance/programs.bash"
store=${GOTRACE_BENCH:-$HOME/.cache/gotrace-bench}
sets=${SETS:-big loaded}
runs=${RUNS:-3}
parts=${PARTS:-validate threads stages repair stat tables view cut find perfetto chrome script gen fleet functions record redis programs}
goread_v2=$peers/bin/goread-v2

work=$(mktemp -d "${TMPDIR:-/var/tmp}/gotrace-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
missed=0

[ -x "$gotrace" ] || { echo "bench: no $gotrace: run make" >&2; exit 1; }
mkdir -p "$build/bench"
"${CC:-cc}" -std=c11 -O2 -Wall -Wextra -D_GNU_SOURCE -o "$build/bench/measure" \
    "$root/bench/measure.c" || exit 1
"${CC:-cc}" -std=c11 -O2 -Wall -Wextra -D_GNU_SOURCE -o "$build/bench/varints" \
    "$root/bench/varints.c" || exit 1

# The recorder: prints figures and targets itself.
bench_record() {
    "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -D_GNU_SOURCE -I"$root/lib" -o "$build/bench/record" \
        "$root/bench/record.c" -L"$build" -lgotrace -Wl,-rpath,"$(realpath "$build")" -lpthread &&
        "$build/bench/record" || missed=$((missed + 1))
    bench_tracers
    echo
}

# other_tracer WHAT COMMAND...: a row with the figure that the command prints, of another tracer.
other_tracer() {
    local what=$1 ns
    shift
    if ns=$("$@" 2>"$work/err"); then
        row "$what, an event" "$ns ns"
    else
        echo "  SKIPPED: $what: $(tail -n 1 "$work/err")"
    fi
}

# The tracers of Go's runtime, whose events have stacks, and LTTng-UST, whose have none.
bench_tracers() {
    local go name
    if command -v gccgo-12 >/dev/null; then
        gccgo-12 -O2 -o "$work/tracer" "$root/bench/tracer.go" && other_tracer gccgo "$work/tracer"
    else
        echo '  SKIPPED: the tracer of gccgo: no gccgo-12'
    fi
    for go in "$peers"/usr/lib/go-1.*/bin/go; do
        [ -x "$go" ] || { echo "  SKIPPED: Go's tracers: no toolchain in $peers"; break; }
        GOCACHE=$work/go GOTOOLCHAIN=local GO111MODULE=off GOFLAGS='' "$go" build -o "$work/tracer" \
            "$root/bench/tracer.go" && name=${go%/bin/go} && other_tracer "Go ${name##*/go-}" "$work/tracer"
    done
    if ! command -v lttng >/dev/null || ! "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -D_GNU_SOURCE -I"$root/bench" \
        -o "$work/lttng" "$root/bench/lttng.c" -llttng-ust 2>/dev/null; then
        echo '  SKIPPED: LTTng-UST: lttng-tools or liblttng-ust-dev is not installed'
        return
    fi
    other_tracer LTTng-UST lttng_session "$work/lttng"
}

# lttng_session COMMAND...: run it while a session of its own keeps its events in memory.
lttng_session() (
    export HOME=$work LTTNG_HOME=$work
    lttng-sessiond --daemonize --no-kernel --pidfile "$work/sessiond.pid" >/dev/null 2>&1 || return
    { lttng create bench --snapshot && lttng enable-event --userspace gotrace_bench:event &&
        lttng start; } >/dev/null && "$@"
    local status=$?
    lttng destroy bench >/dev/null
    kill "$(cat "$work/sessiond.pid")"
    return $status
)

# redis_rate COMMAND...: requests per second to a server that the command runs.
redis_rate() {
    local server i socket=$work/socket
    (cd "$work" && exec "$@" redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no) \
        >/dev/null 2>&1 &
    server=$!
    for ((i = 0; i < 100; i++)); do
        ! redis-cli -s "$socket" ping >/dev/null 2>&1 || break
        sleep 0.1
    done
    timeout 300 redis-benchmark -s "$socket" -t get -n "${REDIS_REQUESTS:-100000}" --csv 2>/dev/null |
        sed -n 's/^"GET","\([0-9.]*\)".*/\1/p'
    redis-cli -s "$socket" shutdown nosave >/dev/null 2>&1 || kill $server
    wait $server
}

# `gotrace record` of redis-server, by turns: the median of the rounds' requests per second, and of how much
# fewer they are than without it in the same round.
bench_redis() {
    local round mode rounds=$((runs < 5 ? 5 : runs)) slower target=5
    { command -v redis-benchmark && command -v redis-server; } >/dev/null ||
        { echo '  SKIPPED: record of redis-server: it is not installed'; return; }
    for ((round = 0; round < rounds; round++)); do
        redis_rate env
        redis_rate "$gotrace" record --no-stacks -o "$work/redis.trace" --
        redis_rate "$gotrace" record -o "$work/redis.trace" --
    done | paste - - - | awk '{ print $0, 100 - 100 * $2 / $1, 100 - 100 * $3 / $1 }' >"$work/rates"
    row 'redis-server' "$(calc '%.0f /s' "$(middle 1 "$work/rates")")"
    for mode in no-stacks stacks; do
        slower=$(middle $((target == 5 ? 4 : 5)) "$work/rates")
        row "slower with --$mode" "$(calc '%.1f %%' "$slower")" "<= $target %" "$slower <= $target"
        target=10
    done
    rm -f "$work/redis.trace"
    echo
}

# seconds_of COMMAND...
seconds_of() {
    local begin=$EPOCHREALTIME
    "$@" >/dev/null 2>&1
    calc '%.4f' "$EPOCHREALTIME - $begin"
}
# The programs of conformance, each by turns without `gotrace record`, and with it without and with stacks: medians of the
# rounds' seconds, and of how many more they are than without it in the same round. After a recording the kernel takes up to
# 40 ms to forget that it reported wakings, for which the next one would wait.
bench_programs() (
    local program command round rounds=$((runs < 5 ? 5 : runs))
    cd "$work" && prepare_programs || return
    for program in "${PROGRAMS[@]}"; do
        IFS='|' read -r _ command _ <<<"$program"
        if ! command -v "${command%% *}" >/dev/null; then
            echo "  SKIPPED: record of ${command%% *}: it is not installed"
            continue
        fi
        for ((round = 0; round < rounds; round++)); do
            seconds_of bash -c "exec $command"
            echo
            seconds_of "$gotrace" record -q --no-stacks -o programs.trace -- bash -c "exec $command"
            echo
            sleep 0.1
            seconds_of "$gotrace" record -q -o programs.trace -- bash -c "exec $command"
            echo
            sleep 0.1
        done | paste - - - | awk '{ print $0, $2 - $1, $3 - $1 }' >seconds
        row "$(basename "${command%% *}")" "$(middle 1 seconds) s" \
            "+$(calc '%.3f' "$(middle 4 seconds)") s, with stacks +$(calc '%.3f' "$(middle 5 seconds)") s"
    done
    echo
)

record_missing() {
    local toolchain set
    for toolchain in gccgo go1.19 go1.21 go1.22 go1.27; do
        for set in $sets; do
            [ ! -s "$store/$toolchain-$set.trace" ] || continue
            if has_toolchain $toolchain; then
                GOTRACE_PEERS=$peers "$root/testdata/recorders/record.sh" "--$set" "$store" $toolchain
            else
                echo "bench: SKIPPED: no trace of $toolchain, and no $toolchain to record one with" >&2
            fi
        done
    done
}

# Uses most of the free memory once. A virtual machine may get each page from its host when the page is first used,
# at 0.4 us/KiB: a new file of 1 GB then takes 1.5 s of processor time in one run and 0.2 s in the next.
warm_memory() {
    local bytes
    grep -qw hypervisor /proc/cpuinfo && ! grep -qsv max /sys/fs/cgroup/memory.max || return 0
    bytes=$(awk '$1 == "MemAvailable:" { printf "%.0f", $2 * 1024 * 0.75 }' /proc/meminfo)
    head -c "$bytes" /dev/zero | tail -c "$bytes" >/dev/null
}

# fresh: forget the runs so far.
fresh() {
    : >"$work/runs"
    seconds='' cpu='' kib=0
}

# middle FIELD FILE: the median of a column.
middle() {
    sort -g -k "$1,$1" "$2" | awk -v field="$1" '{ v[NR] = $field } END { print v[int((NR + 1) / 2)] }'
}

# once OUTPUT COMMAND...: run it, and set seconds and cpu to the medians since fresh, and kib to the
# maximum. Its standard error is appended to $work/err.
once() {
    local output=$1 s c k status
    shift
    "$build/bench/measure" "$work/report" "$@" >"$output" 2>>"$work/err"
    status=$?
    if [ $status -ne "${expected:-0}" ]; then
        echo "bench: status $status: $*" >&2
        tail -n 5 "$work/err" >&2
        missed=$((missed + 1))
        return 1
    fi
    read -r s c k <"$work/report"
    echo "$s $c" >>"$work/runs"
    seconds=$(middle 1 "$work/runs")
    cpu=$(middle 2 "$work/runs")
    [ "$k" -le "$kib" ] || kib=$k
}

# repeated OUTPUT COMMAND...: run it $runs times.
repeated() {
    local run
    fresh
    : >"$work/err"
    for ((run = 0; run < runs; run++)); do
        once "$@" || return 1
    done
}

# The version N of a trace "go 1.N trace".
version_of() { head -c 16 "$1" | tr -d '\0' | sed -n 's/^go 1\.\([0-9]*\) trace$/\1/p'; }

calc() { awk "BEGIN { printf \"$1\", $2 }"; }

# row WHAT FIGURE [TARGET [CONDITION]]: print a line of the table; with a condition, check the target.
row() {
    local verdict=
    if [ $# -gt 3 ]; then
        if awk "BEGIN { exit !($4) }"; then
            verdict='met'
        else
            verdict='MISSED'
            missed=$((missed + 1))
        fi
    fi
    printf '  %-34s %16s   %-22s %s\n' "$1" "$2" "${3:-}" "$verdict"
}

memory_row() { # WHAT LIMIT-MIB
    row "$1, peak memory" "$(calc '%.1f MiB' "$kib / 1024")" "< $2 MiB" "$kib < $2 * 1024"
}

# compare WHAT TIMES FILE COMMAND...: run the command and Go's reader by turns, so that other load
# affects both equally. The command must be TIMES as fast as Go's reader only reads.
compare() {
    local what=$1 times=$2 file=$3 own go most=0 run
    shift 3
    if [ ! -x "$goread_v2" ]; then
        echo "  SKIPPED: the comparison with goread-v2: no $goread_v2"
        return
    fi
    : >"$work/err"
    : >"$work/own"
    for ((run = 0; run < runs; run++)); do
        fresh
        once /dev/null "$@" || return
        cat "$work/runs" >>"$work/own"
        fresh
        once /dev/null "$goread_v2" "$file" || return
        [ "$kib" -le "$most" ] || most=$kib
    done
    # Its own figure, which excludes starting and reading the file.
    sed -n 's/.*seconds=//p' "$work/err" >"$work/runs"
    go=$(middle 1 "$work/runs")
    own=$(middle 1 "$work/own")
    row 'goread-v2, seconds=' "$go s"
    row 'goread-v2, peak memory' "$(calc '%.0f MiB' "$most / 1024")"
    row "$what, by turns" "$own s"
    row "$what : goread-v2" "$(calc '1/%.1f' "$go / $own")" "<= 1/$times" "$own * $times <= $go"
}

# Goals: 16 times the speed of Go's reader for v1, which it converts first, and 8 times for v2.
bench_validate() { # FILE SIZE
    local times=16
    [ "$(version_of "$1")" -lt 22 ] || times=8
    repeated /dev/null "$gotrace" validate "$1" || return
    row 'validate, time' "$seconds s"
    row 'validate, processor time' "$cpu s"
    row 'validate, speed' "$(calc '%.0f MB/s' "$2 / 1e6 / $seconds")"
    memory_row validate 64
    compare validate "$times" "$1" "$gotrace" validate "$1"
}

# per_event WHAT SIZE EVENTS [ONE]: a row with the time since fresh; ONE: the time of one thread.
per_event() {
    row "$1" "$(calc '%.1f ns/event' "$seconds * 1e9 / $3")" \
        "$(calc '%.0f MB/s' "$2 / 1e6 / $seconds")${4:+$(calc ', %.2f times' "$4 / $seconds")}"
}

# The time with different numbers of threads, and two limits of it: reading the bytes, and decoding
# them as varints. More threads than one must not lose: not more than 1.25 times the processor time, nor
# 1.02 times the time.
bench_threads() { # FILE SIZE EVENTS
    local threads one used verb
    repeated /dev/null cat "$1" || return
    per_event 'limit: cat' "$2" "$3"
    repeated /dev/null "$build/bench/varints" "$1" || return
    per_event 'limit: decode all as varints' "$2" "$3"
    # What the file system does with a gigabyte depends on the gigabytes before, not on the threads.
    for verb in 'validate' 'convert --to perfetto -o /dev/null'; do
        for threads in 1 2 4 8; do
            # shellcheck disable=SC2086 # the verb's words
            repeated /dev/null "$gotrace" $verb -j $threads "$1" || return
            [ $threads -ne 1 ] || one=$seconds used=$cpu
            per_event "${verb% -o*} -j $threads" "$2" "$3" "$one"
            [ $threads -eq 1 ] || row '  processor time, time : -j 1' \
                "$(calc '%.2f, %.2f' "$cpu / $used, $seconds / $one")" '<= 1.25, <= 1.02' \
                "$cpu <= 1.25 * $used && $seconds <= 1.02 * $one"
        done
    done
}

# The stage of each function of the library, by the source file that it is in: lines "FUNCTION STAGE".
function_stages() {
    local object stage
    while read -r object; do
        case ${object#"$build/obj/lib/"} in
        read/v?/cursor.o) stage=decode ;;
        read/v?/order.o | read/waits.o) stage=order ;;
        read/v?/index.o | read/v?/tables.o | read/tables.o) stage=index ;;
        read/v?/times.o | read/v?/model.o) stage=convert ;;
        read/* | core/map.o) stage=check ;;
        *) stage='read' ;;
        esac
        nm --defined-only "$object" | awk -v stage="$stage" '$2 ~ /^[tT]$/ { sub(/[.].*/, "", $3); print $3, stage }'
    done < <(find "$build/obj/lib" -name '*.o' | sort)
}

# The processor time of validate with one thread by stage; the system reads the file.
bench_stages() { # FILE EVENTS
    local stage share
    if ! perf record -q -o "$work/perf" "$gotrace" validate -q -j 1 "$1" >/dev/null 2>&1; then
        echo '  SKIPPED: times by stage: perf(1) is not installed, or not permitted'
        return
    fi
    repeated /dev/null "$gotrace" validate -q -j 1 "$1" || return
    function_stages >"$work/stages"
    perf report -i "$work/perf" --stdio -q --sort symbol 2>/dev/null |
        awk 'NR == FNR { stage[$1] = $2; next }
            $1 + 0 > 0 {
                name = $3
                sub(/[.].*/, "", name)
                share[$2 == "[k]" || !(name in stage) ? "read" : stage[name]] += $1
            }
            END { for (s in share) print s, share[s] }' "$work/stages" - | sort >"$work/shares"
    while read -r stage share; do
        row "stage: $stage" "$(calc '%.1f ns/event' "$cpu * 1e9 / $2 * $share / 100")" "$(calc '%.0f %%' "$share")"
    done <"$work/shares"
}

# Repair takes at most 8 times as long as validate finds out what is wrong, and 128 MiB.
bench_repair() { # FILE
    local expected=1 validate
    head -c 60000000 "$1" >"$work/cut"
    repeated /dev/null "$gotrace" validate -q --no-recover "$work/cut" || return
    validate=$seconds
    row 'validate, cut at 60 MB, time' "$validate s"
    repeated /dev/null "$gotrace" repair -o "$work/repaired" "$work/cut" || return
    row 'repair of that, time' "$seconds s" '<= 8 times validate' "$seconds <= 8 * $validate"
    row 'repair : validate' "$(calc '%.1f' "$seconds / $validate")"
    memory_row 'repair of that' 128
    expected=0
    once /dev/null "$gotrace" validate "$work/repaired"
    rm -f "$work/cut" "$work/repaired"
}

# go_trace VERSION: the path of `go tool trace` of the Go version that reads such a trace.
go_trace() {
    local built=$build/bench/go-tool-trace go=$peers/usr/lib/go-1.27/bin/go
    if [ "$1" -lt 22 ]; then
        printf '%s\n' "$peers"/usr/lib/go-1.21/pkg/tool/linux_*/trace
        return
    fi
    [ -x "$built" ] || [ ! -x "$go" ] ||
        GOCACHE=$work/gocache GOTOOLCHAIN=local GOFLAGS='' GOPROXY=off "$go" build -trimpath -o "$built" cmd/trace
    echo "$built"
}

# Compared with validate, with the same number of threads, and with the profile that Go's tool makes.
bench_stat() { # FILE
    local validate command ratio tool
    repeated /dev/null "$gotrace" validate -q "$1" || return
    validate=$seconds
    for command in stat diagnose 'why --goroutine 1' 'convert --to pprof --profile sched' 'convert --to folded' \
        'convert --to html'; do
        # shellcheck disable=SC2086 # words
        repeated /dev/null "$gotrace" $command -o "$work/out" "$1" || return
        row "${command#convert --to }, time" "$seconds s"
        ratio=$(calc '%.1f' "$seconds / $validate")
        row "${command#convert --to } : validate" "$ratio" '<= 2' "$ratio <= 2"
        memory_row "${command#convert --to }" 64
    done
    rm -f "$work/out"
    tool=$(go_trace "$(version_of "$1")")
    if [ ! -x "$tool" ]; then
        echo "  SKIPPED: go tool trace: no $tool"
        return
    fi
    fresh
    once /dev/null "$tool" -pprof=sched "$1" || return
    row 'go tool trace -pprof=sched, time' "$seconds s"
    row 'go tool trace -pprof, peak memory' "$(calc '%.1f MiB' "$kib / 1024")"
}

# The server of `view`, while two clients pan; view.py prints what is read here.
bench_view() { # FILE
    local validate name count half most _
    repeated /dev/null "$gotrace" validate -q "$1" || return
    validate=$seconds
    if ! "$root/bench/view.py" "$gotrace" "$1" >"$work/view"; then
        echo 'bench: view failed' >&2
        missed=$((missed + 1))
        return
    fi
    while read -r name count half most _; do
        case $name in
        first) row 'view, first picture' "$count s" '< 1 s' "$count < 1" ;;
        complete)
            row 'view, index' "$count s"
            row 'view, index : validate' "$(calc '%.1f' "$count / $validate")" '<= 3' "$count <= 3 * $validate"
            ;;
        memory) kib=$count && memory_row view 128 ;;
        file) row 'view, temporary file' "$(calc '%.2f' "$count / $(stat -c %s "$1")") byte/byte" ;;
        *) row "view, $count of $name, p50, p99" "$half, $most ms" '< 50 ms' "$most < 50" ;;
        esac
    done <"$work/view"
}

# A tenth of the trace, compared with validate by one thread, which reads all of it.
bench_cut() { # FILE
    local validate command ratio
    repeated /dev/null "$gotrace" validate -q -j 1 "$1" || return
    validate=$seconds
    for command in '--from 100ms --until 200ms' '--goroutine 1-20'; do
        # shellcheck disable=SC2086 # words
        repeated /dev/null "$gotrace" cut $command -o "$work/out" "$1" || return
        ratio=$(calc '%.1f' "$seconds / $validate")
        row "cut $command, time" "$seconds s"
        row "cut $command : validate" "$ratio" '<= 3' "$ratio <= 3"
        memory_row "cut $command" 64
    done
    rm -f "$work/out"
}

# Kinds of moments, compared with validate; with one thread, as each of many files has.
bench_find() { # FILE
    local expected=0 validate expression ratio
    repeated /dev/null "$gotrace" validate -q -j 1 "$1" || return
    validate=$cpu
    expected=1
    for expression in 'stw > 1000s' 'log ~ "no such text"' 'sched > 1000s' 'wait(sync) > 1000s' 'syscall > 1000s' 'run > 1000s'; do
        repeated /dev/null "$gotrace" find -q -j 1 "$expression" "$1" || return
        ratio=$(calc '%.2f' "$cpu / $validate")
        row "find '$expression' : validate" "$ratio" '<= 2' "$ratio <= 2"
    done
    memory_row find 64
}

# 500 traces of 1 MB, ten different ones, by turns with one thread and with two.
bench_fleet() {
    local i run one two speedup
    mkdir "$work/fleet"
    for ((i = 0; i < 10; i++)); do
        "$gotrace" gen --go 1.$((i % 2 ? 21 : 26)) --events 200000 --seed "$i" -o "$work/fleet/$i.trace" || return
    done
    for ((i = 10; i < 500; i++)); do
        ln "$work/fleet/$((i % 10)).trace" "$work/fleet/$i.trace"
    done
    echo 'find in 500 traces of 1 MB'
    : >"$work/err"
    : >"$work/one"
    : >"$work/two"
    for ((run = 0; run < runs; run++)); do
        fresh
        once /dev/null "$gotrace" find --count -j 1 'sched' "$work/fleet"/*.trace || return
        cat "$work/runs" >>"$work/one"
        fresh
        once /dev/null "$gotrace" find --count -j 2 'sched' "$work/fleet"/*.trace || return
        cat "$work/runs" >>"$work/two"
    done
    one=$(middle 1 "$work/one")
    two=$(middle 1 "$work/two")
    row 'find -j 1' "$one s"
    row 'find -j 2' "$two s"
    speedup=$(calc '%.2f' "$one / $two")
    row 'speed-up' "$speedup" '>= 1.8' "$speedup >= 1.8"
    memory_row 'find -j 2' 64
    rm -r "$work/fleet"
    echo
}

# A trace of 10^5 goroutines, each with a start function and two stacks of its own.
bench_functions() {
    local format
    python3 "$root/tests/scale/traps.py" v2-functions 400000 >"$work/functions.trace" || return
    echo 'a trace of 10^5 start functions'
    repeated /dev/null "$gotrace" stat -q -j 2 "$work/functions.trace" || return
    memory_row stat 104
    for format in perfetto folded; do
        repeated /dev/null "$gotrace" convert -q --to "$format" -j 2 -o "$work/out" "$work/functions.trace" || return
        memory_row "convert --to $format" 88
    done
    rm -f "$work/out" "$work/functions.trace"
    echo
}

# Compared with a timeline, and with the compressed trace.
bench_tables() { # FILE
    local timeline ratio bytes packed
    repeated /dev/null "$gotrace" convert -q --to perfetto -o "$work/out" "$1" || return
    timeline=$seconds
    rm -f "$work/out"
    repeated /dev/null "$gotrace" convert -q --to parquet -o "$work/tables" "$1" || return
    row 'parquet, time' "$seconds s"
    ratio=$(calc '%.1f' "$seconds / $timeline")
    row 'parquet : perfetto' "$ratio" '<= 1.5' "$ratio <= 1.5"
    memory_row parquet 96
    bytes=$(cat "$work"/tables/* | wc -c)
    packed=$(zstd -qc "$1" | wc -c)
    ratio=$(calc '%.1f' "$bytes / $packed")
    row 'parquet : zstd-compressed trace' "$ratio" '<= 1.5' "$ratio <= 1.5"
    rm -rf "$work/tables"
}

bench_convert() { # FILE SIZE FORMAT-AND-OPTIONS LIMIT-MIB BYTES-PER-BYTE
    local bytes
    # shellcheck disable=SC2086 # options may follow the format
    repeated /dev/null "$gotrace" convert --to $3 -o "$work/out" "$1" || return
    bytes=$(stat -c %s "$work/out")
    rm -f "$work/out"
    row "--to $3, time" "$seconds s"
    row "--to $3, processor time" "$cpu s"
    memory_row "--to $3" "$4"
    if [ -n "$5" ]; then
        row 'output per byte of input' "$(calc '%.1f' "$bytes / $2")" "< $5" "$bytes < $5 * $2"
    else
        row 'output per byte of input' "$(calc '%.1f' "$bytes / $2")"
    fi
}

# Goals: 5 times (v1) and 2 times (v2) the speed at which Go's reader only reads.
bench_perfetto() { # FILE SIZE
    local times=5
    [ "$(version_of "$1")" -lt 22 ] || times=2
    bench_convert "$1" "$2" perfetto 64 "$([[ $1 = *-loaded.trace ]] || echo 8)" || return
    # So a trace of 110 MB is below what the viewer loads (formats/perfetto/perfetto.c).
    bench_convert "$1" "$2" 'perfetto --detail 100us' 64 3.2 || return
    compare 'convert --to perfetto' "$times" "$1" "$gotrace" convert --to perfetto -o "$work/out" "$1"
    rm -f "$work/out"
}

bench_script() { # FILE SIZE FORMAT EVENTS
    repeated "$work/script" "$gotrace" dump --format "$3" "$1" || return
    row "dump --format $3" "$(calc '%.0f MB/s' "$2 / 1e6 / $seconds")"
    repeated "$work/again" "$gotrace" synth "$work/script" || return
    row "synth of that" "$(calc '%.0f MB/s' "$2 / 1e6 / $seconds")"
    if [ "$3" = cbor ]; then
        row 'synth, speed' "$(calc '%.1f M events/s' "$4 / 1e6 / $seconds")" '> 5 M events/s' \
            "$4 > 5e6 * $seconds"
    fi
    memory_row synth 64
    if ! cmp -s "$1" "$work/again"; then
        echo '  MISSED: what synth wrote is not the same trace'
        missed=$((missed + 1))
    fi
    rm -f "$work/script" "$work/again"
}

# A script far larger than the memory limit: 10^8 events, as a sequence of CBOR.
bench_long_script() {
    {
        printf '\241\145trace\147go 1.19'
        awk 'BEGIN { for (i = 0; i < 100000000; i++) printf "\202\017\001" }'
    } >"$work/script"
    repeated /dev/null "$gotrace" synth -o "$work/again" "$work/script" || return
    row 'synth of 10^8 events in CBOR' "$(calc '%.1f M events/s' "100 / $seconds")" \
        '> 5 M events/s' "100 > 5 * $seconds"
    memory_row 'the same' 64
    rm -f "$work/script" "$work/again"
    echo
}

# Synthetic traces, measured for the first and the last version: one of each format.
bench_gen() {
    local version events=${GEN_EVENTS:-100000000}
    echo "gen: $(calc '%.1f M events' "$events / 1e6")"
    for version in 1.21 1.26; do
        repeated /dev/null "$gotrace" gen --go $version --events "$events" || continue
        row "gen --go $version" "$(calc '%.1f M events/s' "$events / 1e6 / $seconds")" \
            '> 20 M events/s' "$events > 20e6 * $seconds"
        memory_row "gen --go $version" 64
    done
    echo
}

bench_file() {
    local size events part
    size=$(stat -c %s "$1")
    events=$("$gotrace" info --json "$1" | grep -o '"events":[0-9]*' | sed -n '1s/.*://p')
    echo "$(basename "$1"): $(calc '%.1f MB' "$size / 1e6"), $(calc '%.1f M events' "${events:-0} / 1e6")"
    for part in $parts; do
        case $part in
        validate) bench_validate "$1" "$size" ;;
        repair) [ "$(version_of "$1")" -ge 22 ] || bench_repair "$1" ;;
        stat) bench_stat "$1" ;;
        tables) bench_tables "$1" ;;
        view) bench_view "$1" ;;
        cut) bench_cut "$1" ;;
        find) bench_find "$1" ;;
        threads) bench_threads "$1" "$size" "${events:-1}" ;;
        stages) bench_stages "$1" "${events:-1}" ;;
        perfetto) bench_perfetto "$1" "$size" ;;
        chrome) bench_convert "$1" "$size" chrome 64 '' ;;
        script)
            bench_script "$1" "$size" text
            bench_script "$1" "$size" json
            bench_script "$1" "$size" jsonl
            bench_script "$1" "$size" cbor "${events:-0}"
            ;;
        esac
    done
    echo
}

if [ $# -eq 0 ] && ! [[ $parts =~ ^(gen|fleet|functions|record|redis|programs)$ ]]; then
    record_missing
    for set in $sets; do
        for file in "$store"/*-"$set".trace; do
            [ ! -s "$file" ] || set -- "$@" "$file"
        done
    done
fi
if [ $# -eq 0 ] && ! [[ " $parts " =~ \ (gen|fleet|functions|record|redis|programs)\  ]]; then
    echo "bench: nothing to measure: no traces in $store, and no toolchain in $peers to record them"
    exit 0
fi

[[ ! " $parts " =~ \ (threads|stat|repair|tables|cut|perfetto|chrome|script)\  ]] || warm_memory
echo "speeds are bytes of trace a second, times the median of $runs, memory the most of $runs"
read -r load _ </proc/loadavg
echo "load of the machine at the start: $load on $(nproc) processors"
printf '  %-34s %16s   %-22s\n' what figure target
[[ " $parts " != *' script '* ]] || bench_long_script
for file; do
    bench_file "$file"
done
[[ " $parts " != *" gen "* ]] || bench_gen
[[ " $parts " != *" fleet "* ]] || bench_fleet
[[ " $parts " != *" functions "* ]] || bench_functions
[[ " $parts " != *" record "* ]] || bench_record
[[ " $parts " != *" redis "* ]] || bench_redis
[[ " $parts " != *" programs "* ]] || bench_programs
echo "$missed targets missed"
[ "$missed" -eq 0 ]
