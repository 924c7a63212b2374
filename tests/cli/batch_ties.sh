# shellcheck shell=bash
# Batches that end and begin at one tick: no batch begins before the previous one ended, whether an
# event or a string is its first record.
old() {
    echo "Trace Go1.$1 level=meaning procs=1"
    echo 'GoCreate t=500 on_g=1 g=2'
    for ((i = 1; i <= 200; i++)); do
        printf 'UserLog t=1000 id=1 keyid="%0900d" data="m"\n' $i
    done
    for ((i = 1; i <= 200; i++)); do
        printf 'UserLog t=2000 id=1 keyid="k" data="%0900d"\n' $i
    done
    echo 'GoEnd t=2010 g=1'
}

new() {
    echo "Trace Go1.$1 level=meaning procs=1 $2"
    echo 'GoCreate t=500 g=1 new_g=2'
    for ((i = 1; i <= 15000; i++)); do
        echo 'HeapAlloc t=1000 heapalloc_value=5000000'
    done
    echo 'GoDestroy t=1010 g=1'
}

# The start and end times of the batches of one proc or thread.
batches() {
    gotrace dump trace | grep -v Sync | awk '
        /^[A-Za-z]*Batch/ {
            if (n++)
                print t
            split($0, a, /(ticks|time)=/)
            t = a[2] + 0
            printf "%s from %d to ", $0 ~ /m=184|p=184/ ? "tables" : "events", t
        }
        match($0, / dt=[0-9]+/) { t += substr($0, RSTART + 4, RLENGTH - 4) }
        END { print t }'
}

for version in 11 19 21; do
    old $version >script
    gotrace synth -o trace script && gotrace validate trace
    batches
done
for order in '' equal_ticks=true; do
    for version in 22 26; do
        new $version $order >script
        gotrace synth -o trace script && gotrace validate trace
        batches
    done
done
