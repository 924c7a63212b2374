# shellcheck shell=bash
# Timelines of traces with a million objects, in little memory.
is_built_with asan && skip 'a sanitizer needs its memory'
million=1000000

# v1: a goroutine that changes its state a million times, and a million consecutive goroutines.
{
    printf '%s\n' 'Trace Go1.21' 'Batch p=0 ticks=1000' 'GoCreate dt=1 g=1 stack=0 stk=0' \
        'ProcStart dt=0 thread=7' 'GoStart dt=1 g=1 seq=1'
    awk -v n=$million 'BEGIN { for (; n > 0; n -= 2) print "GoSched dt=3 stk=0\nGoStartLocal dt=5 g=1" }'
    echo 'Frequency freq=1000000000'
} | gotrace synth -o v1-changes
{
    printf '%s\n' 'Trace Go1.21' 'Batch p=0 ticks=1000'
    awk -v n=$million 'BEGIN {
        for (g = 1; g <= n; g++)
            print "GoCreate dt=1 g=" g " stack=0 stk=0\nGoStart dt=1 g=" g " seq=1\nGoEnd dt=1"
    }'
    echo 'Frequency freq=1000000000'
} | gotrace synth -o v1-goroutines

# The same in v2, where batches contain their sizes, which are limited.
v2='function size(v, n) { for (n = 1; v >= 128; v = int(v / 128)) n++; return n }
    function put(line, bytes) {
        if (used + bytes > 60000) flush()
        text = text line "\n"; used += bytes
        if (length(text) > 4000) { parts[++count] = text; text = "" }
    }
    function flush(i) {
        print "EventBatch gen=1 m=7 time=" time " size=" used
        for (i = 1; i <= count; i++) printf "%s", parts[i]
        printf "%s", text
        text = ""; used = count = 0; time = now
    }
    BEGIN {
        print "Trace Go1.22\nEventBatch gen=1 m=18446744073709551615 time=1000 size=6"
        print "Frequency freq=1000000000"
        now = time = 1000
        put("ProcStatus dt=0 p=0 pstatus=1", 4)'
awk -v n=$million "$v2"'
        put("GoStatus dt=0 g=1 m=7 gstatus=2", 5)
        for (i = 1; i <= n / 2; i++) {
            put("GoStop dt=3 reason_string=0 stack=0\nGoStart dt=5 g=1 g_seq=" i, 7 + size(i))
            now += 8
        }
        flush()
    }' | gotrace synth -o v2-changes
awk -v n=$million "$v2"'
        for (g = 2; g <= n + 1; g++) {
            put("GoCreate dt=1 new_g=" g " new_stack=0 stack=0\nGoStart dt=1 g=" g " g_seq=1\n" \
                "GoDestroy dt=1", 9 + 2 * size(g))
            now += 3
        }
        flush()
    }' | gotrace synth -o v2-goroutines

# within NAME TRACE: convert within 64 MiB, including the program and its libraries.
within() {
    (ulimit -v 65536; exec gotrace convert -q --to "$1" -o - "$2")
}
for trace in v1-changes v2-changes v1-goroutines v2-goroutines; do
    gotrace validate $trace
    slices=$(within chrome $trace | grep -cF '"ph":"X"'; exit "${PIPESTATUS[0]}")
    echo "chrome: => $?, $slices slices"
    within perfetto $trace | cat >out
    echo "perfetto: => ${PIPESTATUS[0]}"
    [ -s out ]
done

# Objects that exist at the same time need memory, half of it in the reader: here 105 MiB, and for
# chrome 134 MiB if the consumer of the output is slow: it begins when all threads of the program wait.
all_wait() { [ -s pid ] && ! ps -L -o s= -p "$(cat pid)" | grep -qv '[SZ]'; }
{
    printf '%s\n' 'Trace Go1.21' 'Batch p=0 ticks=1000'
    awk 'BEGIN {
        for (g = 1; g <= 300000; g++)
            print "GoCreate dt=1 g=" g " stack=0 stk=0\nGoStart dt=1 g=" g " seq=1\nGoBlock dt=1 stk=0"
    }'
    echo 'Frequency freq=1000000000'
} | gotrace synth -o v1-alive
for format in chrome perfetto; do
    (echo $BASHPID >pid; ulimit -v 143360; exec gotrace convert -q --to $format v1-alive) |
        (wait_until all_wait; cat >/dev/null)
    echo "$format: => ${PIPESTATUS[0]}"
    rm pid
done

# Damaged traces: half of the file.
head -c $(($(stat -c %s v2-changes) / 2)) v2-changes >half
within chrome half >half.json 2>/dev/null
echo "=> $?, $(grep -c '"ph":"X"' half.json)"
tail -n 3 half.json
