# shellcheck shell=bash
# Every event of the tables (gen --cover) is handled by every component that handles events. Prints the
# exceptions: the event, and the component.
for from in 5 11 21 22 23 26; do
    gotrace gen --go 1.$from --cover --events 0 -o cover.trace
    #     An event without a counterpart is listed in a line of the losses, or is written as several events.
    for to in 5 11 21 22 23 26; do
        gotrace convert --to go1.$to -o other.trace cover.trace 2>&1 |
            sed -n "s/.*note: \(.*has nothing like it\)$/1.$from: convert --to go1.$to: \1/p"
    done
    #     Scripts of level meaning contain each event as often as the file.
    gotrace dump cover.trace | awk 'NR > 1 && /^[A-Z]/ { print $1 }' | sort | uniq -c >raw
    gotrace dump --level meaning cover.trace | awk 'NR > 1 && /^[A-Z]/ { print $1 }' | sort | uniq -c >events
    #     Except short forms of v1, and records that are not events.
    local_forms='Go[A-Za-z]*Local$'
    tables='^ *[0-9]* (EventBatch|Batch|Frequency|Stacks?|Strings?|CPUSamples|Sync|ClockSnapshot|EndOfGeneration|TimerGoroutine)$'
    sed "s/Local$//" raw | awk '{ n[$2] += $1 } END { for (name in n) print n[name], name }' |
        grep -vE "$tables" | sort >all
    sed "s/^ *//" events | grep -vE "$tables|$local_forms" | sort | comm -23 all - |
        sed "s/^[0-9]* \(.*\)/1.$from: dump --level meaning: \1/"
    # A metric is a counter of the timeline.
    gotrace convert -q --to perfetto -o cover.pftrace cover.trace
    gotrace print --format jsonl cover.trace | jq -r 'select(.kind == "metric").metric' | sort -u |
        while read -r metric; do
            grep -qa "$metric" cover.pftrace || echo "1.$from: convert --to perfetto: $metric"
        done
    #     Events have names, and kinds that Go's readers have.
    gotrace print cover.trace | grep -m 1 -w unknown | sed "s/^/1.$from: print: /"
    gotrace print --format go cover.trace | grep -m 1 -w Bad | sed "s/^/1.$from: print --format go: /"
done
