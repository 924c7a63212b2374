#!/usr/bin/env bash
# Runs every verb with failing allocations, at each place that allocates, with failing writes, at each
# block, with failing calls that name results (calls.bash), and with threads that cannot be started. It must end with a documented status and a
# message, free its memory, and leave only complete output and no temporary file.
#
#   tests/faults/run.sh [PATTERN]     only commands that contain it (calls: only those of calls.bash)
#   FAULTS=100000 tests/faults/run.sh   each allocation and each block, not only some of them
#   ALL=1 tests/faults/run.sh           every command, not only every ninth
set -u
cd "$(dirname "$0")/../.." || exit 1
traces=$PWD/testdata/traces
build=$(realpath "${BUILD:-build}")
gotrace=$build/gotrace
refuse=$build/tests/refuse.so
calls=$PWD/tests/faults/calls.bash
session=$PWD/tests/view/session.py
# shellcheck source=tests/hang.bash
. tests/hang.bash
export LC_ALL=C.UTF-8
unset NO_COLOR

passed=0 failed=0 skipped=0
tried=0 # number of places, of all commands
wanted=${1:-}
work=$(mktemp -d) || exit 1
trap 'cd /; [ ! -d "$work/small" ] || umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp out
export TMPDIR=$work/tmp

end_tests() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || exit 1
}

fail() {
    echo "FAIL $*"
    head -n 5 log | cut -c 1-300 | sed 's/^/  /'
    failed=$((failed + 1))
    [ -z "${STOP:-}" ] || end_tests
}

