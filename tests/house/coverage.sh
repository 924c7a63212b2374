#!/usr/bin/env bash
# coverage.sh BUILD: after tests were run in a build with --coverage, the part of each source's
# lines that they ran.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1

find "$build/obj" -name '*.gcda' | while read -r data; do
    gcov -n -s . -r -o "$(dirname "$data")" "$data" 2>/dev/null
done | awk '
    /^File / { gsub(/.*\x27(\.\/)?|\x27$/, ""); file = $0 }
    /^Lines executed:/ && file ~ /^(lib|formats|cmd)\/.*\.c$/ {
        split($0, part, /[:% ]+/); share[file] = part[3]; lines[file] = part[5]
    }
    END {
        for (file in share) {
            printf "%6.2f%% of %5d  %s\n", share[file], lines[file], file | "sort -k4"
            run += share[file] * lines[file] / 100; all += lines[file]
        }
        close("sort -k4")
        if (all) printf "%6.2f%% of %5d  all\n", 100 * run / all, all
    }'
