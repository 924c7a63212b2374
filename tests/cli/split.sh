# shellcheck shell=bash
# A timeline in parts: complete documents of about the requested size, without losses.
trace=go1.26-net.trace
sample $trace
total() { jq -s '[.[].traceEvents[] | select(.ph == "X") | .dur * 1000 | round] | add' "$@"; }
for by in proc goroutine thread; do
    gotrace convert --by $by -o whole.json $trace
    run gotrace convert --by $by --split 64K -o part.json $trace
    ls part-*.json
    find . -name 'part-*.json' -size +64k
    [ "$(total whole.json)" = "$(total part-*.json)" ] || echo 'slices were lost'
    for part in part-*.json; do
        jq -r '([.stackFrames[].parent, .traceEvents[].sf, .traceEvents[].esf] | map(values | tostring)
                | unique) as $used | if (.stackFrames | keys | sort) == ($used | sort) then empty
                else "other frames than those that are shown" end' "$part"
        jq -r '[.traceEvents[].ts] | if . == sort then empty else "not in order" end' "$part"
    done
    rm part-*.json
done

echo '== names'
mkdir a.b
run gotrace convert --to chrome --split 64K -o a.b/out $trace
run gotrace convert --split 1G -o one.json.zst $trace
find . -name '*-[0-9]*' | sort

echo '== all or none'
mkdir all none
run gotrace convert --split 64K -o none/x.json missing
mkdir none/x-3.json
gotrace convert --split 64K -o none/x.json $trace 2>/dev/null
echo "=> $?"
find none | sort

echo '== what is refused'
run gotrace convert --to chrome --split 64K $trace
run gotrace convert --split 64K -o x.pftrace $trace
for size in 0 63K 1T 10MB -1 18446744073709551615G ''; do
    run gotrace convert --split=$size -o x.json $trace
done
