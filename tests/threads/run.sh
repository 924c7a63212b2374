#!/usr/bin/env bash
# Every verb that reads a trace, with several threads: output, messages and status are those of one thread, for
# sound, damaged and hostile traces; refused memory, failing writes and signals end it with the right
# status, in time and without temporary files. `make threads` runs this with ThreadSanitizer.
#
#   tests/threads/run.sh [PATTERN]     only files whose names contain it
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/checks.bash
. tests/checks.bash
[ -n "${SHARD:-}${STOP:-}" ] || { in_shards "$PWD/tests/threads/run.sh" "$@"; exit; }
traces=$PWD/testdata/traces
cases=$PWD/tests/bad/cases.sh
gotrace=$(realpath "${BUILD:-build}")/gotrace
export LC_ALL=C.UTF-8 TSAN_OPTIONS="${TSAN_OPTIONS:-exitcode=99}"
unset NO_COLOR
wanted=${1:-}
# shellcheck disable=SC2154 # of checks.bash
cd "$work" || exit 1
mkdir tmp files
export TMPDIR=$work/tmp

# ThreadSanitizer takes ten times as long, so it gets fewer files.
readonly limit=60 # seconds that a run may take
threads='2 8' mutations=2 every=3 moments=4
if nm "$gotrace" | grep -q __tsan; then threads=4 mutations=1 every=8 moments=2; fi

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
convert --to pprof --profile wall --open
stat
stat --json
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
print --where (stw)or(wait(sync))
repair
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

# run THREADS FILE WORD...: standard output, messages and status in the files $threads.*. FILE may be a folder:
# its files.
run() {
    local n=$1 files=("$2")
    [ ! -d "$2" ] || files=("$2"/*)
    shift 2
    [[ "$*" != *parquet* ]] || set -- "$@" -o "tables"
    timeout $limit "$gotrace" "$@" -j "$n" "${files[@]}" >"$n.out" 2>"$n.err" </dev/null
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

nothing_left() { [ -z "$(ls -A tmp)" ] || { echo "left in TMPDIR: $(ls -A tmp)"; return 1; }; }

# refused_memory FILE WORD...: with little memory the trace is read, or one message says that it is too
# little.
refused_memory() {
    local size
    for size in 64K 256K 1M 4M; do
        run 4 "$@" --max-memory $size
        ended_well '[013]' 4 || return
        [ "$(cat 4.status)" -ne 3 ] || [ "$(cat 4.out 4.err | grep -cE '(\[|"rule":")system\.')" -eq 1 ] ||
            { echo "--max-memory $size:"; cat 4.err; return 1; }
        nothing_left || return
    done
}

# failing_writes FILE WORD...: to a full device, and to a reader that exits after one byte.
failing_writes() {
    local file=$1
    shift
    [[ "$*" != *parquet* ]] || return 0 # files of a folder
    timeout $limit "$gotrace" "$@" -j 4 "$file" >/dev/full 2>4.err
    echo $? >4.status
    ended_well 3 4 || return
    [ "$(grep -c 'error: cannot write' 4.err)" -eq 1 ] || { cat 4.err; return 1; }
    { timeout $limit env --default-signal=PIPE "$gotrace" "$@" -j 4 "$file" 2>4.err; echo $? >4.status; } |
        head -c 1 >/dev/null
    # Output that fits into the pipe is written completely.
    ended_well '0|1|141' 4 && nothing_left
}

# interrupted FILE WORD...: by SIGINT, at random moments.
interrupted() {
    local file=$1 n
    shift
    for ((n = 0; n < moments; n++)); do
        rm -rf out
        env --default-signal timeout -k $limit --signal=INT "0.$(printf %03d $((RANDOM % 500 + 1)))" \
            "$gotrace" "$@" -j 4 -o out "$file" 2>4.err
        echo $? >4.status
        ended_well '0|1|124' 4 || return
        nothing_left || return
        [ -z "$(find . -maxdepth 1 -name '.out*')" ] || { echo 'a temporary file is left'; return 1; }
    done
}

make_files
for file in files/*; do
    [[ $file = *"$wanted"* ]] || continue
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086
        check "gotrace $command ${file#files/}" same_results "$file" $command
    done
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
for file in files/long-*; do
    [ -s "$file" ] || continue
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086
        {
            check "gotrace $command ${file#files/}" same_results "$file" $command
            check "refused memory: gotrace $command ${file#files/}" refused_memory "$file" $command
            check "failing writes: gotrace $command ${file#files/}" failing_writes "$file" $command
            check "signals: gotrace $command ${file#files/}" interrupted "$file" $command
        }
    done
done
end_checks
