# shellcheck shell=bash
# Every way to write an option.
trace=go1.19-chan.trace
sample $trace
gotrace print --format=jsonl "$trace" >one
gotrace print --format jsonl "$trace" >two
gotrace print "$trace" --format jsonl >three
gotrace print --format text --format jsonl -- "$trace" >four
gotrace print --format jsonl -ofive "$trace"
gotrace print --format jsonl -o six "$trace"
gotrace print --format jsonl --output=seven "$trace"
gotrace print -qv --format jsonl --output eight "$trace"
gotrace print --format jsonl --output - "$trace" >nine
for other in two three four five six seven eight nine; do
    cmp one $other
done
# Arguments after -- are file names; - is standard input.
run gotrace validate -- --json
cp "$trace" ./-q
run gotrace validate -- -q
run gotrace validate - <"$trace"
run gotrace validate <"$trace"

# A number of threads. More than are useful are no error, and change nothing.
for threads in 0 -1 abc '' 1.5 2x 18446744073709551616; do
    run gotrace validate -j "$threads" "$trace"
done
gotrace print --format jsonl -j 1000000 "$trace" | cmp one
run gotrace validate -j 1000000 "$trace" ./-q
