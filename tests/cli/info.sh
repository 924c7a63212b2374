# shellcheck shell=bash
# All figures of two traces, and for every trace that the bytes by type sum to its size.
cd "$TRACES" || exit 1
gotrace info go1.19-user.trace
gotrace info --json gccgo-chan.trace
for trace in *.trace; do
    gotrace info "$trace" | awk -v name="$trace" -v size="$(wc -c <"$trace")" '
        $1 == "proc" { table = "" }
        $1 == "all" && $2 == "of" { all = $6; table = "" }
        table { sum += $(NF - 1) }
        $1 == "type" { table = "types" }
        END { if (sum != size || all != size) print name, size, sum, all }'
    # The batches by proc hold all events; samples belong to no proc.
    gotrace info "$trace" | awk -v name="$trace" '
        table { sum += $NF }
        $1 == "events" { events = $2 }
        $2 == "samples" { sum += $3 }
        $1 == "proc" { table = 1 }
        END { if (sum != events) print name, events, sum }'
done
