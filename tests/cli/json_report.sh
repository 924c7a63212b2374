# shellcheck shell=bash
# With --json and -o every verb reports problems as JSON, on standard output or in OUT.
sample go1.26-gens.trace
: >empty
echo text >text
cp "$TRACES/go1.21-http.trace" damaged && chmod u+w damaged
truncate -s 6000 damaged

# report VERB ARGUMENT...: print the status, and the rules and losses reported.
report() {
    local status
    rm -f out
    gotrace "$1" --json -o out "${@:2}" >stdout 2>stderr
    status=$?
    cat stdout out 2>/dev/null >both
    printf '%s: status %s; %s\n' "$*" "$status" "$(cat both stderr |
        grep -a -o '"rule":"[a-z.]*"\|"kind":"bytes.lost"\|\[[a-z.][a-z.]*\]' | sort -u | tr '\n' ' ')"
}

for verb in $(gotrace help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    usage=$(gotrace help "$verb")
    [[ $usage == *--json* && $usage == *FILE* ]] || continue
    needs=()
    [ "$verb" != why ] || needs=(--goroutine 1)
    [ "$verb" != find ] || needs=(run)
    [ "$verb" != diff ] || needs=(--base go1.26-gens.trace)
    report "$verb" "${needs[@]}" empty
    report "$verb" "${needs[@]}" text
    report "$verb" "${needs[@]}" missing
    report "$verb" "${needs[@]}" --max-memory 1K go1.26-gens.trace
    report "$verb" "${needs[@]}" damaged
    report "$verb" "${needs[@]}" go1.26-gens.trace
done

echo '== a failed write of the report is reported'
gotrace repair --json -o out text 2>log >/dev/full
echo "status $?"
cat log
