# shellcheck shell=bash
# Functions for test scripts that are a list of checks, and a folder for their files, $work.
# With STOP in the environment the first failure ends the script.

# shellcheck source=tests/hang.bash
. tests/hang.bash

# The functions that other recordings found are not used.
export GOTRACE_CACHE=

checks=0 passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# in_shards SCRIPT ARGUMENT...: run as many of the script as there are processors, each of which does its
# share of the checks, and add up their totals. For scripts whose checks do not depend on each other.
in_shards() {
    local i n
    n=$(nproc)
    for ((i = 0; i < n; i++)); do
        SHARD=$i/$n "$@" >"$work/shard.$i" 2>&1 &
    done
    wait
    for ((i = 0; i < n; i++)); do
        sed '$d' "$work/shard.$i"
        tail -n 1 "$work/shard.$i" | grep -Ex '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' ||
            { tail -n 1 "$work/shard.$i" >&2; echo '0 passed, 1 failed, 0 skipped'; }
    done >"$work/shards"
    grep -vEx '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$work/shards"
    read -r passed failed skipped < <(awk '/^[0-9]+ passed, / { p += $1; f += $3; s += $5 } END { print p, f, s }' "$work/shards")
    end_checks
}

# check NAME COMMAND...: passes if the command does; prints its output if it does not.
check() {
    local name=$1
    shift
    checks=$((checks + 1))
    [ -z "${SHARD:-}" ] || [ $((checks % ${SHARD#*/})) -eq "${SHARD%/*}" ] || return 0
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        echo "FAIL $name"
        sed 's/^/  /' "$work/log"
        failed=$((failed + 1))
        if [ -n "${STOP:-}" ]; then
            end_checks
            exit 1
        fi
    fi
}

skip() {
    echo "SKIP $1: $2"
    skipped=$((skipped + 1))
}

# The last line of such a script.
end_checks() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
