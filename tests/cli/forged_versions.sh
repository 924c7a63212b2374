# shellcheck shell=bash
# The forged traces of tests/facts converted to other versions: losses are noted, and the results are sound. Their
# contents are checked by tests/facts.
forged=$TRACES/../../tests/facts/forged
for name in own_proc_taken ties_v2 calls_v1 wakes samples_between_v1; do
    gotrace synth -o $name.trace "$forged/$name.script"
    for version in 1.5 1.11 1.21 1.22 1.26; do
        run gotrace convert --to go$version -o trace $name.trace
        gotrace validate -q trace
    done
done
