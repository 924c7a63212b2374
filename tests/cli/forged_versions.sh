# shellcheck shell=bash
# The forged traces of tests/facts in other versions: what is left out is noted, and nothing that is there
# contradicts itself. What the traces say then is among the facts.
forged=$TRACES/../../tests/facts/forged
for name in own_proc_taken ties_v2 calls_v1 wakes samples_between_v1; do
    gotrace synth -o $name.trace "$forged/$name.script"
    for version in 1.5 1.11 1.21 1.22 1.26; do
        run gotrace convert --to go$version -o trace $name.trace
        gotrace validate -q trace
    done
done
