# shellcheck shell=bash
# A limit against hangs, in seconds, which is the same for every test: no test measures time. It is at least 20 times
# what the slowest test takes on a quiet machine, because a busy machine or a sanitizer may take ten times as long.
export HANG=${HANG:-3600}

# wait_until COMMAND...: waits until the command succeeds, at most that long.
wait_until() {
    local end=$((SECONDS + HANG))
    until "$@"; do
        [ $SECONDS -lt $end ] || { echo "still not: $*" >&2; return 1; }
        sleep 0.02
    done
}

# The state of a process: R (runs), S (sleeps until something happens), T (stopped), Z (has ended), as in ps(1);
# nothing if there is none.
state() { ps -o s= -p "$1"; }
has_state() { [[ $(state "$1") = "$2" ]]; }
is_gone() { [[ $(state "$1") =~ ^Z?$ ]]; }
