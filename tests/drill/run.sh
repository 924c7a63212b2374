#!/usr/bin/env bash
# The drill: adds an invented event of v2, an invented range, two columns of figures and a format to a copy of the tree, in
# the places that CONTRIBUTING names, builds the copy with AddressSanitizer, and checks that every verb handles
# them. The event is GoHandoff: the running goroutine yields, and another runnable one runs in its place. The range
# is a stack scan, of a goroutine. The columns are the time in long waits for a proc, and a percentile. The
# format is a graph of which goroutine created which. Not part of
# `make check`, because it builds everything; `.ci/run` includes it.
#
#   tests/drill/run.sh       KEEP=DIR leaves the copy and all files there
set -u
cd "$(dirname "$0")/../.." || exit 1
drill=$PWD/tests/drill
# shellcheck source=tests/checks.bash
. tests/checks.bash
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR
if [ -n "${KEEP:-}" ]; then
    trap 'mkdir -p "$KEEP" && cp -r "$work/." "$KEEP"; rm -rf "$work"' EXIT
fi

# ---- the copy ----

# Everything except build and git.
mkdir "$work/tree" &&
    tar -c --exclude=./build --exclude=./.git --exclude=./fuzz/corpus . | tar -x -C "$work/tree" || exit 1
cd "$work/tree" || exit 1

add_event() {
    python3 "$drill/add_event.py" >"$work/places" && mkdir -p build && make -s codes
}

in_three_places() {
    cat "$work/places"
    [ "$(wc -l <"$work/places")" -le 3 ]
}

add_range() {
    python3 "$drill/add_range.py" >"$work/rows" && make -s codes
}

# Without a case for the range nothing compiles that has one for each of the others.
compiler_names_switches() {
    local made=$work/switches objects
    mapfile -t objects < <(grep -rl --include=*.c GOTRACE_RANGE_ lib formats cmd | sed "s|\(.*\)\.c\$|$made/obj/\1.o|")
    ! make -s -k BUILD="$made" CFLAGS=-fsyntax-only "${objects[@]}" >"$made.log" 2>&1 || return
    cat "$made.log"
    ! grep -E 'error:|warning:' "$made.log" | grep -v 'GOTRACE_RANGE_STACK_SCAN.*-Werror=switch' &&
        python3 "$drill/add_range.py" switches <"$made.log" >"$work/switches.named"
}

# Two tables, and the readers, the writers, conversion, statistics and two timelines.
in_ten_places() {
    sort -u "$work/rows" "$work/switches.named" | tee "$work/range_places"
    [ "$(wc -l <"$work/rows")" -eq 2 ] && [ "$(wc -l <"$work/range_places")" -le 10 ]
}

add_columns() {
    python3 "$drill/add_column.py" >"$work/column_places"
}

# A table, and where the time is computed; a list, and its declaration.
in_two_places() {
    cat "$1"
    [ "$(wc -l <"$1")" -le 2 ]
}

add_format() {
    python3 "$drill/add_format.py" >"$work/format_places"
}

quiet_build() {
    make -s "-j$(nproc)" SANITIZE=address,undefined CFLAGS=-O1 >"$work/build.log" 2>&1 && [ ! -s "$work/build.log" ] && return
    cat "$work/build.log"
    return 1
}

# Without the program there is nothing to check.
check 'the event is added' add_event
[ "$failed" -eq 0 ] && check 'it takes at most three places' in_three_places
[ "$failed" -eq 0 ] && check 'the range is added' add_range
[ "$failed" -eq 0 ] && check 'the compiler names what handles ranges one by one' compiler_names_switches
[ "$failed" -eq 0 ] && check 'it takes at most ten places' in_ten_places
[ "$failed" -eq 0 ] && check 'the columns are added' add_columns
[ "$failed" -eq 0 ] && check 'it takes at most two places' in_two_places "$work/column_places"
[ "$failed" -eq 0 ] && check 'the format is added' add_format
[ "$failed" -eq 0 ] && check 'it takes at most two places outside of its folder' in_two_places "$work/format_places"
[ "$failed" -eq 0 ] && check 'the tree builds without a message' quiet_build
if [ "$failed" -gt 0 ]; then
    end_checks
    exit 1
