# shellcheck shell=bash
# Names of lost strings: those of the runtime are copied from other generations, if at least two have
# them and all agree. Ids of different files are never taken for the same.

# lose TRACE GENERATION [SED]: the trace, changed by the script, without the strings of that generation.
lose() {
    gotrace dump "$TRACES/$1" | sed "${3:-}" | awk -v gen="$2" '
        /^EventBatch / { batch = $0; next }
        batch != "" { lost = $0 == "Strings" && index(batch, "EventBatch gen=" gen " ") == 1
                      if (!lost) print batch
                      batch = "" }
        /^EndOfGeneration/ { lost = 0 }
        !lost' | gotrace synth -q -
}
# reasons TRACE: time and reason of each event that has one.
reasons() { gotrace print -q --format jsonl "$1" 2>/dev/null | jq -r 'select(.reason) | "\(.time) \(.reason)"'; }

lost_names() { jq -r '.reason // .name // "" | select(startswith("<lost"))' | sort -u; }

echo '== each generation: names are copied, others are not known'
for trace in go1.22-gens go1.26-gens; do
    reasons "$TRACES/$trace.trace" >right
    for gen in 1 2 3 4; do
        lose $trace.trace $gen >lost.trace
        gotrace repair --json -o whole.trace lost.trace | jq -c 'select(.kind == "names.copied")'
        gotrace validate -q whole.trace && reasons whole.trace >found
        diff right found | sed -n 's/^> [0-9]* //p' | sort | uniq -c
    done
done
run gotrace repair -o whole.trace lost.trace
reasons lost.trace | cmp found -

echo '== another generation has another name'
lose go1.26-gens.trace 2 '0,/data="chan receive"/s//data="select"/' >lost.trace
run gotrace repair -o whole.trace lost.trace
reasons whole.trace | grep -o '<lost.*' | sort | uniq -c

echo '== of two generations one is left'
lose go1.26-flightboth-2-2.trace 4 >two.trace
run gotrace repair -o whole.trace two.trace

echo '== no generation of this file has them, another file has'
lose go1.26-user.trace 1 >user.trace
lose go1.26-net.trace 1 >net.trace
gotrace stat -q --json user.trace 2>/dev/null | lost_names | head -n 3
gotrace stat -q --json user.trace net.trace "$TRACES/go1.26-gens.trace" 2>/dev/null >all.json
gotrace stat -q --json --each user.trace net.trace 2>/dev/null >>all.json
lost_names <all.json | grep -v ' of user\.trace$' | grep -cv ' of net\.trace$'
lost_names <all.json | sed 's/.* of//' | sort | uniq -c
gotrace stat -q --full user.trace net.trace 2>/dev/null | grep -o '<lost [a-z]* [0-9]*>[^:<]*' | grep -cv '> of [a-z]*\.trace'
gotrace convert -q --to parquet -o tables user.trace net.trace 2>/dev/null
for table in tables/*.parquet; do
    python3 -B "$TRACES/../../tests/cli/parquet.py" rows "$table" 2>/dev/null
done | grep -oE '<lost [a-z]* [0-9]*>( of [a-z]*.trace)?' | sed 's/ [0-9]*>/>/' | sort | uniq -c
