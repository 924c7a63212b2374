# shellcheck shell=bash
# Traces with extreme values on which Go's reader (internal/trace of Go 1.27) and gotrace agree. Where they
# differ, the reason is in testdata/findings. tests/conformance/boundary.py compares many more.
CLOCK='EventBatch gen=%d m=18446744073709551615 time=%d size=6\nFrequency freq=1000000000\n'
RUNNING='ProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=7 m=1 gstatus=2\n'

# trace NAME TEXT...: write a trace of 1.22 with these lines.
trace() {
    local name=$1
    shift
    {
        echo 'Trace Go1.22'
        # shellcheck disable=SC2059 # the lines are formats
        printf "$@"
    } >"$name.script"
    gotrace synth -o "$name.trace" "$name.script"
}

# verdict NAME TEXT...: print the verdict on such a trace.
verdict() {
    trace "$@"
    run gotrace validate "$1.trace"
}

# judge NAME TEXT...: print the verdict and the events of such a trace.
judge() {
    verdict "$@"
    run gotrace print --format go "$1.trace"
}

echo '# The first generation with events counts as the first; what is sound is not repaired.'
judge first_gen_empty "${CLOCK}${CLOCK}EventBatch gen=2 m=1 time=2000 size=12\n${RUNNING}HeapAlloc dt=1 heapalloc_value=5\n" 1 1000 2 2000
run gotrace repair -o repaired.trace first_gen_empty.trace
run cmp first_gen_empty.trace repaired.trace

echo '# The id 2^64-1 means none.'
judge no_goroutine "${CLOCK}EventBatch gen=1 m=1 time=1000 size=22\nProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=18446744073709551615 m=1 gstatus=2\nGoStop dt=1 reason_string=0 stack=0\n" 1 1000
judge no_proc "${CLOCK}EventBatch gen=1 m=1 time=1000 size=16\nProcStatus dt=1 p=18446744073709551615 pstatus=1\nHeapAlloc dt=1 heapalloc_value=5\n" 1 1000

echo '# A status of 0 is not determined, and stays so.'
judge status_0 "${CLOCK}EventBatch gen=1 m=1 time=1000 size=9\nProcStatus dt=1 p=0 pstatus=0\nGoStatus dt=1 g=7 m=1 gstatus=0\n${CLOCK}EventBatch gen=2 m=1 time=2000 size=9\nProcStatus dt=1 p=0 pstatus=0\nGoStatus dt=1 g=7 m=1 gstatus=0\n" 1 1000 2 2000
judge status_0_then_1 "${CLOCK}EventBatch gen=1 m=1 time=1000 size=4\nProcStatus dt=1 p=0 pstatus=0\n${CLOCK}EventBatch gen=2 m=1 time=2000 size=4\nProcStatus dt=1 p=0 pstatus=1\n" 1 1000 2 2000

echo '# Goroutine 0 ends as others do.'
judge goroutine_0 "${CLOCK}EventBatch gen=1 m=1 time=1000 size=16\nProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=0 m=1 gstatus=2\nGoDestroy dt=1\nGoCreate dt=1 new_g=0 new_stack=0 stack=0\n" 1 1000

echo '# The time 0 of a batch counts as none.'
judge time_0 "${CLOCK}EventBatch gen=1 m=1 time=1000 size=9\n${RUNNING}" 1 0

echo '# A message on an order that is not possible has the sequence numbers needed and found.'
verdict order_goroutine "${CLOCK}EventBatch gen=1 m=1 time=1000 size=13\nProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=7 m=1 gstatus=1\nGoStart dt=1 g=7 g_seq=3\n" 1 1000
verdict order_proc "${CLOCK}EventBatch gen=1 m=1 time=1000 size=8\nProcStatus dt=1 p=3 pstatus=2\nProcStart dt=1 p=3 p_seq=5\n" 1 1000
verdict order_earlier "${CLOCK}EventBatch gen=1 m=1 time=1000 size=9\nProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=7 m=1 gstatus=1\n${CLOCK}EventBatch gen=2 m=1 time=2000 size=8\nProcStatus dt=1 p=0 pstatus=1\nGoStart dt=1 g=7 g_seq=1\n" 1 1000 2 2000

echo '# The sequence number 0, which comes before the first.'
verdict goroutine_seq_0 "${CLOCK}EventBatch gen=1 m=1 time=1000 size=13\nProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=7 m=1 gstatus=1\nGoStart dt=1 g=7 g_seq=0\n" 1 1000
verdict proc_seq_0 "${CLOCK}EventBatch gen=1 m=1 time=1000 size=8\nProcStatus dt=1 p=3 pstatus=2\nProcStart dt=1 p=3 p_seq=0\n" 1 1000
verdict absent_seq_0 "${CLOCK}EventBatch gen=1 m=1 time=1000 size=8\nProcStatus dt=1 p=0 pstatus=1\nGoStart dt=1 g=7 g_seq=0\n" 1 1000

echo '# A sample at the last time that 64 bits hold comes after everything else.'
judge sample_last "${CLOCK}EventBatch gen=1 m=1 time=1000 size=9\n${RUNNING}EventBatch gen=1 m=18446744073709551615 time=1000 size=16\nCPUSamples\nCPUSample time=9223372036854775808 m=1 p=0 g=7 stack=0\n" 1 1000
