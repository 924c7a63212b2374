# shellcheck shell=bash
# Options that restrict a timeline to a part of the trace.
trace=go1.27-chan.trace
sample $trace
gotrace convert --to perfetto --from 100us --until 0.2ms -o one "$trace"
gotrace convert --until=200us --to=perfetto --from=100000ns -o two "$trace"
cmp one two
gotrace convert --only procs,flows --from 0s -o some.pftrace "$trace"
gotrace convert --only flows,procs -o same.pftrace "$trace"
cmp some.pftrace same.pftrace
gotrace convert -o all.pftrace "$trace"
gotrace convert --no-system -o ours.pftrace "$trace"
gotrace convert --no-system -o ours.json "$trace"
for part in one some.pftrace ours.pftrace; do
    [ "$(stat -c %s $part)" -lt "$(stat -c %s all.pftrace)" ] || echo "$part is not smaller"
done
grep -c 'runtime.gcBgMarkWorker' all.pftrace ours.pftrace
jq -r '.traceEvents[] | select(.ph == "X") | .name' ours.json | grep -c 'G[0-9]* runtime\.'
# The same for chrome, one part at a time.
gotrace convert --until 200us --to chrome --from 100us -o window.json "$trace"
jq -c '[.traceEvents[] | select(.ph != "M")] | [(map(.ts) | min), (map(.ts + (.dur // 0)) | max)]
    | map(. * 1000 | round)' window.json
# Everything that is referred to is defined, and nothing else.
jq '([.stackFrames[].parent, .traceEvents[].sf, .traceEvents[].esf] | map(values | tostring) | unique)
    == (.stackFrames | keys | sort)' window.json
# What is active at the start: a slice without its first stack, and the counters.
jq -c '.traceEvents[] | select(.ts == 100 and .ph != "M") | [.name, .ph, .tid, .sf, .args]' window.json
sample go1.26-user.trace
sample go1.19-user.trace
# What is open where the range ends has its names, also if other threads read the rest.
for user in go1.19-user.trace go1.26-user.trace; do
    for format in chrome perfetto; do
        for until in 50us 200us 400us; do
            gotrace convert -j 1 --to $format --until $until -o one $user
            gotrace convert -j 2 --to $format --until $until -o two $user
            cmp one two
        done
    done
done
for part in procs gc,procs,flows flows,procs tasks tasks,flows regions logs counters samples; do
    echo "$part: $(gotrace convert --to chrome --only $part go1.26-user.trace |
        jq -r '[.traceEvents[].ph] | group_by(.) | map("\(length) \(.[0])") | join(", ")')"
done
gotrace convert --to chrome --by goroutine --only goroutines -o some.json go1.26-user.trace
gotrace convert --to chrome --by goroutine --only procs,goroutines,threads -o same.json \
    go1.26-user.trace
cmp some.json same.json
# Times without a unit, too large, in the wrong order; unknown names; options that other targets do not support.
for options in '--from 2' '--from 1h' '--from 1.s5' '--until 9223372036855s' '--from s' \
    '--from 2ms --until 1ms' '--until 0s' '--only procs,gos' '--only ,' "--only ''"; do
    eval "run gotrace convert --to perfetto $options -o none $trace"
done
# --to took times before --until existed.
run gotrace convert --to 1ms --to perfetto -o none "$trace"
run gotrace convert --to perfetto --to=1.5s -o none "$trace"
# --by selects procs, goroutines or threads in chrome.
run gotrace convert --to chrome --only goroutines "$trace"
run gotrace convert --to chrome --by thread --only procs,goroutines,flows "$trace"
run gotrace convert --to text --from 1s "$trace"
run gotrace convert --to json --no-system "$trace"
run gotrace convert --from 1ms --to go1.26 "$trace"
run gotrace convert --until 1ms --to go1.26 "$trace"
# Threads with each run of a goroutine are larger than with their procs.
gotrace convert --thread-runs --only threads -o runs.pftrace "$trace"
gotrace convert --only threads -o procs.pftrace "$trace"
[ "$(stat -c %s procs.pftrace)" -lt "$(stat -c %s runs.pftrace)" ] || echo 'runs are not larger'
run gotrace convert --to chrome --thread-runs "$trace"
run gotrace convert --to text --thread-runs "$trace"
# --detail merges what is shorter.
for detail in 0 10 -1ms 2026-11-22T10:00:00Z ''; do
    run gotrace convert --to perfetto --detail "$detail" -o none "$trace"
done
run gotrace convert --to chrome --detail 1ms -o none "$trace"
gotrace convert -o all.pftrace "$trace"
gotrace convert --detail 100us -o merged.pftrace "$trace"
[ "$(stat -c %s merged.pftrace)" -lt "$(($(stat -c %s all.pftrace) / 2))" ] || echo 'merged is not half as large'
[ ! -e none ]

# A time range after the end of the trace is empty: a warning, with the trace's length, except with -q.
run gotrace convert --to perfetto --from 90s -o after.pftrace $trace
run gotrace convert --to chrome --from 90s -o after.json $trace
run gotrace convert --to chrome --from 90s --until 91s -o after.json $trace
run gotrace convert -q --to chrome --from 90s -o after.json $trace

# A timeline that may be too large: before it is written, by the size of the trace, also if that is read from a pipe or compressed.
# The limit ends the work early.
gotrace gen --go 1.21 --events 3200000 -q -o large.trace
gotrace gen --go 1.26 --events 3200000 -q -o large.new.trace
for options in '--to chrome' '--to chrome --only procs' '--to chrome --until 1ms' '--to perfetto' '-q --to chrome'; do
    # shellcheck disable=SC2086
    run gotrace convert $options --max-output 64K -o out.json large.trace
done
run gotrace convert --to chrome --max-output 64K -o out.json - <large.trace
zstd -qc large.trace | run gotrace convert --to chrome --max-output 64K -o out.json
run gotrace convert --to perfetto --max-output 64K -o out.pftrace large.trace large.new.trace large.trace large.trace
