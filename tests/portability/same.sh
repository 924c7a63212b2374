#!/usr/bin/env bash
# Compares what two builds of the program print, write and return for traces: for a change that must not change
# anything, with a build of the commit before.
#
#   BUILD=build tests/portability/same.sh PROGRAM [TRACE...]     default: the samples
set -u
cd "$(dirname "$0")/../.." || exit 1
[ $# -gt 0 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
# shellcheck source=tests/checks.bash
. tests/checks.bash
# shellcheck source=tests/portability/outputs.bash
. tests/portability/outputs.bash
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR
other=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- testdata/traces/*.trace

outputs_of other "$other" "$@"
outputs_of this "$(realpath "${BUILD:-build}")/gotrace" "$@"
# shellcheck disable=SC2154 # of checks.bash
for trace in "$@"; do
    check "the same for ${trace##*/}" diff "$work/other.${trace##*/}" "$work/this.${trace##*/}"
done
end_checks
