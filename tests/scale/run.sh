#!/usr/bin/env bash
# Hostile traces and scripts of growing sizes: the cost of each verb grows in proportion, not quadratically.
#
#   tests/scale/run.sh [TRAP...]          each at two sizes; the second is 16 times the first
#   ALL=1 tests/scale/run.sh              each verb, not only one in six of each trap
#   TABLE=1 tests/scale/run.sh [TRAP...]  prints a table of doubling sizes, up to SIZE (1000000),
#                                         with a higher memory limit than the default
#
# Cost is the number of instructions, of bytes read, and memory. With a logarithmic factor, double the size may cost 2.5
# times as much, and so 16 times the size 40 times as much; quadratic cost is 256 times as much. If the system does not
# count instructions (as some virtual machines), these checks are skipped: time depends on other load.
#
# All is measured with two threads, the larger size with one too. With two the program reads at most 1.25 times as many
# bytes and 1 MiB, and needs at most 24 MiB more: what other threads check ahead in vain they read again.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/hang.bash
. tests/hang.bash
build=$(realpath "${BUILD:-build}")
gotrace=$build/gotrace
count=$build/tests/count
traps=$PWD/tests/scale/traps.py
session=$PWD/tests/view/session.py
small=4000 times=16 most=40
most_percent=125 most_more=1048576 most_kib=24576

passed=0 failed=0 skipped=0
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
fail() {
    [ -z "$*" ] || echo "FAIL $*"
    failed=$((failed + 1))
    [ -z "${STOP:-}" ] || finish
}
if nm "$gotrace" | grep -qE '__(asan|tsan|ubsan|gcov)'; then
    echo 'SKIP scale: what a sanitizer costs is not what the program does'
    skipped=1
    finish
fi
command -v python3 >/dev/null || { echo 'SKIP scale: there is no python3'; skipped=1; finish; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# What `diff` compares with.
"$gotrace" gen --go 1.26 --events 2000 -o base

# The verbs for a trap: the one that it is made for, or all; split only if there are few parts.
verbs_of() {
    case $1 in
    v2-sample | v2-abandoned | v1-strings | v1-long) echo 'validate -q'; return ;;
    v2-frames | v2-names)
        printf '%s\n' 'convert -q --to perfetto -o out' 'print -q --function (a|x).*z -o out'
        return
        ;;
    v2-open)
        printf '%s\n' 'convert -q --to chrome -o out' 'print -q --region r --task 1,t -o out' \
            'stat -q --region r --task 1,t -o out'
        return
        ;;
    v2-functions)
        printf '%s\n' 'stat -q --top 0 -o out' 'view -q' 'diagnose -q -o out' 'diff -q --all --top 0 -o out --base base' 'stat -q --json --each -o out' 'convert -q --to html -o out' \
            'convert -q --to pprof --profile sched -o out' 'convert -q --to speedscope -o out'
        return
        ;;
    v2-reasons)
        printf '%s\n' 'stat -q -o out' 'diagnose -q -o out' 'convert -q --to html -o out' 'why -q --goroutine 5 -o out' \
            'convert -q --to pprof --profile offcpu -o out'
        return
        ;;
    v2-stacks) printf '%s\n' 'validate -q' 'convert -q --to go1.25 -o out'; return ;;
    v1-running | v1-quiet | v2-shrinking) echo 'convert -q --to go1.26 -o out'; return ;;
    v2-assists) echo 'convert -q --to go1.21 -o out'; return ;;
    v1-stopped | v1-damaged | v1-chance) echo 'repair -q -o out'; return ;;
    v2-holes) echo 'stat -q -o out'; return ;;
    v1-timers | v1-gomaxprocs | v2-tables | v2-ids | v2-cleared) echo 'merge -q -o out'; return ;;
    v2-procs) echo 'mutate -q --break context -o out'; return ;;
    json-*) echo 'synth -q -o out'; return ;;
    v2-samples) echo 'split -q --by thread -o parts'; return ;;
    v2-experiments) printf '%s\n' 'convert -q --to go1.25 -o out' 'dump -q --level meaning -o out'; return ;;
    esac
    printf '%s\n' 'validate -q' 'repair -q -o out' 'convert -q --to perfetto -o out' \
        'convert -q --to chrome -o out' 'convert -q --to go1.26 -o out' 'dump -q -o out' \
        'merge -q -o out' 'stat -q -o out' 'diagnose -q -o out' 'diff -q --all -o out --base base' 'view -q' 'find -q (wait)or(task)or(log)and(during((run)or(region))) -o out' 'why -q --goroutine 1 --slowest 3 -o out' 'convert -q --to folded -o out'
    case $1 in
    v1-batches | v1-crossed) echo 'split -q --by proc -o parts' ;;
    v2-batches) echo 'split -q --by thread -o parts' ;;
    esac
}

