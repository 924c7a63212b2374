# shellcheck shell=bash
# All figures of some traces; for every trace, the bytes by type add up to its size.
cd "$TRACES" || exit 1
gotrace info go1.19-user.trace
gotrace info --json gccgo-chan.trace
gotrace info go1.22-gensgc.trace
gotrace info go1.26-gens.trace
gotrace info --json go1.23-iter.trace
gotrace info --json go1.25-gensprof.trace
mapfile -t samples < <(all_samples)
for trace in "${samples[@]##*/}"; do
    gotrace info "$trace" 2>/dev/null | awk -v name="$trace" -v size="$(wc -c <"$trace")" '
        $1 == "proc" || $1 == "generation" { table = "" }
        $1 == "records" { records = $2 }
        $1 == "all" && $2 == "of" { all = $6; all_records = $5; table = "" }
        table { sum += $(NF - 1) }
        $1 == "type" { table = "types" }
        END {
            if (sum != size || all != size || all_records != records)
                print name, size, sum, all, records, all_records
        }'
    #     The batches by proc contain all events; samples belong to no proc.
    gotrace info "$trace" 2>/dev/null | awk -v name="$trace" '
        table { sum += $NF }
        $1 == "events" { events = $2 }
        $2 == "samples" { sum += $3 }
        $1 == "proc" { table = 1 }
        $1 == "generation" { exit }
        END { if (sum != events && $1 != "generation") print name, events, sum }'
    #     The generations cover the whole file except its header, and contain all records with a time.
    gotrace info --json "$trace" 2>/dev/null | jq -r --arg name "$trace" '
        select(.by_generation) | . as $all |
        [.by_generation | length, ([.[] | .bytes] | add), ([.[] | .batches] | add),
         ([.[] | .timed_records] | add), ([.[] | .strings] | add), ([.[] | .stacks] | add),
         ([.[] | .samples] | add)] as $sums |
        [.generations, .size - .header_bytes, .batches, .timed_records, .strings, .stacks, .samples] |
        select(. != $sums) | "\($name): \(.), but \($sums)"'
done
