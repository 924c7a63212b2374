#!/usr/bin/env bash
# Checks shell scripts, manual pages, the layout of C, and the ABI.
set -u
cd "$(dirname "$0")/../.." || exit 1
status=0

mapfile -t scripts < <(git ls-files '*.sh' '*.bash' .ci/run)
if command -v shellcheck >/dev/null; then
    shellcheck -x "${scripts[@]}" || status=1
else
    echo "lint: shellcheck is not installed (make deps-test)" >&2
    status=1
fi

mapfile -t pages < <(git ls-files 'man/*.[1-8]')
if [ ${#pages[@]} -gt 0 ]; then
    mandoc -T lint -W warning "${pages[@]}" || status=1
fi

# Other versions format differently.
formatter=$(command -v clang-format-14)
if [ -n "$formatter" ]; then
    mapfile -t sources < <(git ls-files '*.c' '*.h')
    "$formatter" --dry-run -Werror "${sources[@]}" || status=1
else
    echo "lint: clang-format-14 is not installed (make deps-test)" >&2
    status=1
fi
lib/event_codes.sh | cmp -s - lib/gotrace_events.h || {
    echo 'lint: lib/gotrace_events.h does not have the codes of the event tables (make codes)' >&2
    status=1
}
lib/abi.sh check || status=1
exit $status
