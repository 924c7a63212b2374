# shellcheck shell=bash
# repair rewrites a damaged generation so that it ends with the states in which the next one begins, which it keeps.

# overwritten TRACE OFFSET SIZE: repairs a sample in which these bytes are 255.
overwritten() {
    cp "$TRACES/$1.trace" damaged.trace
    chmod u+w damaged.trace
    head -c "$3" /dev/zero | tr '\0' '\377' | dd of=damaged.trace bs=1 seek="$2" conv=notrunc status=none
    run gotrace repair -o repaired.trace damaged.trace
    run gotrace validate repaired.trace
}
echo '== no proc runs at the end of the generation'
overwritten go1.22-gens 488 60
echo '== a thread has a goroutine that it does not have in the next generation'
overwritten go1.22-threads 180 1
overwritten go1.26-threads 8633 60
