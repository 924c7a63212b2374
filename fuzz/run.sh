#!/usr/bin/env bash
# Fuzzes each target that was built, for FUZZ_SECONDS (30) each, as many at a time as there are
# processors (FUZZ_JOBS). Inputs at which a target fails are written to $BUILD/fuzz/found, new inputs to
# $BUILD/fuzz/grown. Called by `make fuzz` and `make fuzz-afl`.
#
#   BUILD=build/fuzz fuzz/run.sh [NAME...]
#   BUILD=build/afl MUTATOR=build/fuzz/mutator_afl.so fuzz/run.sh [NAME...]     with AFL++
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/fuzz}
MUTATOR=${MUTATOR:-}
seconds=${FUZZ_SECONDS:-30}
jobs=${FUZZ_JOBS:-$(nproc)}
# 0: a seed from the time. With another one libFuzzer tries the same inputs in each run, unless the corpus
# has grown: address randomization is disabled if permitted, compared values (addresses among them) are
# not used for inputs, and inputs that it wrote are not read again.
seed=${FUZZ_SEED:-0}
steady=() options=()
if [ "$seed" != 0 ]; then
    options=(-reload=0 -use_cmp=0)
    ! setarch -R true 2>/dev/null || steady=(setarch -R)
fi
# Small inputs find most faults, and many more of them can be tried.
length=${FUZZ_LENGTH:-8192}
# Keep allocation stacks short, and freed memory for a shorter time.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=5:quarantine_size_mb=16:allocator_may_return_null=1}
found=$BUILD/fuzz/found
passed=0 failed=0
mkdir -p "$found"

[ $# -gt 0 ] || for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    set -- "$@" "${name#fuzz_}"
done

# The value after "key : " or "key: " in a fuzzer's output.
value_of() { sed -n "s/^$1 *: *\([0-9]*\).*/\1/p" "$2" | tail -n 1; }

# Called by fuzz_one, whose variables they use. Sets $runs to the number of inputs tried.
libfuzzer() {
    # sorted by name, not in the order of the folders
    find "${seeds[@]}" -type f | LC_ALL=C sort | paste -sd, | tr -d '\n' >"$BUILD/fuzz/$name.seeds"
    "${steady[@]}" "$BUILD/fuzz/fuzz_$name" -seed="$seed" "${options[@]}" -max_total_time="$seconds" \
        -timeout=20 -rss_limit_mb=2048 -max_len="$length" -dict="$dictionary" -print_final_stats=1 \
        -artifact_prefix="$found/$name-" -seed_inputs="@$BUILD/fuzz/$name.seeds" "$grown" >"$log" 2>&1
    local status=$?
    runs=$(value_of 'stat::number_of_executed_units' "$log")
    return "$status"
}

# AFL++ starts from one folder without inputs that are too large or too slow.
afl() {
    local in=$BUILD/fuzz/in/$name status n=0
    rm -rf "$in" "$grown"
    mkdir -p "$in"
    while read -r file; do
        cp "$file" "$in/$((n++)).$(basename "$file")"
    done < <(find "${seeds[@]}" -type f -size -8k)
    local mutator=
    case $name in script | source | recover | expression | ring | view_api) ;; *) mutator=$(realpath "$MUTATOR") ;; esac
    local -a seeded=()
    [ "$seed" = 0 ] || seeded=(-s "$seed")
    env ${mutator:+"AFL_CUSTOM_MUTATOR_LIBRARY=$mutator"} AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 \
        AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_FAST_CAL=1 AFL_SKIP_CRASHES=1 \
        ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1 \
        afl-fuzz -i "$in" -o "$grown" -x "$dictionary" -V "$seconds" -t 20000 -m none "${seeded[@]}" \
        -- "$BUILD/fuzz/fuzz_$name" >"$log" 2>&1
    status=$?
    runs=$(value_of execs_done "$grown/default/fuzzer_stats")
    for file in "$grown"/default/crashes/id:* "$grown"/default/hangs/id:*; do
        [ ! -e "$file" ] || { cp "$file" "$found/$name-$(basename "$file" | tr ':,' '--')"; status=1; }
    done
    return "$status"
}

# The result of a target, in its .result; the first word is "ok" if nothing was found.
fuzz_one() {
    local name=$1 status runs=
    local grown=$BUILD/fuzz/grown/$name log=$BUILD/fuzz/$name.log dictionary=$BUILD/fuzz/$name.dictionary
    local seeds=(fuzz/corpus/seeds fuzz/corpus/traces testdata/traces)
    mkdir -p "$grown"
    [ ! -d "fuzz/corpus/$name" ] || seeds=("fuzz/corpus/$name")
    case $name in
    script | expression) fuzz/dictionary.sh "$name" ;;
    source) fuzz/dictionary.sh ;;
    *) fuzz/dictionary.sh v1 && fuzz/dictionary.sh v2 ;;
    esac >"$dictionary" || return 1
    if [ -n "$MUTATOR" ]; then afl; else libfuzzer; fi
    status=$?
    if [ "$status" -eq 0 ]; then
        echo "ok   $name: $runs runs"
    else
        echo "FAIL $name:"
        grep -Ev $'^#[0-9]+\t|^\tNEW_FUNC|^INFO:|^stat::|in fuzzer::' "$log" | tail -n 40 | sed 's/^/  /'
        # for a machine of which only the log is kept: base64 -d | gzip -d
        find "$found" -name "$name-*" -size -16k -newer "$dictionary" | head -n 1 |
            while read -r input; do
                echo "  $(basename "$input"), packed:"
                gzip -nc "$input" | base64 -w 0 | sed 's/^/  /'
                echo
            done
    fi >"$BUILD/fuzz/$name.result"
}

running=0
for name in "$@"; do
    rm -f "$BUILD/fuzz/$name.result"
    [ "$running" -lt "$jobs" ] || { wait -n; running=$((running - 1)); }
    fuzz_one "$name" &
    running=$((running + 1))
done
wait
for name in "$@"; do
    cat "$BUILD/fuzz/$name.result" 2>/dev/null || echo "FAIL $name: not run"
    if grep -q '^ok' "$BUILD/fuzz/$name.result" 2>/dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
