# shellcheck shell=bash
# A trace with many problems: so many are told, all are counted.
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
run gotrace validate --max-errors 2 trace
run gotrace validate --max-errors=0 -q trace
run gotrace validate --max-errors 1 --json trace
run gotrace info --json trace
gotrace print -o events trace
wc -l <events
