#!/usr/bin/env bash
# Makes fuzz/corpus/seeds: small traces that, together with the samples, reach the same code as traces
# with every event of every version. libFuzzer selects those that reach something that no smaller
# one does. Needs the targets that `make fuzz` builds.
#
#   fuzz/seeds.sh [FOLDER]     BUILD=build/fuzz
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build/fuzz}
folder=${1:-fuzz/corpus/seeds}
PATH=$(realpath build):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The candidates: the samples, synthetic traces, their parts, and their conversions to other versions.
mkdir "$work/all" "$work/chosen"
find testdata/traces -name '*.trace' -size -8k -exec cp -t "$work/all" {} +
for version in 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21 1.22 1.23 1.25 1.26; do
    gotrace gen --go "$version" --seed 1 --cover --events 0 --procs 2 --goroutines 32 -o "$work/cover-$version.trace"
    gotrace gen --go "$version" --events 60 --procs 2 --goroutines 16 -o "$work/all/gen-$version.trace"
    gotrace mutate --seed 1 -n 3 --keep-valid -o "$work/all" "$work/all/gen-$version.trace"
    gotrace mutate --seed 1 -n 3 -o "$work/all" "$work/all/gen-$version.trace"
done
cp "$work"/cover-*.trace "$work/all"
rm -f "$work"/all/*.json

# Count only the edges reached, not how often: that would select too many.
"$BUILD/fuzz/fuzz_reader" -merge=1 -use_counters=0 -artifact_prefix="$work/" -max_len=40000 -timeout=20 "$work/chosen" "$work/all" \
    >"$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }

# libFuzzer's names are digests; these are descriptive. The samples are seeds in their own folder.
rm -rf "$folder"
mkdir -p "$folder"
for file in "$work"/chosen/*; do
    for source in "$work"/all/*; do
        cmp -s "$file" "$source" || continue
        name=$(basename "$source")
        [ -e "testdata/traces/$name" ] || cp "$file" "$folder/$name"
        break
    done
done
du -sb "$folder"