fi
PATH=$work/tree/build:$PATH
export LD_LIBRARY_PATH=$work/tree/build

# ---- a trace with the event ----------

cd "$work" || exit 1
has_event() { gotrace print "$1" | grep -q ' GoHandoff '; }

# transitions TRACE: the transitions of goroutines, without times and without the initial ones.
transitions() {
    gotrace print -q --format jsonl "$1" | python3 -c '
import json
import sys
for line in sys.stdin:
    event = json.loads(line)
    if event.get("resource") == "goroutine" and not event.get("initial"):
        print(event["subject"], event["from"], event["to"])'
}

synth() {
    gotrace synth -o h.trace "$drill/handoff.script" && gotrace validate h.trace && has_event h.trace
}

# The event is two transitions: its goroutine yields, the one that it names starts.
prints_transitions() {
    gotrace print h.trace | grep -A 1 GoHandoff >h.text
    cat h.text
    [ "$(grep -c 'GoHandoff  *G[0-9] running -> runnable$' h.text)" = 6 ] &&
        [ "$(grep -c 'GoStart  *G[0-9] runnable -> running$' h.text)" = 6 ]
}

raw_round_trip() {
    gotrace dump -o raw.script h.trace && gotrace synth -o raw.trace raw.script && cmp h.trace raw.trace
}

meaning_round_trip() {
    gotrace dump --level meaning -o meaning.script h.trace &&
        gotrace synth -o meaning.trace meaning.script || return
    [ "$(grep -c '^GoHandoff' meaning.script)" = 6 ] || return
    gotrace print h.trace | sed 1d >h.all
    gotrace print meaning.trace | sed 1d | diff h.all -
}

# converts VERSION: the same transitions; nothing is left out except other events that the version lacks.
converts() {
    local made=$work/to-$1.trace
    gotrace convert --to "go$1" -o "$made" h.trace 2>"$made.notes" || return
    cat "$made.notes"
    grep -v -e "readings of the system's clocks" -e "stacks' functions" "$made.notes" && return 1
    gotrace validate "$made" || return
    case $1 in
    1.26) has_event "$made" || return ;;
    *) ! has_event "$made" || return ;;
    esac
    transitions h.trace >h.transitions
    # v1 has events for the initial state.
    transitions "$made" | tail -n "$(wc -l <h.transitions)" | diff h.transitions -
}

# Timelines show it like the two events that an older version has instead: tests/facts/README.md.
same_timeline() {
    local name view
    gotrace convert -q --to go1.25 -o older.trace h.trace || return
    for name in h older; do
        rm -f "$name".*.json "$name.pftrace"
        if [ "$1" = perfetto ]; then
            gotrace convert -q --to perfetto -o "$name.pftrace" "$name.trace" || return
        else
            for view in proc goroutine thread; do
                gotrace convert -q --to chrome --by $view -o "$name.$view.json" "$name.trace" || return
            done
        fi
        python3 tree/tests/facts/facts.py . "$name" || return
    done
    grep -q "slices: [1-9]" h.facts && diff h.facts older.facts
}

# repairs EDIT: the trace with one of its records edited, and repaired.
repairs() {
    gotrace dump h.trace | sed "$1" | gotrace synth -q -o damaged.trace || return
    gotrace validate -q damaged.trace 2>/dev/null && echo 'the damaged trace is sound' && return 1
    gotrace repair -o repaired.trace damaged.trace
    gotrace validate repaired.trace || return
    # One or two events do not fit.
    [ "$(gotrace print repaired.trace | grep -c ' GoHandoff ')" -ge 4 ]
}

generates() {
    gotrace gen --cover --go 1.26 --seed 5 -o gen.trace && gotrace validate gen.trace &&
        has_event gen.trace && gotrace convert -q --to go1.21 -o gen-21.trace gen.trace &&
        gotrace validate gen-21.trace
}

check 'synth, validate' synth
check 'print' prints_transitions
check 'dump | synth, level raw' raw_round_trip
check 'dump | synth, level meaning' meaning_round_trip
for version in 1.26 1.25 1.22 1.21 1.11 1.5; do
    check "convert to go$version" converts $version