# After most runs there is no file: that is seen without a process.
shopt -s dotglob nullglob
is_empty() { local files=("$1"/*); [ ${#files[@]} -eq 0 ]; }
# A digest of all files in out.
empty=$(cksum </dev/null)
made() { if is_empty out; then echo "$empty"; else find out -type f | sort | xargs -r cat | cksum; fi; }
renew() { if [ ! -d out ] || [ -L out ] || ! is_empty out; then rm -rf out && mkdir out; fi; }

# judge STATUS WHOLE USUAL: whether this is a correct end after a fault. WHOLE is the digest without a fault, USUAL
# the status.
judge() {
    [ "$1" -eq 3 ] || [ "$1" -eq "$3" ] || { echo "status $1"; return; }
    [ "$1" -ne 3 ] || grep -qE ': error: ' log || { echo 'status 3, and not why'; return; }
    [ "$1" -ne 3 ] || is_empty out || { echo "status 3, and left $(find out -type f -printf '%f ' -quit)"; return; }
    # If a damaged trace cannot be recovered, that is reported, and the part before the damage is read.
    [ "$(made)" = "$2" ] || [ "$(made)" = "$empty" ] || grep -q 'note: not recovered: ' log || echo "status $1, and a part of the output"
    is_empty tmp || echo "left in TMPDIR: $(ls -A tmp)"
}

# ---- memory ------------------------------------------------------------------------------------

# Each place in the program that allocates fails once in all commands: at its first call. With FAULTS that number of
# allocations of each command instead, evenly distributed; short commands are tried completely.
places=${FAULTS:-5}
readonly short=200
: >known

# calls_to_refuse COUNT COMMAND...: print the numbers of these calls; new places are added to the known ones.
calls_to_refuse() {
    local count=$1
    shift
    if [[ $* = *short* && $count -le $short ]]; then
        seq "$count"
    elif [ -n "${FAULTS:-}" ]; then
        seq 1 $(((count + places - 1) / places)) "$count"
    else
        LD_PRELOAD=$refuse REFUSE_PLACES=found "$gotrace" "$@" >/dev/null 2>&1
        renew
        echo 1
        awk 'FILENAME == "known" { known[$1]; next } !($1 in known) && $2 > 1 { print $2 }' known found
        cut -d ' ' -f 1 found >>known
    fi
}

# The number of blocks that the program did not free, counted by refuse.so: in the last line of the log.
left() { sed -n '$s/^[0-9]* //p' log; }

sweep_memory() {
    local count whole usual at all status why first
    LD_PRELOAD=$refuse REFUSE_COUNT=1 "$gotrace" "$@" >/dev/null 2>log
    usual=$?
    count=$(sed -n '$s/ .*//p' log)
    whole=$(made)
    renew
    [[ $count =~ ^[1-9][0-9]*$ ]] || { fail "gotrace $*: no allocations?"; return; }
    [ "$(left)" = 0 ] || { fail "gotrace $*: $(left) blocks are not freed"; return; }
    first=
    for at in $(calls_to_refuse "$count" "$@"); do
        for all in '' 1; do
            LD_PRELOAD=$refuse REFUSE_COUNT=1 REFUSE_AT=$at REFUSE_ALL=$all "$gotrace" "$@" >/dev/null 2>log
            status=$?
            tried=$((tried + 1))
            why=$(judge "$status" "$whole" "$usual")
            [ "$(left)" = 0 ] || why="$(left) blocks are not freed"
            [ -z "$why" ] || { fail "gotrace $*: allocation $at of $count${all:+ and on}: $why"; return; }
            [ "$status" -ne 3 ] || first=$at
            renew
        done
    done
    # At least one write must fail.
    [ -n "$first" ] || { fail "gotrace $*: no allocation was missed"; return; }
    passed=$((passed + 1))
}

# ---- writes ------------------------------------------------------------------------------------

# The maximum file size in bytes: a write beyond it fails.
sweep_size() {
    local whole usual size largest at status why
    "$gotrace" "$@" >/dev/null 2>log
    usual=$?
    whole=$(made)
    largest=$(find out -type f -printf '%s\n' | sort -n | tail -n 1)
    renew
    [ -n "$largest" ] || { fail "gotrace $*: no output?"; return; }
    size=$(((largest / places / 512 + 1) * 512))
    for ((at = 0; at < largest; at += size)); do
        # The log is a file too.
        prlimit --fsize=$at "$gotrace" "$@" 2>&1 >/dev/null | cat >log
        status=${PIPESTATUS[0]}
        tried=$((tried + 1))
        why=$(judge "$status" "$whole" "$usual")
        [ "$status" -eq 3 ] || why="status $status, though files are limited to $at bytes"
        [ -z "$why" ] || { fail "gotrace $*: files of $at bytes: $why"; return; }
        renew
    done
    passed=$((passed + 1))
}

# A file system with that number of pages. It also contains the temporary files.
sweep_disk() {
    local whole usual pages status why
    "$gotrace" "$@" >/dev/null 2>log
    usual=$?
    whole=$(made)
    renew
    for ((pages = 1; pages <= (places < 24 ? places : 24); pages++)); do
        mount -t tmpfs -o "size=$((pages * 4096))" gotrace-test small || return
        mkdir small/out small/tmp
        rm -rf out && ln -s small/out out
        TMPDIR=$work/small/tmp "$gotrace" "$@" >/dev/null 2>log
        status=$?
        tried=$((tried + 1))
        why=$(judge "$status" "$whole" "$usual")
        [ -z "$(ls -A small/tmp)" ] || why="left in TMPDIR: $(ls -A small/tmp)"
        renew
        umount small
        [ -z "$why" ] || { fail "gotrace $*: a disk of $pages pages: $why"; return; }
    done
    passed=$((passed + 1))
}

# ---- threads -----------------------------------------------------------------------------------

# refusing_threads AT ALL COMMAND...: run it; the AT-th thread, and with ALL each later one, cannot be started.
refusing_threads() {
    local settings=(REFUSE_CALL=thread REFUSE_CALL_AT="$1" REFUSE_ALL="$2" REFUSE_COUNT=1 REFUSE_LOG="$work/threads")
    shift 2
    rm -f threads
    env "${settings[@]}" LD_PRELOAD="$refuse" "$gotrace" "$@" >/dev/null 2>log
}

# Without a thread the same is done with those that there are, and there is no message.
sweep_threads() {
    local count usual whole at all status
    refusing_threads 0 '' "$@"
    usual=$?
    count=$(grep -c '^thread ' threads)
    whole=$(made)
    head -n -1 log >usual
    renew
    [ "$count" -gt 0 ] || { fail "gotrace $*: no threads"; return; }
    for ((at = 1; at <= count; at++)); do
        for all in '' 1; do
            refusing_threads $at "$all" "$@"
            status=$?
            tried=$((tried + 1))
            if [ "$status" != "$usual" ] || [ "$(made)" != "$whole" ] || ! head -n -1 log | cmp -s - usual || [ "$(left)" != 0 ]; then
                fail "gotrace $*: thread $at of $count${all:+ and on}: status $status, $(left) blocks are not freed"
                return
            fi
            renew
        done
    done
    passed=$((passed + 1))
}

# begun_threads COMMAND...: the number of threads that the program starts.
begun_threads() {
    refusing_threads 0 '' "$@"
    renew
    grep -c '^thread ' threads
}

# Without -j there are as many threads as the scheduler allows processors, fewer if there is a quota, but as many as are
# useful if -j asks for a million.
usual_threads() {
    local command='print --format jsonl -o out/out v2.trace' first one all usual
    first=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')
    # shellcheck disable=SC2086
    {
        one=$(begun_threads $command -j 1)
        all=$(begun_threads $command -j "$(nproc)")
        usual=$(begun_threads $command)
        [ "$usual" -ge "$one" ] || fail "gotrace $command: $usual threads, with -j 1 $one"
        [ "$usual" -le "$all" ] || fail "gotrace $command: $usual threads, with -j $(nproc) $all"
        [ "$(nproc)" -eq 1 ] || [ "$one" -lt "$all" ] || fail "gotrace $command: no threads"
        usual=$(taskset -cp "$first" $BASHPID >/dev/null && begun_threads $command)
        [ "$usual" = "$one" ] || fail "gotrace $command: $usual threads on one processor"
        usual=$(begun_threads $command -j 1000000)
        [ "$usual" -eq "$(begun_threads $command -j 100)" ] || fail "gotrace $command -j 1000000: $usual threads"
    }
    passed=$((passed + 1))
}

# ---- a server ----------------------------------------------------------------------------------

# serving SETTING... -- COMMAND...: `gotrace view` with a client that asks everything, and then ends it.
serving() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    timeout "$HANG" "$session" "${settings[@]}" "$gotrace" "$@" 2>&1 >/dev/null | cat >log
    return "${PIPESTATUS[0]}"
}

