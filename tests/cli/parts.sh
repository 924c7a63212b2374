# shellcheck shell=bash
# A trace split and merged: the same events in the same order.

# events FILE: its events, without offsets and ids of strings and stacks.
events() {
    gotrace print --format jsonl "$1" 2>/dev/null | sed -E \
        -e 's/"(offset|cause|stack|start)":[0-9]+,?//g' \
        -e 's/"([a-z_]*_string|stk|stack|new_stack|labelid|typeid|keyid)":[0-9]+,?//g'
}

# same NAME FILE OTHER: whether both have the same events and verdict.
same() {
    events "$2" >expected
    events "$3" >found
    cmp -s expected found || echo "$1: other events"
    gotrace validate -q "$2" >/dev/null 2>&1
    local was=$?
    gotrace validate -q "$3" >/dev/null 2>&1
    [ $? -eq $was ] || echo "$1: the verdict is another"
}

echo '== all traces'
mapfile -t samples < <(all_samples)
for trace in "${samples[@]}" "$TRACES"/unsound/*.trace; do
    name=$(basename "$trace" .trace)
    case $(head -c 7 "$trace") in
    'go 1.22' | 'go 1.23' | 'go 1.25' | 'go 1.26') ways='thread generation' ;;
    *) ways=proc ;;
    esac
    for by in $ways; do
        gotrace split -q --by "$by" -o "$name-$by" "$trace" || echo "$name: not split by $by"
        #         The order of the parts does not matter.
        mapfile -t parts < <(ls "$name-$by"/*)
        mapfile -t back < <(ls -r "$name-$by"/*)
        gotrace merge -q -o one "${parts[@]}" 2>/dev/null
        gotrace merge -q -o two "${back[@]}" 2>/dev/null
        cmp one two || echo "$name: depends on the order of the parts"
        if [ "$by" = generation ]; then
            cmp one "$trace" || echo "$name: not the same bytes"
            gotrace validate -q "${parts[@]}" >log 2>&1 || cat log
        else
            same "$name by $by" "$trace" one
        fi
    done
done

echo '== names'
ls go1.21-prof-proc go1.26-user-thread go1.25-flight-2-generation

echo '== parts of parts'
for part in go1.22-gensgc-generation/*; do
    gotrace split --by thread -o threads "$part"
done
# More parts than are open at a time.
find threads -type f | wc -l
gotrace merge -o again.trace threads/* || echo "=> $?"
same again "$TRACES/go1.22-gensgc.trace" again.trace

# Parts for which nothing waits: a thread with its own proc, and the events without a thread.
gotrace split -q --by thread -o chan "$TRACES/go1.27-chan.trace"
run gotrace merge -o chan.trace chan/*.m-1.trace chan/*.m18871.trace
run gotrace merge -o chan.trace chan/*.m1*.trace
run gotrace merge -o chan.trace chan/*

# Other ids for the same strings and stacks: one-byte ids in reverse order.
other_ids() {
    gotrace dump "$1" | awk '
        function turned(field,   at) {
            at = index(field, "=")
            n = substr(field, at + 1) + 0
            return n > 0 && n < 128 ? substr(field, 1, at) (128 - n) : field
        }
        {
            line = $0
            sub(/[^\t ].*/, "", line)
            for (i = 1; i <= NF; i++) {
                if ($i ~ /^(stk|stack|new_stack|func|file|labelid|typeid|keyid|[a-z]+_string)=/ ||
                    ($1 ~ /^(String|Stack)$/ && $i ~ /^id=/))
                    $i = turned($i)
                line = line (i > 1 ? " " : "") $i
            }
            print ($1 ~ /^data=/ ? $0 : line)
        }' | gotrace synth -o "$2"
}

echo '== parts with other ids'
for name in go1.21-user go1.19-prof gccgo-many go1.22-user go1.26-prof; do
    for part in "$name"-{proc,thread}/*; do
        [ -e "$part" ] || continue
        cp "$part" keep
        other_ids keep "$part"
        if cmp -s keep "$part"; then echo "$part: the same ids"; fi
        gotrace merge -q -o one "$(dirname "$part")"/* || echo "=> $?"
        same "$part with other ids" "$TRACES/$name.trace" one
        cp keep "$part"
    done
done

echo '== bare batches'
[ -d go1.19-http-proc ] || gotrace split -q --by proc -o go1.19-http-proc "$TRACES/go1.19-http.trace"
for proc in 0 1; do # they begin after the header
    tail -c +17 go1.19-http-proc/go1.19-http.p$proc.trace >p$proc.bare
done
cp go1.19-http-proc/go1.19-http.p-1.trace rest.trace
run gotrace merge -o bare.trace p0.bare rest.trace p1.bare
same 'bare batches and a header' "$TRACES/go1.19-http.trace" bare.trace
tail -c +17 rest.trace >rest.bare
run gotrace merge --go 1.19 -o bare.trace rest.bare p1.bare p0.bare
same 'bare batches' "$TRACES/go1.19-http.trace" bare.trace
run gotrace merge -o bare.trace p0.bare p1.bare
run gotrace merge -o bare.trace p0.bare go1.26-user-thread/*m-1.trace
gotrace dump p0.bare 2>&1
# The first batch of each, as in memory: nothing after its events.
gotrace dump "$TRACES/go1.19-chan.trace" | awk '/^Batch/ { n++ } /^Frequency/ { exit } { print }
    END { if (n < 2) print "too few" }' | gotrace synth | tail -c +17 >all.bare
run gotrace merge --go 1.19 -q -o bare.trace all.bare
run gotrace merge --go 1.19 --frequency 1000000000 -q -o bare.trace all.bare

echo '== through pipes'
gotrace split --by thread --zstd -o packed - <"$TRACES/go1.27-seconds.trace"
ls packed
gotrace merge packed/trace.m[1-9]* - <packed/trace.m-1.trace.zst >one
same pipes "$TRACES/go1.27-seconds.trace" one

# A proc that is stolen from a goroutine in a system call without other events: its thread occurs
# before its status. Generations are independent.
gotrace gen --seed 6 --go 1.22 --cover --events 2000 -o taken.trace
gotrace split --by generation -o taken taken.trace
run gotrace validate -q taken/*

# The frequency may be in the last batch of events, which begins long before the footer.
gotrace synth -o last.trace <<'TRACE'
Trace Go1.19 level=meaning procs=2
GoCreate t=500 on_g=1 p=0 g=7
GoStart t=3000 p=1 g=7
GoSched t=90000000 p=1 g=7
	stk="main.work /src/main.go:9"
GoStart t=90001000 p=1 g=7
GoEnd t=90002000 p=1 g=7
GoEnd t=90003000 p=0 g=1
TRACE
gotrace dump last.trace | awk '/^Batch/ { batch = $0; next } /^Frequency/ { print; print batch; batch = ""; next }
    { if (batch != "") print batch; batch = ""; print }' | gotrace synth -o early.trace
gotrace dump early.trace | grep '^Batch\|^Frequency'
gotrace split -q --by proc -o early early.trace
run gotrace merge -o joined.trace early/*
gotrace dump joined.trace | grep '^Batch\|^Frequency'
