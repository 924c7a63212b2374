# shellcheck shell=bash
# Functions for CLI tests; and wait_until.

# shellcheck source=tests/hang.bash
. "$(dirname "${BASH_SOURCE[0]}")/../hang.bash"

# run COMMAND...: print the command, run it with both outputs on standard output, print its status.
run() {
    local status
    printf '$'
    printf ' %q' "$@"
    echo
    "$@" 2>&1
    status=$?
    echo "=> $status"
}

# sample NAME [AS]: copy a sample trace, so that no message contains the path of the tree.
sample() {
    cp "$TRACES/$1" "${2:-$1}" && chmod u+w "${2:-$1}"
}

# is_built_with NAME...: whether the program is built with one of these tools: asan, tsan, gcov. With a
# sanitizer it takes six times as long.
is_built_with() {
    local IFS='|'
    nm "$(command -v gotrace)" 2>/dev/null | grep -qE "__($*)"
}

# is_slow: whether each run of the program takes 40 ms: with a sanitizer, or under an emulator ($EMULATED).
is_slow() {
    [ -n "${EMULATED:-}" ] || is_built_with asan tsan
}

# all_samples: print the paths of the sound samples; without ALL, or where runs are slow, of some of each version.
all_samples() {
    local files=("$TRACES"/*.trace)
    [ -n "${ALL:-}" ] && ! is_slow || files=("$TRACES"/*-{user,prof,flight-2,gensgc}.trace)
    printf '%s\n' "${files[@]}"
}

# all_versions: print every version that is written; without ALL, or where runs are slow, the first and the last of each group.
all_versions() {
    if [ -n "${ALL:-}" ] && ! is_slow; then
        echo 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21 1.22 1.23 1.25 1.26
    else
        echo 1.5 1.10 1.21 1.22 1.26
    fi
}

# skip REASON: this machine cannot run the test.
skip() {
    echo "$1" >&2
    exit 77
}

# sized_script: standard input, a raw script, with the sizes of its batches.
sized_script() {
    awk '
    function width(v,  n) { for (n = 1; v >= 128; n++) v = int(v / 128); return n }
    function end_batch(  i) {
        if (head) print head " size=" size
        for (i = 1; i <= count; i++) print records[i]
        head = ""; count = size = 0
    }
    $1 == "Trace" { print; next }
    $1 == "EventBatch" { end_batch(); head = $0; next }
    {
        records[++count] = $0
        for (i = 1; i <= NF; i++) size += index($i, "=") ? width(substr($i, index($i, "=") + 1) + 0) : 1
    }
    END { end_batch() }'
}

# cut_scripts WHOLE STEP: synth of a CBOR script truncated at every STEP-th byte reports it and writes
# nothing. The last of them is left in the file `script`.
cut_scripts() {
    local size at status
    size=$(stat -c %s "$1")
    for ((at = 1; at < size; at += $2)); do
        head -c "$at" "$1" >script
        gotrace synth -o trace script 2>log
        status=$?
        grep -q "^script:0x[0-9a-f]*: error: the script is cut off" log || cat log
        [ $status = 1 ] && [ ! -e trace ] || echo "cut at $at: $status"
    done
}

# every_verb_of_cut PACKED TRACE: PACKED is truncated compressed data, TRACE the part that can be
# decompressed. Each verb gives the same result for both, and reports the cut once, at the offset in the trace.
every_verb_of_cut() {
    local at verb status
    at=$(printf '%s:0x%x: error: the .* data is cut off' "$1" "$(stat -c %s "$2")")
    for verb in validate info print dump 'convert --to chrome' 'convert --to go1.21' repair 'split --by proc' \
        mutate merge; do
        # shellcheck disable=SC2086
        gotrace $verb -o out "$1" 2>log
        status=$?
        [ $status = 1 ] || echo "$verb: status $status"
        if [ "$(grep -c 'error:' log)" != 1 ] || ! grep -q "^$at" log; then cat log; fi
        # shellcheck disable=SC2086
        gotrace $verb -o expected "$2" 2>/dev/null
        case $verb in
        info | validate) ;; # they name the file
        split*) cat out/* | cmp - <(cat expected/*) ;;
        mutate) cmp out/*.trace expected/*.trace ;;
        *) cmp out expected ;;
        esac
        rm -rf out expected
    done
}
