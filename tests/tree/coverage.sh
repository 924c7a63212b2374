#!/usr/bin/env bash
# coverage.sh BUILD: after tests were run in a build with --coverage, print the share of lines that they
# ran, for each source and each layer. Fails if that of lib is below the minimum.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1
demanded=90

find "$build/obj" -name '*.gcda' | while read -r data; do
    gcov -n -s . -r -o "$(dirname "$data")" "$data" 2>/dev/null
done | awk -v demanded=$demanded '
    function line(run, all, what) { return sprintf("%6.2f%% of %5d  %s", 100 * run / all, all, what) }
    # A line of figures follows that of the file; the last one is the total of an object.
    /^File / { file = $2; gsub(/\x27/, "", file) }
    /^Lines executed:/ && file ~ /^(lib|formats|cmd)\/.*\.c$/ {
        split($0, part, /[:% ]+/)
        layer = substr(file, 1, index(file, "/") - 1)
        run[layer] += part[3] * part[5] / 100
        all[layer] += part[5]
        print line(part[3] * part[5] / 100, part[5], file) | "sort -k4"
        file = ""
    }
    END {
        close("sort -k4")
        print line(run["cmd"], all["cmd"], "cmd")
        print line(run["formats"], all["formats"], "formats")
        if (!all["lib"]) {
            print "nothing is known of lib: were the tests run?"
            exit 1
        }
        low = 100 * run["lib"] < demanded * all["lib"]
        print line(run["lib"], all["lib"], "lib") (low ? ", which is below " demanded "%" : "")
        exit low
    }'
