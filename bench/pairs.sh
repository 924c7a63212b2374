#!/usr/bin/env bash
# pairs.sh [PATTERN]: compare recordings of one program with each other: how many rows does `gotrace diff`
# report though nothing changed?
#
#   GOTRACE        the program (default $BUILD/gotrace, build/gotrace)
#   GOTRACE_PEERS  Go toolchains (default $HOME/.cache/gotrace-peers)
#   GOTRACE_PAIRS  folder of the traces (default $HOME/.cache/gotrace-pairs); missing ones are recorded
#   TOOLCHAIN      default go1.22
#   SETS           recordings of each variant (default 2)
#   RECORD         0: record nothing
#
# PATTERN selects variants of testdata/causes (default 'healthy-*': 27). Prints the rate for one trace a side, by
# figure, and the worst pairs. Exit 1 if more than 5 % of the tested rows are reported.
set -u
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
gotrace=$(realpath -m "${GOTRACE:-${BUILD:-$root/build}/gotrace}")
store=${GOTRACE_PAIRS:-$HOME/.cache/gotrace-pairs}
toolchain=${TOOLCHAIN:-go1.22} sets=${SETS:-2} pattern=${1:-healthy-*}
readonly most=5 # percent

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

[ -x "$gotrace" ] || { echo "pairs: no $gotrace: run make" >&2; exit 1; }
command -v jq >/dev/null || { echo 'pairs: jq is not installed (make deps-test)' >&2; exit 1; }
for ((set = 1; set <= sets; set++)); do
    [ "${RECORD:-1}" = 0 ] || "$root/testdata/causes/record.sh" --only "$pattern" "$store/set$set" "$toolchain" || exit 1
done

# A line for each tested row: the pair, the figure, and whether it is reported.
for ((set = 1; set < sets; set++)); do
    for old in "$store/set$set/$toolchain"-$pattern.trace; do
        name=$(basename "$old" .trace) new=$store/set$((set + 1))/$(basename "$old")
        if [ ! -s "$old" ] || [ ! -s "$new" ]; then continue; fi
        "$gotrace" diff --json --all --top 0 "$old" "$new" >"$work/rows" 2>"$work/err" ||
            { echo "pairs: $name: $(head -n 1 "$work/err")" >&2; exit 1; }
        jq -r --arg name "$name/$set" 'select(.kind == "difference" and .q != null) |
            "\($name) \(.figure) \(if .significant then 1 else 0 end)"' "$work/rows"
    done
done >"$work/results"
count=$(cut -d ' ' -f 1 "$work/results" | sort -u | wc -l)
[ "$count" -gt 0 ] || { echo "pairs: no two recordings of $pattern in $store" >&2; exit 1; }

# rates FIELD: rows and reported rows by that field.
rates() {
    awk -v field="$1" '{ all[$field]++; reported[$field] += $3 }
        END { for (key in all) printf "%6.2f %% %5d of %6d  %s\n", 100 * reported[key] / all[key], reported[key], all[key], key }' \
        "$work/results"
}
echo "$count pairs of one program; rows that are reported, of those that are tested:"
rates 2 | sort -k 5
echo 'the worst pairs:'
rates 1 | sort -rn | head -n 5
awk -v most=$most '{ reported += $3 }
    END { printf "in all %.2f %% of %d rows; at most %d %%\n", 100 * reported / NR, NR, most; exit reported > NR * most / 100 }' \
    "$work/results"
