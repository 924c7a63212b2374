# shellcheck shell=bash
# Until Go 1.25 only missing tables show that a generation is truncated. One without stacks is one error, however many
# of its events refer to them.
sample go1.22-gens.trace
gotrace dump go1.22-gens.trace | awk '
    /^EventBatch/ { batch = $0; next }
    batch { skip = $0 == "Stacks"; if (!skip) print batch; batch = "" }
    !skip' | gotrace synth --force -o cut.trace
run gotrace validate cut.trace
gotrace info cut.trace | grep unfinished
