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
