# shellcheck shell=bash
# The target is set by --to, or by the ending of OUT, in upper or lower case.
trace=go1.19-user.trace
sample $trace
for target in perfetto chrome text json jsonl cbor; do
    gotrace convert --to $target -o $target "$trace" || echo "=> $?"
    [ -s $target ] || echo "$target: nothing"
done
gotrace convert -o a.pftrace "$trace" && cmp perfetto a.pftrace
gotrace convert -o a.PERFETTO-TRACE "$trace" && cmp perfetto a.PERFETTO-TRACE
gotrace convert -o a.json "$trace" && cmp chrome a.json
gotrace convert -o a.jsonl "$trace" && cmp jsonl a.jsonl
gotrace convert -o a.json.zst "$trace" && [ "$(head -c 4 a.json.zst | od -An -tx1)" = ' 28 b5 2f fd' ]
# --to overrides the ending.
gotrace convert --to perfetto -o b.json "$trace" && cmp perfetto b.json
# The rows of the timeline.
gotrace convert --to chrome --by proc "$trace" | cmp chrome -
for by in proc goroutine thread; do
    gotrace convert --to chrome --by $by -o $by "$trace" || echo "=> $?"
    jq -r '.traceEvents[] | select(.name == "process_name" and .pid == 0) | .args.name' $by
    jq -r '.traceEvents[] | select(.name == "thread_name" and .pid == 0) | .args.name' $by |
        grep -v '^[A-Z][a-z]*$' | sort | head -n 2
done
run gotrace convert --to perfetto --by thread "$trace"
run gotrace convert -o x.txt --by goroutine "$trace"
run gotrace convert --to chrome --by threads "$trace"
# Scripts are equal to the output of dump.
for how in text json jsonl cbor; do
    gotrace dump --format $how "$trace" | cmp - $how
done