done
check 'convert to perfetto' same_timeline perfetto
check 'convert to chrome' same_timeline chrome
check 'repair of a wrong goroutine' repairs 's/^\(GoHandoff .*\) g=1 /\1 g=99 /'
check 'repair of a wrong sequence number' repairs 's/^\(GoHandoff .*g=7 g_seq=\)2/\17/'
check 'repair of a lost record' repairs '/^GoHandoff .* g=7 g_seq=2/d'
check 'gen --cover' generates

# ---- a trace with the range ----------

# ranges TRACE: what print says of it, without times and places.
ranges() {
    gotrace print -q "$1" | sed -n 's/.* \(G[78]\)  *StackScan[A-Za-z]*  *\(stack scan.*\)/\1 \2/p'
}

prints_range() {
    gotrace synth -o s.trace "$drill/scan.script" && gotrace validate s.trace || return
    ranges s.trace | diff - <(printf 'G%s\n' '7 stack scan begins at main.worker' '8 stack scan begins at main.other' \
        '7 stack scan ends' '8 stack scan ends') || return
    gotrace print --format jsonl s.trace >s.jsonl && gotrace print --format go s.trace >s.go || return
    [ "$(grep -c '"range":"stack scan","resource":"goroutine","subject":7' s.jsonl)" = 2 ] &&
        [ "$(grep -c 'Name="GC stack scan" Scope=Goroutine(8)' s.go)" = 2 ]
}

range_round_trip() {
    local level
    for level in raw meaning; do
        gotrace dump --level $level -o s.script s.trace && gotrace synth -o again.trace s.script || return
        gotrace print s.trace | sed 1d >s.all
        gotrace print again.trace | sed 1d | diff s.all - || return
    done
}

# The part begins while both scans are active.
cuts_range() {
    gotrace cut -q --from 2500ns -o part.trace s.trace && gotrace validate part.trace || return
    ranges part.trace | sort | diff - <(printf 'G%s\n' '7 stack scan begins' '7 stack scan ends' '8 stack scan begins' \
        '8 stack scan ends') || return
    gotrace cut -q --goroutine 8 -o part.trace s.trace && gotrace validate part.trace || return
    ranges part.trace | diff - <(printf 'G8 stack scan %s\n' 'begins at main.other' ends)
}

rows_of_range() {
    gotrace convert -q --to parquet -o s.tables s.trace || return
    python3 tree/tests/cli/parquet.py rows s.tables/ranges.parquet name g duration_ns | tee s.rows
    diff s.rows - <<'END'
{"name": "stack scan", "g": 7, "duration_ns": 2000}
{"name": "stack scan", "g": 8, "duration_ns": 3000}
END
}

leaves_range_out() {
    gotrace convert --to "go$1" -o older.trace s.trace 2>older.notes || return
    cat older.notes
    grep -q 'StackScanBegin: 2 left out' older.notes && gotrace validate older.trace
}

# No index runs past an array: the program would end with the sanitizer's status.
others_accept_range() {
    local format
    for format in perfetto chrome; do
        gotrace convert -q --to $format -o s.$format s.trace || return
    done
    gotrace find 'gc > 0ms or stw > 0ms' s.trace
    [ $? -eq 1 ] && gotrace convert -q --to html -o s.html s.trace && gotrace stat s.trace &&
        gotrace anonymize -q -o s.anonymous s.trace && gotrace validate s.anonymous &&
        gotrace repair -q -o s.repaired s.trace && ranges s.repaired | diff <(ranges s.trace) -
}

check 'synth, validate and print of the range' prints_range
check 'dump | synth of the range' range_round_trip
check 'cut within the range' cuts_range
check 'convert of the range to parquet' rows_of_range
for version in 1.25 1.21 1.5; do
    check "convert of the range to go$version" leaves_range_out $version
done
check 'the other verbs and the range' others_accept_range

# ---- the columns -----------------------