# cost VERB FILE: set cost (instructions), kib, bytes (read) and ns (of processor time); false if it does not end correctly.
cost() {
    local files=("$2") client=()
    [ ! -e "$2-other" ] || files+=("$2-other")
    [[ $1 != view* ]] || client=("$session")
    # shellcheck disable=SC2086
    timeout "$HANG" "${client[@]}" "$count" report "$gotrace" $1 "${files[@]}" >/dev/null 2>log
    local status=$?
    rm -rf out parts out-*.json
    [ $status -le 1 ] || { echo "FAIL gotrace $1 $2: status $status"; head -n 3 log; return 1; }
    read -r cost kib bytes ns <report
}

# check_threads VERB FILE: compare what two threads read and need, in the last run, with one.
check_threads() {
    local verb=$1 two=$bytes two_kib=$kib
    cost "$verb -j 1" "$2" || { fail; return; }
    if [ "$two" -le $((bytes * most_percent / 100 + most_more)) ] && [ "$two_kib" -le $((kib + most_kib)) ]; then
        passed=$((passed + 1))
    else
        fail "gotrace $verb ${2%-*}: with -j 2 it reads $two bytes and needs $((two_kib / 1024)) MiB," \
            "with -j 1 $bytes bytes and $((kib / 1024)) MiB"
    fi
}

make_trap() {
    python3 "$traps" "$1" "$2" >"$1-$2"
    case $1 in
    v2-tables | v2-ids | v2-cleared) python3 "$traps" "$1" "$2" other >"$1-$2-other" ;;
    esac
    # A decompression bomb is compressed.
    [ "$1" != zeros ] || { zstd -q --rm "$1-$2" -o packed && mv packed "$1-$2"; }
}

# What `why` keeps of a large trace is in a temporary file, of a small one in memory: up to 14 times the bytes of the trace
# are read, which are not growth.
most_reads=20
size_of() { cat "$1"* | wc -c; }

check_growth() {
    local trap=$1 verb first first_kib first_bytes verbs=()
    while read -r verb; do
        [ $((n++ % every)) -ne 0 ] || verbs+=("$verb")
    done < <(verbs_of "$trap")
    [ ${#verbs[@]} -gt 0 ] || return 0
    make_trap "$trap" $small
    make_trap "$trap" $((small * times))
    for verb in "${verbs[@]}"; do
        cost "$verb -j 2" "$trap-$small" || { fail; continue; }
        first=$cost first_kib=$kib first_bytes=$bytes
        cost "$verb -j 2" "$trap-$((small * times))" || { fail; continue; }
        if [ "$cost" -gt $((most * first)) ] || [ "$kib" -gt $((most * first_kib)) ] ||
            { [ "$bytes" -gt $((most * first_bytes)) ] && [ "$bytes" -gt $((most_reads * $(size_of "$trap-$((small * times))"))) ]; }; then
            fail "gotrace $verb $trap: $times times the size costs $cost instead of $first instructions," \
                "$bytes instead of $first_bytes bytes, $kib instead of $first_kib KiB"
        else
            passed=$((passed + 1))
        fi
        [ "$cost" -gt 0 ] || skipped=$((skipped + 1))
        check_threads "$verb" "$trap-$((small * times))"
    done
    rm -f "$trap"-*
}

print_table() {
    local trap=$1 verb size=${SIZE:-1000000} n bytes
    for n in $((size / 8)) $((size / 4)) $((size / 2)) "$size"; do
        make_trap "$trap" "$n"
    done
    while read -r verb; do
        for n in $((size / 8)) $((size / 4)) $((size / 2)) "$size"; do
            cost "$verb --max-memory 4G" "$trap-$n" || continue
            bytes=$(stat -c %s "$trap-$n")
            printf '%-15s %-32s %8d %11d bytes %8.3f s %8.1f MiB\n' "$trap" "${verb% -o *}" "$n" "$bytes" \
                "$(awk -v n="$ns" 'BEGIN { print n / 1e9 }')" "$(awk -v k="$kib" 'BEGIN { print k / 1024 }')"
        done
    done < <(verbs_of "$trap")
    rm -f "$trap"-*
}

"$count" report true
read -r cost _ <report
[ "$cost" -gt 0 ] || echo 'SKIP the growth of instructions: this system does not count them; memory and bytes are checked'
command -v zstd >/dev/null || { echo 'SKIP the bomb: zstd(1) is not installed'; skipped=1; }
every=9 n=${TURN:-0}
[ -z "${ALL:-}$*" ] || every=1
if [ $# -eq 0 ]; then
    mapfile -t all < <(python3 "$traps")
    set -- "${all[@]}"
fi
for trap in "$@"; do
    [ "$trap" != zeros ] || command -v zstd >/dev/null || continue
    if [ -n "${TABLE:-}" ]; then print_table "$trap"; else check_growth "$trap"; fi
done
finish