# judge_server FAULT USUAL LEFT COMMAND...: whether that is a correct end, and at most LEFT blocks are not freed. False
# after a failure.
judge_server() {
    local status=$? fault=$1 usual=$2 most=$3 why
    shift 3
    why=$(judge $status "$empty" "$usual")
    [ -z "$most" ] || [ "$(left)" -le "$most" ] || why="$(left) blocks are not freed instead of $most"
    tried=$((tried + 1))
    [ -z "$why" ] || fail "gotrace $*: $fault: $why"
    [ -z "$why" ]
}

# libmicrohttpd, which is loaded, keeps memory itself, and so does what it loads. If all memory is refused from then on, the
# loader ends the program, because the libraries have variables of each thread; so one allocation is, or thread.
sweep_server() {
    local refusing=("LD_PRELOAD=$refuse" REFUSE_COUNT=1) count usual most at
    serving env "${refusing[@]}" -- "$@"
    usual=$?
    [ $usual -le 1 ] || { fail "gotrace $*: status $usual"; return; }
    count=$(sed -n '$s/ .*//p' log)
    most=$(left)
    for at in $(seq 1 $(((count + places - 1) / places)) "$count"); do
        serving env "${refusing[@]}" REFUSE_AT="$at" -- "$@"
        judge_server "allocation $at of $count" $usual "$most" "$@" || return
    done
    for ((at = 1; at <= 8; at++)); do
        serving env "${refusing[@]}" REFUSE_CALL=thread REFUSE_CALL_AT="$at" REFUSE_LOG="$work/threads" -- "$@"
        judge_server "thread $at" $usual "$most" "$@" || return
    done
    for ((at = 0; at < 5; at++)); do
        serving prlimit --fsize=$((at * 4096)) -- "$@"
        judge_server "files of $((at * 4096)) bytes" $usual '' "$@" || return
    done
    passed=$((passed + 1))
}

