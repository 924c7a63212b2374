# shellcheck shell=bash
# "Events" is one number, that of the lines of print, in every verb and format, for sound and damaged traces.
command -v python3 >/dev/null || skip 'python3 is not installed'

# counts FILE: print each place that has the number of events, with it.
counts() {
    local good=good.trace member='select(.events != null and .type != "recovered" and .type != "loss").events'
    echo "print: $(gotrace print -q "$1" 2>/dev/null | wc -l)"
    echo "print --format jsonl: $(gotrace print -q --format jsonl "$1" 2>/dev/null | wc -l)"
    echo "validate: $(gotrace validate "$1" 2>/dev/null | sed -nE 's/.*[ (]([0-9]+) events?,.*/\1/p')"
    echo "validate -j 2: $(gotrace validate -j 2 "$1" 2>/dev/null | sed -nE 's/.*[ (]([0-9]+) events?,.*/\1/p')"
    echo "info: $(gotrace info "$1" 2>/dev/null | sed -n 's/^events *//p')"
    echo "stat: $(gotrace stat "$1" 2>/dev/null | sed -nE '1,/ events? \(/s/.*, ([0-9]+) events?\>.*/\1/p')"
    for verb in validate info stat; do
        echo "$verb --json: $(gotrace "$verb" --json "$1" 2>/dev/null | jq "$member")"
    done
    gotrace convert -q --to html -o out.html "$1" 2>/dev/null
    echo "HTML: $(sed -nE 's/.*<dt>Events<dd>([0-9,]+).*/\1/p' out.html | tr -d ,)"
    gotrace convert -q --to parquet -o tables "$1" 2>/dev/null
    echo "Parquet: $(python3 -B "$TRACES/../../tests/cli/parquet.py" rows tables/trace.parquet events | jq .events)"
    #     What is recovered of damaged data, and what a repaired trace has.
    gotrace validate --json "$1" 2>/dev/null |
        jq -r 'select(.type == "recovered") | "recovered --json: \(.events)"'
    gotrace validate "$1" 2>&1 | sed -nE 's/.*note: (recovered): ([0-9]+) events?;.*/\1: \2/p'
    if gotrace print "$1" 2>&1 >/dev/null | grep -q 'note: recovered'; then
        echo "repair: $(gotrace repair -q --json -o $good "$1" | jq 'select(.traces).events')"
        echo "validate of the repaired trace: $(gotrace validate --json $good | jq .events)"
    fi
    rm -rf tables $good out.html
}

names=(go1.19-gc go1.22-gens go1.26-flightboth)
[ -z "${ALL:-}" ] || names+=(gccgo-http go1.21-user go1.23-iter go1.25-gensprof go1.27-seconds)
for name in "${names[@]}"; do
    sample "$name.trace"
    size=$(stat -c %s "$name.trace")
    head -c $((size * 2 / 3)) "$name.trace" >"$name.cut"
    cp "$name.trace" "$name.zeros"
    dd if=/dev/zero of="$name.zeros" bs=1 seek=$((size / 2)) count=300 conv=notrunc status=none
    cp "$name.trace" "$name.byte"
    printf '\377' | dd of="$name.byte" bs=1 seek=$((size / 3)) conv=notrunc status=none
done
# Until 1.10 there is no sample.
for version in 5 8; do gotrace convert -q --to go1.$version -o go1.$version.trace go1.19-gc.trace; done
sample unsound/go1.21-cgothread.trace unsound.trace
for file in *; do
    counts "$file" >log
    if [ "$(sed 's/.*: *//' log | sort -u | wc -l)" != 1 ] || [ "$(wc -l <log)" -lt 11 ]; then
        echo "== $file"
        cat log
    fi
done
