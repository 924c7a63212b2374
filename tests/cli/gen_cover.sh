# shellcheck shell=bash
# gen --cover contains each event of each version. Prints the missing ones; gotrace-gen(1) explains
# these.

# events N: the events of version N, from the table in gotrace-format(5).
events() {
    sed -n "/BEGIN $([ "$1" -lt 22 ] && echo events || echo events-v2)\$/,/END events/p" \
        "$TRACES/../../man/gotrace-format.5" |
        sed -n 's/^\.It [0-9]* Sy \([A-Za-z]*\).*/\1 &/p' |
        awk -v version="$1" '{ since = $0; if (!sub(/.*em from 1\./, "", since)) since = 0 }
            since + 0 <= version + 0 { print $1 }' | sort
}

for go in 5 7 8 9 10 11 19 21 22 23 25 26; do
    events $go >all
    [ "$(wc -l <all)" -ge 36 ] || echo "the table of 1.$go was not found"
    for profile in mixed http pipeline gc syscalls; do
        gotrace gen --go 1.$go --cover --events 0 --profile $profile -o trace
        gotrace validate trace >report 2>&1 || cat report
        gotrace dump trace | awk 'NR > 1 { print $1 }' | sort -u | comm -23 all - |
            sed "s/^/1.$go $profile: no /"
    done
done
