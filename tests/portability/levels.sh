#!/usr/bin/env bash
# Each level of optimization of gcc and clang: library, program and the library that `record` loads compile without a
# message, and every verb has the output of the program in BUILD.
#
#   BUILD            the program to compare with (default build)
#   LEVELS           only these (default: -O0 -O1 -Og -Os -O3)
#   CCACHE           a prefix of the compiler (ccache)
#   GOTRACE_NO_SKIP  1 (or CI=true): fail if a compiler is missing
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/checks.bash
. tests/checks.bash
# shellcheck source=tests/portability/outputs.bash
. tests/portability/outputs.bash
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR

traces=(testdata/traces/{go1.19-http,go1.21-user,go1.26-user}.trace)

quiet_build() { # COMPILER LEVEL
    env -u MAKEFLAGS -u MAKELEVEL make -s -j"$(nproc)" BUILD="build/levels/$1$2" CC="${CCACHE:-} $1" CFLAGS="$2" all 2>&1 |
        tee "$work/build"
    [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s "$work/build" ]
}

same_output() { # COMPILER LEVEL
    local trace status=0
    outputs_of level "$PWD/build/levels/$1$2/gotrace" "${traces[@]}"
    for trace in "${traces[@]##*/}"; do
        diff "$work/expected.$trace" "$work/level.$trace" || status=1
    done
    return $status
}

outputs_of expected "$PWD/${BUILD:-build}/gotrace" "${traces[@]}"
for compiler in gcc clang-14; do
    if ! command -v $compiler >/dev/null; then
        if [ "${CI:-}" = true ] || [ "${GOTRACE_NO_SKIP:-}" = 1 ]; then
            check "$compiler is installed" false
        else
            skip $compiler 'not installed'
        fi
        continue
    fi
    for level in ${LEVELS:--O0 -O1 -Og -Os -O3}; do
        check "$compiler $level: build without a message" quiet_build "$compiler" "$level"
        check "$compiler $level: output of every verb" same_output "$compiler" "$level"
    done
done
end_checks
