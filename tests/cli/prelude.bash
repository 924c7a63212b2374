# shellcheck shell=bash
# What CLI tests have at hand.

# run COMMAND...: show the command, run it with both outputs on standard output, show its status.
run() {
    local status
    printf '$ %s\n' "$*"
    "$@" 2>&1
    status=$?
    echo "=> $status"
}

# skip REASON: this machine cannot run the test.
skip() {
    echo "$1" >&2
    exit 77
}