# ---- commands ----------------------------------------------------------------------------------

cp "$traces/go1.19-chan.trace" v1.trace
cp "$traces/go1.26-gens.trace" v2.trace
cp "$traces/go1.26-user.trace" user.trace
# Strings as long as the room that jansson has before it extends a token, with and without an escape.
{
    echo '{"trace":"go 1.19","records":[{"event":"Batch","p":0,"ticks":1}'
    for size in 8 14 24 30; do
        printf ',{"event":"String","id":%d,"data":"%*s\\u0041"}\n' $size $size x
    done
    echo ']}'
} >short.json
# A timeline in two parts, and damaged generations.
cp "$traces/go1.22-chan.trace" short.trace
cp "$traces/go1.26-gens.trace" gens.trace
cp v2.trace v2.hole
dd if=/dev/zero of=v2.hole bs=1 seek=6500 count=40 conv=notrunc status=none
"$gotrace" gen --go 1.22 --procs 2 --goroutines 16 --events 40 -o short.hole
dd if=/dev/zero of=short.hole bs=1 seek=442 count=3 conv=notrunc status=none
for v in v1 v2; do
    "$gotrace" dump -o $v.text $v.trace
    "$gotrace" dump --format cbor -o $v.cbor $v.trace
    "$gotrace" dump --format json -o $v.json $v.trace
    "$gotrace" dump --level meaning -o $v.meaning $v.trace
    "$gotrace" dump --zstd -o $v.zst $v.trace
    gzip -c $v.trace >$v.gz
    head -c $(($(stat -c %s $v.trace) * 3 / 4)) $v.trace >$v.cut
done
echo 'a key' >key
"$gotrace" split --by proc -o of-v1 v1.trace
"$gotrace" split --by thread -o of-v2 v2.trace

