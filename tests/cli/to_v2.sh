# shellcheck shell=bash
# v2 needs facts that v1 does not contain: conversion always decides them in the same way.

# An event about the whole program, on a proc without a goroutine, goes to the lowest proc that runs one.
{
    echo 'Trace Go1.21 level=meaning procs=8'
    for p in 5 3 6 4 1 7 2; do echo "GoCreate t=1000 on_g=1 g=1$p"; done
    for p in 5 3 6 4 1 7 2; do echo "GoStart t=$((2000 + 100 * p)) p=$p g=1$p"; done | sort
    echo 'GoSched t=3000 p=0'
    time=4000
    for p in 1 2 5 3 4 6 7; do
        echo "Gomaxprocs t=$time p=0 procs=$p"
        echo "GoSched t=$((time + 1)) p=$p"
        time=$((time + 1000))
    done
} >script
gotrace synth -q --force -o v1.trace script
gotrace convert -q --to go1.26 v1.trace | gotrace dump --level meaning | grep -E '^(ProcsChange|GoStop)'

# A goroutine that is created waiting, or in a system call, has one creation event.
cat >script <<'END'
Trace Go1.21 level=meaning
GoCreate t=2000 p=0 on_g=1 g=7
GoWaiting t=2000 p=0 g=7
GoCreate t=3000 p=0 on_g=1 g=8
GoInSyscall t=3000 p=0 g=8
GoCreate t=4000 p=0 on_g=1 g=9
GoSched t=5000 p=0
GoUnblock t=6000 p=0 g=7
GoStart t=7000 p=0 g=7
GoEnd t=8000 p=0
GoStart t=8100 p=0 g=9
END
run gotrace synth --force -o v1.trace script
run gotrace convert --to go1.26 -o v2.trace v1.trace
gotrace dump --level meaning v2.trace
run gotrace validate v2.trace
