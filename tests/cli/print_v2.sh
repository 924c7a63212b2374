# shellcheck shell=bash
# The events of v2 traces in every format of print: go, as Go 1.27 prints them (the golden lines are
# Go's), text, and jsonl.
cd "$TRACES" || exit 1
echo '== go'
gotrace print --format go go1.23-empty.trace
gotrace print --format go go1.25-empty.trace | sed -n '1,40p'
# What these lack: annotations, ranges with attributes, samples, switches, experiments.
for name in go1.26-user go1.22-gensgc go1.26-prof go1.26-iter go1.25-allocfree; do
    gotrace print --format go $name.trace |
        grep -E '^M=.*(Task|Region[BE]|Log|Range[AE]|Sample|Waiting Reason=""|Experimental)' |
        sed -n '1,12p'
done
echo '== text'
gotrace print go1.26-user.trace
gotrace print go1.26-gens.trace | grep -E 'Sync|Active|Steal'
gotrace print go1.26-iter.trace | grep -E 'Switch|CreateBlocked' | sed -n '1,4p'
gotrace print go1.25-allocfree.trace | grep -E 'Span|HeapObject|GoroutineStack' | sed -n '1,4p'
gotrace print go1.26-prof.trace | grep -E 'CPUSample' | sed -n '1,2p'
echo '== jsonl'
gotrace print --format jsonl go1.26-prof.trace | grep CPUSample | sed -n 1p
gotrace print --format jsonl go1.25-empty.trace
gotrace print --format jsonl go1.26-gens.trace | grep -E 'range-active|clocks'
gotrace print --format jsonl go1.25-allocfree.trace | grep experiment | sed -n '1,4p'
