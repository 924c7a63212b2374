#!/usr/bin/env bash
# causes.sh [PATTERN]: measure `gotrace diagnose` like a classifier: does it find the cause that was
# planted in a program, and nothing in a healthy one?
#
#   GOTRACE         the program (default $BUILD/gotrace, build/gotrace)
#   GOTRACE_PEERS   Go toolchains (default $HOME/.cache/gotrace-peers)
#   GOTRACE_CAUSES  folder of the traces (default $HOME/.cache/gotrace-causes); missing ones are recorded
#   RECORD          0: record nothing
#
# With a pattern ("go1.22-lock.*", "*-1"), only those traces. Prints the confusion matrix and the traces in
# which the planted cause is not the first finding. Exit 1 if a target was missed.
set -u
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
gotrace=$(realpath -m "${GOTRACE:-${BUILD:-$root/build}/gotrace}")
store=${GOTRACE_CAUSES:-$HOME/.cache/gotrace-causes}
pattern=${1:-*}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

[ -x "$gotrace" ] || { echo "causes: no $gotrace: run make" >&2; exit 1; }
command -v jq >/dev/null || { echo 'causes: jq is not installed (make deps-test)' >&2; exit 1; }
[ "${RECORD:-1}" = 0 ] || "$root/testdata/causes/record.sh" "$store" || exit 1

# A line for each trace: its name, the planted cause, and the findings in their order.
for trace in "$store"/$pattern.trace; do
    [ -s "$trace" ] || continue
    name=$(basename "$trace" .trace)
    variant=${name#*-}
    if ! "$gotrace" diagnose --json "$trace" >"$work/found" 2>"$work/err"; then
        sed 's/^/causes: /' "$work/err" >&2
        echo "$name ${variant%%-*} failed"
        continue
    fi
    echo "$name ${variant%%-*} $(jq -r '.id // empty' "$work/found" | tr '\n' ' ')"
done >"$work/results"
[ -s "$work/results" ] || { echo "causes: no traces $store/$pattern.trace" >&2; exit 1; }

awk -f "$root/bench/causes.awk" "$work/results"
