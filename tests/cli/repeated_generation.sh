# shellcheck shell=bash
# Ids of strings and stacks are valid within a generation. Generations are identified by their place in the
# file, not by their number, which may be that of another one (Go's reader accepts that): everything is as
# with different numbers, with any number of threads.
sample go1.26-gens.trace original
gotrace dump --format text original | sed 's/gen=[0-9]*/gen=1/' | gotrace synth -o repeated
gotrace info --json repeated | jq -c 'select(.by_generation) | [.by_generation[].generation]'
head -c 32 /dev/zero >key

# result THREADS FILE VERB...: the output, without the numbers of generations.
result() {
    local threads=$1 file=$2
    shift 2
    mkdir run
    cp "$file" run/trace
    cd run || return
    case $* in
    cut* | anonymize* | convert\ --to\ go*) gotrace "$@" trace | gotrace dump --format text ;;
    *) gotrace "$@" -j "$threads" trace ;;
    esac 2>&1 | sed -E 's/(gen=|generation[": ]*)[0-9]+/\1N/g'
    for table in tables/*; do [ ! -e "$table" ] || sha256sum "$table"; done
    cd ..
    rm -r run
}

while read -ra words; do
    result 1 original "${words[@]}" >expected
    echo "${words[*]}: $(($(wc -c <expected) > 0))"
    for threads in 1 2 8; do
        result $threads repeated "${words[@]}" >actual
        cmp expected actual
    done
done <<'END'
validate --json --max-errors 0
print --stacks
print --format go
print --format jsonl
stat
stat --json --each
why --task 1 --json
find --json stack~main
convert --to perfetto
convert --to perfetto --no-system
convert --to chrome
convert --to html
convert --to pprof
convert --to folded
convert --to speedscope
convert --to parquet -o tables
convert --to go1.22
convert --to go1.21
cut --from 1us
anonymize --key ../key
END

# An end record that was moved within a generation makes two of one. The reader is ahead of what uses the stacks.
sample go1.27-timer.trace
gotrace mutate -q --seed 232 -o moved go1.27-timer.trace
gotrace info --json moved/*.trace 2>/dev/null | jq -c 'select(.by_generation) | [.by_generation[].generation]'
for verb in print\ --stacks stat find\ --json\ wait convert\ --to\ {perfetto,chrome,html,pprof,folded,speedscope}; do
    for threads in 1 2 8; do
        # shellcheck disable=SC2086
        gotrace $verb -j $threads -o $threads moved/*.trace 2>$threads.err
    done
    for threads in 2 8; do { cmp 1 $threads && cmp 1.err $threads.err; } || echo "$verb -j $threads"; done
done