cat >commands <<'END'
validate -j 2 -o out/out vN.trace
validate --json -o out/out vN.zst
print -o out/out vN.gz
info -o out/out vN.trace
print -j 2 -o out/out vN.trace
print -j 4 --format go -o out/out vN.trace
print --format jsonl -o out/out vN.cut
stat -j 2 -o out/out vN.cut
diagnose -j 2 -o out/out vN.cut
diagnose --all --json --from 1us -o out/out vN.trace
diff -j 2 --all -o out/out vN.trace vN.cut
diff --json --all -o out/out vN.trace user.trace -- vN.cut vN.trace
diff --to html --all -o out/out vN.trace user.trace
diff --to pprof -o out/out vN.trace user.trace
stat --json --each -o out/out vN.trace
find (wait("slep"))or(task("x"))or(sched) -o out/out vN.trace
find (wait)or(run) -o out/out vN.trace
print --task x --region y -o out/out vN.trace
find --json (stack~a)or(task)or(region)or(log~a)or(goroutines>1)or(stw) -j 2 -o out/out vN.trace
find (run)and(during(gc)or(during(wait))or(function~a)) -o out/out vN.trace
find --json --sort duration (wait)or(log)or(goroutines~"a">1) -o out/out vN.trace
find --top 3 (run)and(during(silence>1us)) -o out/out vN.trace
why --goroutine 1 -o out/out vN.trace
why -j 2 --goroutine 1 --to perfetto -o out/out vN.cut
why --region inner --slowest 9 --to perfetto -o out/out user.trace
why --region inner --slowest 100% -o out/out user.trace
why --region inner --slowest 9 --to pprof -o out/out user.trace
print --stacks --function main --from 1us --until 1s -o out/out vN.trace
print --where (wait)or((run)and(during(gc)or(log~a))) -o out/out vN.trace
stat -j 2 --json --each --function main --region r,s,t --from 1us -o out/out vN.trace
convert --to pprof --goroutine 1,3-9 --function main -o out/out vN.trace
convert --to perfetto --goroutine 1,3-9 --until 1s -o out/out vN.trace
convert --to perfetto --function main -o out/out vN.trace
dump -o out/out vN.trace
dump --format cbor -o out/out vN.trace
dump --level meaning --format json -o out/out vN.trace
dump --schema json -o out/out
synth -o out/out vN.text
synth -o out/out vN.cbor
synth -o out/out vN.json
synth -o out/out vN.meaning
convert -j 2 --to perfetto -o out/out vN.trace
convert --to perfetto --zstd -o out/out vN.cut
convert --to perfetto --gzip -o out/out vN.trace
convert -j 2 --to chrome -o out/out vN.trace
convert --to pprof --profile sched -o out/out vN.trace
convert -j 2 --to speedscope -o out/out vN.trace
convert --to folded --profile offcpu --open -o out/out vN.trace
convert -j 2 --to html -o out/out vN.trace
convert --to html -o out/out vN.trace v1.cut
convert --to pprof -o out/out vN.trace v1.cut
convert --to folded -o out/out vN.cut v2.trace
convert -j 2 --to parquet -o out vN.trace
convert --to parquet --partitions -o out/tables vN.cut
convert --to chrome --by goroutine -o out/out.json vN.trace
convert --to go1.26 -o out/out vN.trace
convert --to go1.11 -o out/out vN.trace
repair -o out/out vN.trace
cut --from 100us --until 10ms -o out/out vN.trace
cut --goroutine 1,3-9 --keep-times -o out/out vN.trace
cut --proc 0 -o out/out vN.cut
anonymize --key key -o out/out vN.trace
anonymize --key key --all --drop-logs -o out/out vN.cut
repair -j 2 -o out/out vN.cut
mutate --break goroutine.running -o out vN.trace
END
{
    sed 's/vN/v1/g' commands
    sed 's/vN/v2/g' commands
    cat <<'END'
split --by proc -o out/parts v1.trace
split --by generation -o out/parts v2.trace
cut --from 10ms --until 90ms -o out/out gens.trace
convert --to perfetto -o out/out user.trace
convert --to perfetto --detail 20us -o out/out user.trace
convert --to chrome -o out/out user.trace
print --format jsonl --stacks --task 2,épreuve --function main -o out/out user.trace
print --from 2026-11-21T02:14:53Z --region inner -o out/out user.trace
stat --task 2,épreuve --region inner -o out/out user.trace
convert --to folded --until 2027-01-01T00:00Z --task épreuve -o out/out user.trace
gen --go 1.19 --events 3000 -o out/out
gen --go 1.26 --events 3000 -o out/out
gen --defect goroutine.start -o out/out
gen --defect goroutine.start --procs 2 --goroutines 16 --events 1 -o out/short
synth -o out/out short.json
repair -o out/out v2.hole
repair -o out/out short.hole
reduce --test false --any -o out/out short.hole
END
    echo "merge -o out/out $(echo of-v1/*)"
    echo "merge -o out/out $(echo of-v2/*)"
} >all

every=9 n=${TURN:-0}
[ -z "${ALL:-}$wanted" ] || every=1
can_refuse=1 can_preload=1 can_mount=1
if nm "$gotrace" | grep -qE '__(asan|tsan)'; then
    can_refuse='' can_preload=''
    echo 'SKIP refused memory: a sanitizer has an allocator of its own'
    skipped=$((skipped + 1))
elif nm "$gotrace" | grep -q '__gcov'; then
    can_refuse=
    echo 'SKIP refused memory: gcov needs some itself, when the program ends'
    skipped=$((skipped + 1))
