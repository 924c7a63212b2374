# shellcheck shell=bash
# A signal ends the program as it should, and takes the unfinished file away.
mkfifo endless
temporaries() { find . -name '.out.gotrace-*'; }
for signal in TERM INT HUP; do
    # Keep the input open and silent, so that the work lasts until the signal comes.
    sleep 60 >endless &
    sleeper=$!
    # A shell without job control starts background commands with INT ignored.
    env --default-signal=INT gotrace synth -o out endless &
    program=$!
    for _ in $(seq 100); do
        temporaries | grep -q . && break
        sleep 0.05
    done
    temporaries | wc -l
    kill -$signal $program
    wait $program
    echo "$signal: $?"
    kill $sleeper
    wait $sleeper
    temporaries
    [ ! -e out ] || echo 'out is there'
done 2>/dev/null
