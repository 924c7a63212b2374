# shellcheck shell=bash
# Whenever a signal arrives, the program leaves the whole output or none, and no temporary files.
mkdir tmp wholes
export TMPDIR=$PWD/tmp
gotrace gen --go 1.19 --events 60000 -o v1.trace
gotrace gen --go 1.26 --events 60000 -o v2.trace
gotrace dump -o script v2.trace
gotrace dump --zstd -o packed v2.trace
gotrace split --by proc -o of-v1 v1.trace
cat >commands <<'END'
convert --to perfetto -o out v1.trace
convert --to chrome -o out v2.trace
convert --to perfetto --zstd -o out packed
convert --to go1.21 -o out v1.trace
print -o out v1.trace
dump --format cbor -o out v2.trace
synth -o out script
split --by proc -o parts v1.trace
split --by generation -o parts v2.trace
merge -o out of-v1/v1.p0.trace of-v1/v1.p1.trace
repair -o out v1.trace
gen --events 60000 -o out
END
made() { [ ! -e out ] || sum <out; [ ! -e parts ] || cat parts/* | sum; }
mapfile -t commands <commands
for n in "${!commands[@]}"; do
    # shellcheck disable=SC2086
    gotrace ${commands[n]} 2>/dev/null
    made >"wholes/$n"
    rm -rf out parts
done
touch before
ls -A >before

runs=0 stopped=0
ulimit -c 0
for signal in TERM QUIT USR1; do
    for seconds in 0.003 0.007 0.013 0.025 0.045; do
        for n in "${!commands[@]}"; do
            #             timeout(1) signals twice: the program, and then its group.
            # shellcheck disable=SC2086
            env --default-signal timeout --signal=$signal $seconds gotrace ${commands[n]} 2>/dev/null
            [ $? = 124 ] && stopped=$((stopped + 1))
            runs=$((runs + 1))
            made | cmp -s - "wholes/$n" || [ -z "$(made)" ] || echo "${commands[n]}: a part was left"
            rm -rf out parts
            [ "$(ls -A)" = "$(cat before)" ] ||
                { echo "${commands[n]}: $signal after $seconds s leaves:"; find . -name '.*-??????'; rm -f .out*; }
            [ -z "$(ls -A tmp)" ] || { echo "${commands[n]}: left in TMPDIR"; rm -f tmp/*; }
        done
    done
done
[ $stopped -gt 20 ] || echo "only $stopped of $runs were stopped"
