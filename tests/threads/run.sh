#!/usr/bin/env bash
# Every verb that reads a trace, with several threads: output, messages and status are those of one thread, for
# sound, damaged and hostile traces; refused memory, failing writes and signals end it with the right
# status, in time and without temporary files. `make threads` runs this with ThreadSanitizer. Each verb has each
# of these faults on a long trace, and one of them on every third other one.
#
#   tests/threads/run.sh [PATTERN]     only files whose names contain it
#   ALL=1 tests/threads/run.sh         every verb, not only every seventh of each file
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/checks.bash
. tests/checks.bash
[ -n "${SHARD:-}${STOP:-}" ] || { in_shards "$PWD/tests/threads/run.sh" "$@"; exit; }
traces=$PWD/testdata/traces
cases=$PWD/tests/bad/cases.sh
view=$PWD/tests/view/run.sh
gotrace=$(realpath "${BUILD:-build}")/gotrace
refusing=$(realpath "${BUILD:-build}")/tests/gotrace-refusing
export LC_ALL=C.UTF-8 TSAN_OPTIONS="${TSAN_OPTIONS:-exitcode=99}"
unset NO_COLOR
wanted=${1:-}
# shellcheck disable=SC2154 # of checks.bash
cd "$work" || exit 1
mkdir tmp files
export TMPDIR=$work/tmp

# ThreadSanitizer takes ten times as long, so it gets fewer files, and each of them every fourth verb.
threads='2 8' mutations=2 every=3 moments=4 verbs=7
[ -z "${ALL:-}$wanted" ] || verbs=1
if nm "$gotrace" | grep -q __tsan; then threads=4 mutations=1 every=8 moments=2 verbs=4; fi

cat >commands <<'END'
validate --json --max-errors 0
info --json
print --format text
print --format go
print --format jsonl
print --stacks --function [mr] --from 1us
stat --goroutine 1-20 --until 900us
convert --to perfetto
convert --to chrome
convert --to chrome --until 300us
convert --to perfetto --until 300us
convert --to perfetto --detail 50us
convert --to pprof --profile wall --open
stat
stat --json
diagnose --all --json
diff --all --base files/gccgo-user
diff --json --all --until 900us --base files/go1.26-gens --base files/go1.27-timer
convert --to html
convert --to folded
convert --to speedscope --zstd
convert --to chrome --zstd
convert --to parquet
convert --to go1.21
convert --to go1.26
cut --from 100us
cut --goroutine 1-20
dump
dump --level meaning --format cbor
anonymize --key key
why --goroutine 1 --json
find (sched)or(stack~main)or(goroutines>3)
find --json (wait)and(during(run>10us))
find --json wait
find --sort duration (wait)or(silence)
find --top 3 --json (goroutines~"main">2)or(run)
print --where (stw)or(wait(sync))
repair
merge
split --by thread
split --by proc
mutate --count 2
reduce --test false --any --timeout 1
END
mapfile -t commands <commands
head -c 32 /dev/zero >key

samples='gccgo-user go1.19-chan go1.21-user go1.22-gens go1.23-gensiter go1.25-flight-2 go1.26-gens go1.26-allocfree go1.27-timer'

# One sample of each version, damaged ones, and those that tests/bad rejects.
make_files() {
    local sample seed name version n=0
    for sample in $samples; do
        cp "$traces/$sample.trace" "files/$sample"
        for ((seed = 1; seed <= mutations; seed++)); do
            "$gotrace" mutate -q --seed $seed -o variant "$traces/$sample.trace"
            mv variant/*.trace "files/$sample-$seed"
            rm -r variant
        done
        head -c $(($(stat -c %s "$traces/$sample.trace") * 2 / 3)) "$traces/$sample.trace" >"files/$sample-cut"
    done
    for version in 1.5 1.7 1.8 1.9 1.10; do
        "$gotrace" gen --go $version --cover --events 2000 -o files/gen-$version
        "$gotrace" mutate -q --seed 1 -o variant files/gen-$version
        mv variant/*.trace files/gen-$version-1
        rm -r variant
    done
    # Two parts of one generation, and generations with the same number: ids mean something else in each.
    "$gotrace" mutate -q --seed 232 -o variant "$traces/go1.27-timer.trace"
    mv variant/*.trace files/go1.27-halves
    rm -r variant
    "$gotrace" dump --format text "$traces/go1.26-gens.trace" | sed 's/gen=[0-9]*/gen=1/' |
        "$gotrace" synth -o files/go1.26-repeated
    # Problems between many lines of output.
    for version in 1.19 1.26; do
        "$gotrace" gen --go $version --events 60000 -o files/damaged-$version
        printf '\377' | dd of=files/damaged-$version bs=1 seek=150000 conv=notrunc 2>/dev/null
    done
    local names=()
    # Only the cases that are files.
    bad() { names+=("$1"); }
    is_wanted() { false; }
    # shellcheck source=tests/bad/cases.sh
    . "$cases" >/dev/null 2>&1
    for name in "${names[@]}"; do
        [ $((n++ % every)) -ne 0 ] || "make_$name" >"files/bad-$name" 2>/dev/null
    done
}

