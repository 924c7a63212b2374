#!/usr/bin/env bash
# record.sh [--only PATTERN] [--duration D] OUTDIR [TOOLCHAIN...]
#
# Builds the program of this folder with each toolchain, and records each variant that is not there yet
# to OUTDIR/TOOLCHAIN-CAUSE-SHAPE-STRENGTH.trace, one at a time. A toolchain is goX (go1.19) below
# $GOTRACE_PEERS/usr/lib; default: go1.19 go1.22 go1.27. --only records the variants that match the
# pattern ("lock.*-2"), --duration sets the length of a trace (default 1.2s).
# Exit 1 if anything could not be recorded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=testdata/recorders/toolchains.bash
. "$here/../recorders/toolchains.bash"
only='*'
duration=1.2s

while [ $# -gt 0 ]; do
    case $1 in
    --only) only=${2:?}; shift ;;
    --duration) duration=${2:?}; shift ;;
    *) break ;;
    esac
    shift
done
case ${1:--} in
-*)
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- go1.19 go1.22 go1.27

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Go's own folder: a second run compiles little.
export RECORD_CACHE=${RECORD_CACHE:-${GOCACHE:-$HOME/.cache/go-build}}
failed=0
sources=("$here"/*.go)

for toolchain; do
    if ! has_toolchain "$toolchain"; then
        echo "record.sh: SKIPPED: $toolchain is not in $peers/usr/lib" >&2
        continue
    fi
    if ! build_program "$toolchain" "$here" "$work/causes" "${sources[@]##*/}"; then
        echo "record.sh: $toolchain: does not build" >&2
        failed=1
        continue
    fi
    for variant in $("$work/causes" -list); do
        trace=$out/$toolchain-$variant.trace
        # shellcheck disable=SC2254 # it is a pattern
        case $variant in $only) ;; *) continue ;; esac
        [ ! -s "$trace" ] || continue
        if timeout 60 "$work/causes" -duration "$duration" "$variant" "$work/trace"; then
            mv "$work/trace" "$trace"
        else
            echo "record.sh: $toolchain-$variant: could not be recorded" >&2
            failed=1
        fi
    done
done
exit $failed