# The same sum in JSON by function and by goroutine, in the report and in the table.
has_time() {
    local trace=tree/testdata/traces/go1.26-user.trace sum
    gotrace stat --top 0 --only goroutines "$trace" | grep '^  long wait ' || return
    gotrace stat --json --each "$trace" >c.json && gotrace convert -q --to html -o c.html "$trace" &&
        gotrace convert -q --to parquet -o c.tables "$trace" || return
    sum=$(jq -s 'map(select(.kind == "goroutine").long_wait_ns) | add' c.json)
    echo "$sum"
    [ "$sum" -gt 0 ] && jq -s 'map(select(.kind == "function").long_wait_ns.sum) | add' c.json | diff - <(echo "$sum") &&
        python3 "$drill/columns.py" 'Long waits' c.html | diff - <(echo "$sum") &&
        python3 tree/tests/cli/parquet.py rows c.tables/goroutines.parquet long_wait_ns |
        jq -s 'map(.long_wait_ns) | add' | diff - <(echo "$sum")
}

has_percentile() {
    gotrace stat --full tree/testdata/traces/go1.26-user.trace >c.text || return
    [ "$(grep -c ' sum  *median  *75%  *99%  *max$' c.text)" -ge 4 ] &&
        jq -se 'any(.[]; .kind == "latency" and .median <= .p75 and .p75 <= .p90)' c.json &&
        [ "$(grep -o 'Median<th[^>]*>75 %<th[^>]*>99 %' c.html | wc -l)" -ge 4 ]
}

check 'stat, html and parquet show the time' has_time
check 'stat and html show the percentile' has_percentile

# ---- the format ------------------------

# graph TRACE: the goroutines that were created according to the graph are those that print has.
graph() {
    gotrace convert -q -o g.dot "$1" && [ "$(head -n 1 g.dot)" = 'digraph goroutines {' ] && [ "$(tail -n 1 g.dot)" = '}' ] || return
    gotrace print -q --format jsonl "$1" |
        jq -r 'select(.resource == "goroutine" and .from == "not-exist") | "  g\(.g // 0) -> g\(.subject);"' >g.expected
    [ -s g.expected ] && grep -e '->' g.dot | diff g.expected -
}

graph_of_damaged() {
    head -c 6000 tree/testdata/traces/go1.26-user.trace >cut.trace
    gotrace convert -o g.dot cut.trace 2>g.said
    [ $? -eq 1 ] && grep -q 'cut.trace:0x.*: error: ' g.said && [ "$(tail -n 1 g.dot)" = '}' ]
}

# What shared code does for each format.
is_listed() {
    gotrace convert --help | grep -w graphviz && gotrace help --completion bash | grep -qw graphviz &&
        gotrace help --completion zsh | grep -qw graphviz && gotrace convert --to none cut.trace 2>&1 | grep 'known are: .*graphviz'
}
has_options() {
    local trace=tree/testdata/traces/go1.26-user.trace
    gotrace convert -q --to graphviz -j 3 $trace | cmp - <(gotrace convert -q --to graphviz -j 1 $trace) &&
        gotrace convert -q --to graphviz --zstd $trace | zstd -qdc | cmp - <(gotrace convert -q --to graphviz $trace) || return
    [ "$(gotrace convert -q --to graphviz --goroutine 7 $trace | grep -c -e '->')" -lt \
        "$(gotrace convert -q --to graphviz $trace | grep -c -e '->')" ] || return
    gotrace convert --to graphviz $trace $trace 2>&1 | grep 'write a graph for each' &&
        gotrace convert --to graphviz --only gc $trace 2>&1 | grep -e '--only is for timelines'
}
is_refused() {
    gotrace convert --to graphviz tree/testdata/traces/go1.26-user.trace >/dev/full 2>g.said
    [ $? -eq 3 ] && grep 'error: cannot .*No space left on device \[system.write\]$' g.said || return
    rm -f g.dot
    ! gotrace convert --to graphviz --max-memory 4K -o g.dot tree/testdata/traces/go1.26-user.trace 2>g.said &&
        grep ': error: .*memory' g.said
}

for name in go1.26-user go1.22-gens go1.19-user gccgo-http; do
    check "convert of $name to the format" graph tree/testdata/traces/$name.trace
done
check 'convert of a damaged trace to the format' graph_of_damaged
check 'the format is in --help, completion and messages' is_listed
check 'the format has the options of all' has_options
check 'the format reports a full disk and refused memory' is_refused
end_checks
