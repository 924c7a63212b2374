# shellcheck shell=bash
# Synthetic traces are sound, in every version and profile; the same options give the same bytes.
versions='1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21 1.22 1.23 1.25 1.26'

# is_sound WHAT...: validate reports the trace as sound; otherwise print its output.
is_sound() {
    gotrace validate trace >report 2>&1
    [ "$(wc -l <report)" -eq 1 ] && grep -q '^trace: sound (' report && return
    echo "$*"
    cat report
}

for go in $versions; do
    for profile in mixed http pipeline gc syscalls; do
        for seed in 0 1; do
            gotrace gen --go "$go" --profile $profile --seed $seed --events 2500 -o trace
            is_sound "$go" $profile $seed
        done
        gotrace gen --go "$go" --profile $profile --procs 1 --goroutines 16 --events 600 -o trace
        is_sound "$go" $profile with one proc
    done
    gotrace gen --go "$go" --procs 64 --goroutines 2000 --events 20000 -o trace
    is_sound "$go" with many procs
    printf '%s ' "$go"
    gotrace gen --go "$go" --seed 42 --events 1000 | sha256sum
done

# There is more than one trace.
gotrace gen --seed 1 --events 1000 | sha256sum | cut -c 1-16
gotrace gen --seed 2 --events 1000 | sha256sum | cut -c 1-16

run gotrace gen --go 1.4
run gotrace gen --go 1.30 -o none
# Go 1.20 writes traces of 1.19.
gotrace gen --go 1.20 --seed 42 --events 1000 | sha256sum
run gotrace gen --procs 0 -o none
run gotrace gen --procs 1025 -o none
run gotrace gen --goroutines 15 -o none
run gotrace gen --goroutines 1000001 -o none
run gotrace gen --events -1
run gotrace gen --profile htpp
run gotrace gen --cover --procs 1 -o none
run gotrace gen trace
run ls none
run gotrace gen --events 0 -o trace
run gotrace validate trace
