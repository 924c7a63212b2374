# shellcheck shell=bash
# Go writes strings and stacks that nothing refers to. Only validate -v reports them.
sample go1.25-gensprof.trace stack.trace
gotrace gen --go 1.26 --events 200 --defect table.unused -o string.trace 2>note
gotrace dump "$TRACES/go1.27-empty.trace" | sed 's/kind_string=23/kind_string=15/' >both
gotrace synth -o both.trace both

for trace in stack string both; do
    echo "== $trace"
    gotrace validate -v $trace.trace 2>&1 | grep -v ' s, '
    gotrace validate -v -j 2 --json $trace.trace 2>/dev/null | jq -c '[.rule, .message, .warnings] | map(values)'
    while read -r verb; do
        # shellcheck disable=SC2086
        gotrace $verb $trace.trace 2>&1 >out | sed "s/^/$verb: /"
    done <<'VERBS'
validate
validate -j 2
validate --json
info
stat
print
find heap>0
why --goroutine 1
convert --to html
convert --to perfetto
convert --to go1.25
convert --to parquet -o tables
dump
repair -o repaired
anonymize -o anonymous
VERBS
    gotrace print -v $trace.trace 2>&1 >out | sed -n "/unused/p"
done
