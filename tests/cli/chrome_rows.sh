# shellcheck shell=bash
# With --by goroutine, events of a goroutine are in its row, and events without one in no goroutine's row.
cat >script <<'END'
Trace Go1.26 level=meaning
GoStart t=1000 m=1 p=0 g=1
UserLog t=1500 m=1 task=0 key_string="a" value_string="of goroutine 1"
GoBlock t=2000 m=1 reason_string="sleep"
GoStart t=3000 m=1 p=0 g=2
UserLog t=3500 m=1 task=0 key_string="a" value_string="of goroutine 2"
GoBlock t=4000 m=1 reason_string="sleep"
HeapAlloc t=5000 m=1 heapalloc_value=1
GoUnblock t=6000 m=1 g=1
GoStart t=6500 m=2 p=1 g=3
GoUnblock t=7000 m=2 g=2
END
gotrace synth --force -o trace script
for by in goroutine proc thread; do
    echo "== by $by"
    gotrace convert -q --to chrome --by $by trace |
        jq -r '(.traceEvents // .)[] | select(.ph != "M" and .ph != "C") | "\(.pid) \(.tid) \(.ts) \(.ph) \(.name)"' | sort
done
