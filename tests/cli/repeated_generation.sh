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

# Data of experiments belong to their generation.
sample go1.26-allocfree.trace original
gotrace dump --format text original | sed 's/gen=[0-9]*/gen=1/' | gotrace synth -o repeated
while read -ra words; do
    for file in original repeated; do
        result 1 $file "${words[@]}" >$file.txt
    done
    echo "${words[*]}: $(grep -c ExperimentalBatch repeated.txt)"
    cmp original.txt repeated.txt
done <<'END'
dump --level meaning --format text
convert --to go1.26
convert --to go1.25
cut --from 1us
cut --goroutine 1-30
anonymize --key ../key
END

# Parts are merged by number; the named command gives each generation its own.
run gotrace split --by thread -o parts repeated
run gotrace split --by generation -o parts repeated
run gotrace merge -o merged repeated
ls -d parts merged 2>&1
gotrace convert --to go1.26 -o numbered repeated
gotrace split --by thread -o parts numbered
gotrace merge -o merged parts/*
gotrace info --json merged | jq -c 'select(.by_generation) | [.by_generation[] | [.generation, .timed_records]]'

# Of a damaged one repair keeps the same events as with different numbers.
for place in 500 2400 5500; do
    for file in original repeated; do
        cp $file $file.damaged
        printf '\377' | dd of=$file.damaged bs=1 seek=$place conv=notrunc 2>/dev/null
        gotrace repair -q -o $file.repaired $file.damaged
    done
    cmp original.repaired repeated.repaired
done
run gotrace repair -o repeated.repaired repeated.damaged
