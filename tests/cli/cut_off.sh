# shellcheck shell=bash
# A process that is killed leaves a trace whose last generation has no tables, and lacks the last events of each
# thread. This is one error, whatever waits for these events, and for how long.
for version in 1.22 1.23 1.25; do
    {
        echo "Trace Go$version"
        if [ $version = 1.25 ]; then
            echo 'EventBatch gen=1 m=18446744073709551615 time=999999'
            echo 'Sync'
            echo 'Frequency freq=1000000000'
            echo 'ClockSnapshot dt=0 mono=1 sec=1 nsec=1'
        fi
        echo 'EventBatch gen=1 m=1 time=1000000'
        echo 'ProcStatus dt=1 p=0 pstatus=1'
        echo 'GoStatus dt=1 g=1 m=1 gstatus=2'
        echo 'GoCreate dt=100 new_g=9 new_stack=3 stack=4'
        echo 'HeapAlloc dt=20000 heapalloc_value=1'
        echo 'EventBatch gen=1 m=2 time=1000010'
        echo 'ProcStatus dt=1 p=1 pstatus=1'
        echo 'GoStart dt=300 g=2 g_seq=1'
        echo 'GoBlock dt=300 reason_string=1 stack=2'
        echo 'EventBatch gen=1 m=3 time=1000020'
        echo 'ProcStatus dt=1 p=2 pstatus=1'
        echo 'HeapAlloc dt=20000000000 heapalloc_value=3'
        echo 'ProcStart dt=300 p=3 p_seq=1'
        echo 'HeapAlloc dt=20000000000 heapalloc_value=4'
    } | sized_script | gotrace synth -q --force -o killed.trace
    run gotrace validate killed.trace
    gotrace print killed.trace 2>/dev/null | grep -c HeapAlloc
done
