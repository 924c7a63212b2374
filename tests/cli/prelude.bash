# shellcheck shell=bash
# What CLI tests have at hand.

# run COMMAND...: show the command, run it with both outputs on standard output, show its status.
run() {
    local status
    printf '$'
    printf ' %q' "$@"
    echo
    "$@" 2>&1
    status=$?
    echo "=> $status"
}

# sample NAME [AS]: a copy of a sample trace, so that no message holds the path of the tree.
sample() {
    cp "$TRACES/$1" "${2:-$1}" && chmod u+w "${2:-$1}"
}

# skip REASON: this machine cannot run the test.
skip() {
    echo "$1" >&2
    exit 77
}

# cut_scripts WHOLE STEP: synth of a CBOR script that is cut off, at every STEP-th byte, says so and writes
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
