# shellcheck shell=bash
# A trace with many problems: up to a limit they are reported, all are counted. With -v each one is, otherwise the
# first ones and the number of the others.
{
    echo 'Trace Go1.19'
    echo 'Batch p=0 ticks=1000'
    for _ in $(seq 30); do
        echo 'GCDone dt=10'
    done
    echo 'Frequency freq=1000000000'
} >script
run gotrace synth -o trace script
run gotrace validate trace
for most in 2 0; do
    run gotrace validate -v --max-errors $most trace | sed 's/ in [0-9.]* s, .*/ in N s, N/'
done
run gotrace validate --max-errors=1 -q trace
run gotrace validate --max-errors 1 --json trace
run gotrace info --json trace
gotrace print -o events trace
wc -l <events