fi
mkdir small
if mount -t tmpfs -o size=4096 gotrace-test small 2>/dev/null; then
    umount small
else
    can_mount=
    echo 'SKIP full disks: a file system cannot be mounted here'
    skipped=$((skipped + 1))
fi

# The memory of a verb depends on the contents of the trace.
check_blocks() {
    LD_PRELOAD=$refuse REFUSE_COUNT=1 "$gotrace" "$@" >/dev/null 2>log
    renew
    if [ "$(left)" = 0 ]; then passed=$((passed + 1)); else fail "gotrace $*: $(left) blocks are not freed"; fi
}
if [ -n "$can_refuse" ] && [ -z "$wanted" ]; then
    for sample in gccgo-user go1.19-timer go1.21-cgo go1.21-user go1.22-prof go1.23-iter go1.26-user go1.26-allocfree go1.27-timer; do
        [ $((n++ % every)) -eq 0 ] || continue
        cp "$traces/$sample.trace" blocks.trace
        for command in info 'stat --json --each' 'diagnose --all' 'diff --all blocks.trace' 'why --task 1' 'why --region inner' 'why --goroutine 1 --json' 'find (run)and(during(task)or(region))' 'find --top 5 (run)or(silence)' 'stat --full --no-system' 'print --format jsonl' 'dump --level meaning' 'convert --to perfetto' \
            'convert --to chrome' 'convert --to pprof' 'convert --to go1.26' 'convert --to go1.21' repair merge mutate; do
            # shellcheck disable=SC2086
            check_blocks $command -o out/out blocks.trace
        done
    done
fi

mapfile -t all <all
n=${TURN:-0}
for command in "${all[@]}"; do
    [[ $command = *"$wanted"* ]] || continue
    [ $((n++ % every)) -eq 0 ] || continue
    read -ra words <<<"$command"
    [ -z "$can_refuse" ] || sweep_memory "${words[@]}"
    sweep_size "${words[@]}"
    [ -z "$can_mount" ] || sweep_disk "${words[@]}"
done

if [ -n "$can_preload" ]; then
    [[ threads != *"$wanted"* ]] || usual_threads
    for command in 'validate -j 3 -o out/out v2.trace' 'print -j 3 -o out/out v1.trace' \
        'print -j 3 --format jsonl -o out/out v2.cut' 'print -j 3 --function main -o out/out v2.trace' 'convert -j 2 --to perfetto -o out/out v1.trace' \
        'convert -j 2 --to chrome -o out/out v2.trace' 'stat -j 2 -o out/out v2.trace' 'diagnose -j 2 --all -o out/out v2.trace' 'diff -j 2 --all -o out/out v2.trace v1.trace' 'find -j 2 run -o out/out v2.trace v1.trace' 'why -j 2 --goroutine 1 -o out/out v2.trace'; do
        [[ $command = *"$wanted"* ]] || continue
        read -ra words <<<"$command"
        sweep_threads "${words[@]}"
    done
fi

for command in 'view v1.trace' 'view -j 2 v2.cut' 'view --diff v1.trace v2.trace'; do
    [[ $command = *"$wanted"* ]] || continue
    [ -n "$can_refuse" ] || continue
    [ $((n++ % (every > 1 ? 2 : 1))) -eq 0 ] || continue
    read -ra words <<<"$command"
    sweep_server "${words[@]}"
done

# A trace that repair keeps in temporary files.
"$gotrace" gen --go 1.19 --events 1500000 -o large.trace
head -c $(($(stat -c %s large.trace) * 3 / 4)) large.trace >large.cut
command='repair -o out/out large.cut'
if [[ $command = *"$wanted"* ]]; then
    read -ra words <<<"$command"
    sweep_size "${words[@]}"
fi

# shellcheck source=tests/faults/calls.bash
. "$calls"
if [ -n "$can_preload" ]; then
    [[ calls != *"$wanted"* ]] || all_calls
fi

[ -z "${FAULTS:-}" ] || echo "$tried places were tried"
end_tests
