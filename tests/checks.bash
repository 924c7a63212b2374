# shellcheck shell=bash
# Functions for test scripts that are a list of checks, and a folder for their files, $work.
# With STOP in the environment the first failure ends the script.

passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# check NAME COMMAND...: passes if the command does; prints its output if it does not.
check() {
    local name=$1
    shift
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
