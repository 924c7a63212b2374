# shellcheck shell=bash
# Messages about a recovery: one sentence for lost tables, hexadecimal offsets, singular for one, and no
# mention of writing for a verb that only reads.
for name in go1.26-net go1.19-http go1.22-cgothread; do sample $name.trace; done
size=$(stat -c %s go1.26-net.trace)
head -c $((size / 10)) go1.26-net.trace >rewritten.26
head -c $((size * 3 / 5)) go1.26-net.trace >within.26
head -c $((size * 9 / 10)) go1.26-net.trace >strings.26
head -c 4473 go1.19-http.trace >cut.19

echo '== the tables are lost'
for file in rewritten.26 within.26 strings.26 cut.19; do
    run gotrace validate $file
    gotrace repair --json -o good.trace $file | jq -c 'select(.kind == "tables.lost") | [.count, .message]'
done

echo '== nothing is written by verbs that read'
for verb in validate info print 'convert --to chrome'; do
    # shellcheck disable=SC2086
    gotrace $verb rewritten.26 2>&1 >out | grep -aF '[events.rewritten]'
done
gotrace repair -o good.trace rewritten.26 2>&1 | grep -aF '[events.rewritten]'

echo '== several traces in a file'
cat go1.26-net.trace go1.19-http.trace >several.26
cat go1.19-http.trace go1.26-net.trace >several.19
for file in several.26 several.19; do
    gotrace validate $file 2>&1 | grep another
    gotrace repair -o good.trace $file 2>&1 | grep another
    gotrace repair --all -o good.trace $file 2>&1 | grep another
done

echo '== one of each'
printf '%s\n' 'Trace Go1.21' 'Batch p=0 ticks=1' 'HeapAlloc dt=1 mem=1' 'Frequency freq=1' |
    gotrace synth -q -o one.trace
run gotrace validate one.trace

echo '== a difference of times beyond 64 bits'
for frequency in 1 1000000000; do
    printf '%s\n' 'Trace Go1.5' "Batch p=0 seq=1 ticks=9223372036854775807" 'HeapAlloc dseq=1 dt=0 mem=1' \
        "Batch p=1 seq=2 ticks=1" 'HeapAlloc dseq=1 dt=1 mem=1' "Frequency freq=$frequency unused=0" |
        gotrace synth -o order.trace
    run gotrace validate --no-recover order.trace
done
