# shellcheck shell=bash
# Without a header a trace is recognised by consistent batches. A batch starts after the previous one of the same proc;
# batches of other procs may have any time. Most bytes are of a proc whose times are before those of the other.
{
    echo 'Trace Go1.21'
    for round in 1 2 3 4 5 6; do
        echo "Batch p=2 ticks=$((1000000 + 100 * round))"
        echo 'HeapAlloc dt=1 mem=4096'
        echo "Batch p=1 ticks=$((1000 + 100 * round))"
        for dt in 1 2 3 4 5 6; do echo "HeapAlloc dt=$dt mem=$((4096 * dt))"; done
    done
    echo 'Frequency freq=1000000000'
} >script
gotrace synth --force -o whole.trace script
tail -c +17 whole.trace >headless
run gotrace repair -o good.trace headless
gotrace dump good.trace | grep -c HeapAlloc

# Nor are there two strings of the same id.
strings() {
    echo 'Trace Go1.21'
    for proc in 1 2 3 4; do
        echo "Batch p=$proc ticks=$((1000 * proc))"
        for i in 1 2 3 4 5 6 7 8; do printf 'String id=%d\n\tdata="a text"\n' $(($1 * (8 * proc + i) + 1)); done
    done
    echo 'Frequency freq=1000000000'
}
for factor in 1 0; do
    strings $factor | gotrace synth --force -o whole.trace -
    tail -c +17 whole.trace >headless
    run gotrace repair -o other.trace headless
done