# Whether the command writes files to a folder.
to_folder() { [[ $* =~ parquet|split|mutate ]]; }

# run THREADS FILE WORD...: standard output, messages and status in the files $threads.*. FILE may be a folder:
# its files.
run() {
    local n=$1 files=("$2")
    [ ! -d "$2" ] || files=("$2"/*)
    shift 2
    ! to_folder "$@" || set -- "$@" -o "tables"
    timeout "$HANG" "$gotrace" "$@" -j "$n" "${files[@]}" >"$n.out" 2>"$n.err" </dev/null
    echo $? >"$n.status"
    [ ! -d tables ] || { sha256sum tables/* >>"$n.out"; rm -r tables; }
}

ended_well() { grep -qxE "$1" "$2.status" || { echo "status $(cat "$2.status")"; head -n 20 "$2.err"; return 1; }; }

# same_results FILE WORD...
same_results() {
    local n
    run 1 "$@"
    ended_well '[0-3]' 1 || return
    for n in $threads; do
        run "$n" "$@"
        cmp 1.status "$n.status" || return
        cmp 1.out "$n.out" || return
        cmp 1.err "$n.err" || return
    done
}

# No temporary file, neither in TMPDIR nor beside the output. What is left fails one test, not all later ones.
nothing_left() {
    local left
    rm -f tmp/tsan.rodata.* # of ThreadSanitizer, when it begins
    left=$(ls -A tmp)
    rm -rf tmp
    mkdir tmp
    [ -z "$left" ] || { echo "left in TMPDIR: $left"; return 1; }
    [ -z "$(find . -maxdepth 2 -name '.*.gotrace-*')" ] || { find . -maxdepth 2 -name '.*.gotrace-*'; return 1; }
}

# try PROGRAM FILE WORD...: with four threads, to the file or folder out. If the status is 3 a message says why, and
# there is no output, but for the variants of mutate, each of which appears when it is complete. PROGRAM may be
# several words.
try() {
    local program=$1 file=$2
    shift 2
    rm -rf out
    # shellcheck disable=SC2086
    { timeout "$HANG" $program "$@" -j 4 -o out "$file" 2>&1 >/dev/null </dev/null; echo $? >4.status; } | cat >4.err
    ended_well '[0-3]' 4 && nothing_left || return
    [ "$(cat 4.status)" -eq 3 ] || return 0
    [[ $1 = mutate ]] || [ -z "$(ls -A out 2>/dev/null)" ] || { echo "status 3, and an output"; return 1; }
    grep -q '\(: error: \|"rule":"system\)' 4.err || { echo 'status 3, and not why'; return 1; }
}

# little_memory FILE WORD...: each trace is read, or one message says that it is too little.
little_memory() {
    local size most
    most=$(($(grep -o -- '--base' <<<"$*" | wc -l) + 1))
    for size in 64K 256K 1M 4M; do
        try "$gotrace" "$@" --max-memory $size || return
        [ "$(cat 4.status)" -ne 3 ] || [[ $(grep -cE '\[system\.|"rule":"system|^gotrace: error: ' 4.err) = [1-$most] ]] ||
            { echo "--max-memory $size:"; cat 4.err; return 1; }
    done
}

# refused_memory [all] FILE WORD...: a random allocation, or each from there on.
refused_memory() {
    local all=() count
    [ "$1" != all ] || { all=(REFUSE_ALL=1); shift; }
    try "env REFUSE_COUNT=$work/count $refusing" "$@" || return
    count=$(cat count)
    [ "$count" -gt 0 ] || { echo 'no allocations'; return 1; }
    try "env REFUSE_AT=$((1 + (RANDOM * 32768 + RANDOM) % count)) ${all[*]} $refusing" "$@"
}

# small_files FILE WORD...: files may have that many bytes, a random number.
small_files() { try "env REFUSE_SIZE=$((RANDOM * (RANDOM % 16))) $refusing" "$@"; }

# full_device FILE WORD...: one message says so.
full_device() {
    local file=$1
    shift
    ! to_folder "$@" || return 0
    timeout "$HANG" "$gotrace" "$@" -j 4 "$file" >/dev/full 2>4.err
    echo $? >4.status
    # Without output there is nothing to write.
    ended_well '[1-3]' 4 && nothing_left || return
    [ "$(cat 4.status)" -ne 3 ] || [ "$(grep -c ': error: ' 4.err)" -ge 1 ] || { cat 4.err; return 1; }
}

# closed_pipe FILE WORD...: its reader exits after one byte.
closed_pipe() {
    local file=$1
    shift
    ! to_folder "$@" || return 0
    { timeout "$HANG" env --default-signal=PIPE "$gotrace" "$@" -j 4 "$file" 2>4.err; echo $? >4.status; } |
        head -c 1 >/dev/null
    # Output that fits into the pipe is written completely.
    ended_well '0|1|2|141' 4 && nothing_left
}

# interrupted SIGNAL FILE WORD...: at random moments.
interrupted() {
    local signal=$1 file=$2 n
    shift 2
    for ((n = 0; n < moments; n++)); do
        rm -rf out
        env --default-signal timeout -k "$HANG" --signal="$signal" "0.$(printf %03d $((RANDOM % 500 + 1)))" \
            "$gotrace" "$@" -j 4 -o out "$file" >4.out 2>4.err
        echo $? >4.status
        ended_well '0|1|2|124' 4 && nothing_left || return
    done
}

faults=('little_memory' 'refused_memory' 'refused_memory all' 'small_files' 'full_device' 'closed_pipe' 'interrupted INT'
    'interrupted TERM')
names=('little memory' 'refused memory' 'no more memory' 'small files' 'full device' 'closed pipe' SIGINT SIGTERM)

# check_fault N FILE COMMAND: the N-th fault.
check_fault() {
    # shellcheck disable=SC2086
    check "${names[$1]}: gotrace $3 ${2#files/}" ${faults[$1]} "$2" $3
}

make_files
n=0
for file in files/*; do
    [[ $file = *"$wanted"* ]] || continue
    for ((i = 0; i < ${#commands[@]}; i++)); do
        # shellcheck disable=SC2086
        [ $(((i + n + ${TURN:-0}) % verbs)) -eq 0 ] || continue
        # shellcheck disable=SC2086
        check "gotrace ${commands[i]} ${file#files/}" same_results "$file" ${commands[i]}
        # Each fault of each verb on some file.
        [ $(((i + n) % 3)) -ne 0 ] || check_fault $(((i / 3 + n / 3) % ${#faults[@]})) "$file" "${commands[i]}"
    done
    n=$((n + 1))
done

# Several files at a time.
mkdir many
cp files/*-user files/*-gens files/*-1 files/*-cut many
for command in validate 'info --json' stat 'stat --by file' 'stat --by file --json' 'find wait' 'find --json (sched)or(stw)'; do
    # shellcheck disable=SC2086
    check "gotrace $command, many files" same_results many $command
done

[ -n "$wanted" ] || "$gotrace" gen --go 1.19 --events 60000 -o files/long-v1
[ -n "$wanted" ] || cp "$traces/go1.27-seconds.trace" files/long-seconds
[ -n "$wanted" ] || "$gotrace" gen --go 1.26 --events 60000 -o files/long-v2
n=0
for file in files/long-*; do
    [ -s "$file" ] || continue
    for ((i = 0; i < ${#commands[@]}; i++)); do
        [ $(((i + n + ${TURN:-0}) % verbs)) -eq 0 ] || continue
        # shellcheck disable=SC2086
        check "gotrace ${commands[i]} ${file#files/}" same_results "$file" ${commands[i]}
        # Each fault of each verb on one of the three.
        for ((fault = 0; fault < ${#faults[@]}; fault++)); do
            [ $(((i + fault + n) % 3)) -ne 0 ] || check_fault $fault "$file" "${commands[i]}"
        done
    done
    n=$((n + 1))
done
# It has the same threads in every build; that of make check is tested by its part.
if [ -z "$wanted" ] && nm "$gotrace" | grep -q __tsan; then
    check 'gotrace view' env -u SHARD -u STOP BUILD="${gotrace%/*}" "$view"
fi
end_checks
