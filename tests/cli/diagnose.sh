# shellcheck shell=bash
# Planted causes, of which all times are known.

# A lock that is held while its holder waits for the network: 25 times 12 of 20 ms.
{
    printf '%s\n' 'Trace Go1.26 level=meaning procs=2' 'GoCreate t=1000 g=1 new_g=7 new_stack="main.serve /m.go:9" stack="main.main /m.go:1"' \
        'GoStart t=2000 p=1 g=7'
    for ((i = 0; i < 25; i++)); do
        t=$((i * 20))
        echo "GoBlock t=$((t + 1))000000 p=0 reason_string=\"sync\" stack=\"sync.(*Mutex).Lock /mutex.go:46\" stack=\"main.(*store).lookup /m.go:5\" stack=\"main.main /m.go:2\""
        echo "GoBlock t=$((t + 2))000000 p=1 reason_string=\"network\" stack=\"net.(*conn).Read /net.go:7\" stack=\"main.fetch /m.go:12\" stack=\"main.serve /m.go:9\""
        echo "GoUnblock t=$((t + 12))000000 p=1 g=7"
        echo "GoStart t=$((t + 12))500000 p=1 g=7"
        echo "GoUnblock t=$((t + 13))000000 p=1 g=1 stack=\"sync.(*Mutex).Unlock /mutex.go:65\" stack=\"main.serve /m.go:10\""
        echo "GoStart t=$((t + 13))500000 p=0 g=1"
    done
} | gotrace synth -o lock.trace
run gotrace diagnose lock.trace
run gotrace diagnose --json lock.trace

# Without GOMAXPROCS, as traces of `gotrace record`, the procs that there are count.
printf '%s\n' 'Trace Go1.26 level=meaning procs=2' 'GoCreate t=1000 g=1 new_g=7 new_stack="main.serve /m.go:9"' \
    'GoBlock t=600000000 p=0 reason_string="network"' 'GoUnblock t=2000000000 p=1 g=1' 'GoStart t=2000000500 p=0 g=1' |
    gotrace synth | gotrace dump | sed 's/size=26/size=22/; /ProcsChange/d' | gotrace synth -o procs.trace
run gotrace diagnose procs.trace

# deadlock LAST [LINE...]: a trace in which goroutines 7 to LAST each wait for the lock of the next one, and the last one
# for that of 7; 3 waits for 7. The lines are before the last one waits.
deadlock() {
    local g last=$1
    shift
    printf '%s\n' 'Trace Go1.26 level=meaning procs=2' 'GoCreate t=100 p=0 g=1 new_g=3'
    for ((g = 7; g <= last; g++)); do echo "GoCreate t=$((g * 100)) p=0 g=1 new_g=$g new_stack=\"main.work /m.go:9\""; done
    echo 'GoStart t=3000 p=1 g=3'
    echo 'UserLog t=3100 p=1 g=3 task=0 key_string="waits for" value_string="mutex 0x70 held by goroutine 7"'
    echo 'GoBlock t=3200 p=1 reason_string="sync"'
    for ((g = 7; g <= last; g++)); do
        echo "GoStart t=${g}0000 p=1 g=$g"
        [ "$g" -ne "$last" ] || [ $# -eq 0 ] || printf '%s\n' "$@"
        echo "UserLog t=${g}1000 p=1 g=$g task=0 key_string=\"waits for\" value_string=\"mutex 0x$(((g == last ? 7 : g + 1) * 10)) held by goroutine $((g == last ? 7 : g + 1))\""
        echo "GoBlock t=${g}2000 p=1 g=$g reason_string=\"sync\" stack=\"pthread_mutex_lock /mutex.c:1\" stack=\"main.work /m.go:$g\""
    done
    echo 'GoStop t=200000000 p=0 g=1 reason_string="preempted"'
}
deadlock 8 | gotrace synth -o deadlock.trace
run gotrace diagnose deadlock.trace
gotrace diagnose --json deadlock.trace | grep deadlock
run gotrace diagnose --from 50ms deadlock.trace
deadlock 7 | gotrace synth | gotrace diagnose - | head -n 5
deadlock 18 | gotrace synth | gotrace diagnose - | head -n 5
# Goroutine 8 has released what 7 waits for, or what 3 waits for; and it is too early to say so.
deadlock 8 'UserLog t=80500 p=1 g=8 task=0 key_string="released" value_string="mutex 0x80, still waited for by goroutine 7"' |
    gotrace synth | gotrace diagnose - | grep -c deadlock
deadlock 8 'UserLog t=80500 p=1 g=8 task=0 key_string="released" value_string="mutex 0x90, still waited for by goroutine 3"' |
    gotrace synth | gotrace diagnose - | grep -A 1 deadlock
deadlock 8 | sed 's/t=2000/t=1000/' | gotrace synth | gotrace diagnose --all - | grep -c deadlock

# The same in tasks: the time of tasks is that of the goroutine that waits for the lock.
{
    printf '%s\n' 'Trace Go1.22 level=meaning procs=2' 'GoCreate t=1000 g=1 new_g=7 new_stack="main.serve /m.go:9" stack="main.main /m.go:1"' \
        'GoStart t=2000 p=1 g=7'
    for ((i = 0; i < 25; i++)); do
        t=$((i * 20))
        echo "UserTaskBegin t=$((t + 1))000000 p=0 task=$((i + 1)) name_string=\"check out\""
        echo "GoBlock t=$((t + 1))000100 p=0 reason_string=\"sync\" stack=\"sync.(*RWMutex).RLock /mutex.go:46\" stack=\"main.lookup /m.go:5\" stack=\"main.main /m.go:2\""
        echo "GoUnblock t=$((t + 13))000000 p=1 g=1 stack=\"sync.(*RWMutex).Unlock /mutex.go:65\" stack=\"main.serve /m.go:10\""
        echo "GoStart t=$((t + 13))500000 p=0 g=1"
        echo "UserTaskEnd t=$((t + 16))000000 p=0 task=$((i + 1))"
    done
} | gotrace synth -o task.trace
run gotrace diagnose task.trace
run gotrace diagnose --task other task.trace
run gotrace diagnose --function 'main\.serve' lock.trace
run gotrace diagnose -j 2 --json --function serve lock.trace task.trace
run gotrace diagnose --function 'no.such' lock.trace
run gotrace diagnose --function '(' lock.trace
run gotrace diagnose --from 3600s task.trace

# A goroutine every 10 ms that never ends, in a loop that is stopped for 60 of 100 ms.
{
    echo 'Trace Go1.21 level=meaning procs=2'
    printf '%s\n' 'GoCreate t=1 g=2 stack="runtime.bgsweep /mgcsweep.go:1"' 'GoStart t=10 p=1 g=2' \
        'GoBlock t=20 p=1' 'GoCreate t=30 g=1 stack="main.main /m.go:1"' 'GoStart t=40 p=0 g=1'
    for ((i = 0; i < 40; i++)); do
        stops=$((i / 4))
        t=$((i * 10 + stops * 60 + 1)) g=$((i + 7))
        echo "GoCreate t=${t}000000 p=0 g=$g stack=\"main.notify /m.go:9\" stk=\"main.accept /m.go:3\" stk=\"main.main /m.go:1\""
        echo "GoStart t=${t}100000 p=1 g=$g"
        echo "GoBlockRecv t=${t}200000 p=1 stk=\"main.notify /m.go:10\""
    done
} | gotrace synth -o leak.trace
run gotrace diagnose leak.trace
run gotrace diagnose --json --until 50ms leak.trace

# Nothing, and too little; several files; what is not a trace.
cp "$TRACES/go1.26-gens.trace" "$TRACES/go1.26-lock.trace" .
run gotrace diagnose --json go1.26-gens.trace go1.26-lock.trace
run gotrace diagnose go1.26-gens.trace go1.26-lock.trace
echo text >text
run gotrace diagnose text
run gotrace diagnose - <lock.trace

echo '== each command runs'
gotrace diagnose --all --json lock.trace task.trace | jq -r '.command // empty' | sort -u |
    while read -r command; do
        bash -c "$command" >/dev/null 2>err || ! grep -q 'gotrace: error' err || { echo "$command"; cat err; }
    done

echo '== the shares of gotrace-diagnose(1)'
gotrace diagnose --all --json lock.trace | jq -r 'select(.id and .least > 0) | "\(.id) \(.least * 1000 | round / 10)"' | sort >code
sed -n '/^\.It Sy \([a-z]*\.[a-z]*\)$/{s//\1/;h};/^From \([0-9.]*\)\\ % on\.$/{s//\1/;H;g;s/\n/ /p}' \
    "$TRACES/../../man/gotrace-diagnose.1" | sort >page
diff code page && wc -l <page

# Tasks that sleep for 8 of 10 ms, assist the collector, and start goroutines that do not end.
{
    printf '%s\n' 'Trace Go1.26 level=meaning procs=1' 'GoCreate t=1000 g=1 new_g=7 new_stack="main.poll /m.go:9" stack="main.main /m.go:1"' \
        'GoBlock t=2000 p=0 g=1 reason_string="forever"' 'GoStart t=3000 p=0 g=7'
    for ((i = 0; i < 12; i++)); do
        printf '%s\n' "UserTaskBegin t=$((i * 10 + 1))000000 g=7 p=0 task=$((i + 1)) parent_task=0 name_string=\"poll\"" \
            "GCMarkAssistBegin t=$((i * 10 + 1))200000 p=0 g=7" "GCMarkAssistEnd t=$((i * 10 + 1))500000 p=0 g=7"
        for g in $((2 * i + 10)) $((2 * i + 11)); do
            echo "GoCreate t=$((i * 10 + 1))6000$g g=7 p=0 new_g=$g new_stack=\"main.notify /m.go:20\" stack=\"main.poll /m.go:11\""
        done
        echo "GoBlock t=$((i * 10 + 2))000000 g=7 p=0 reason_string=\"sleep\" stack=\"time.Sleep /time.go:1\" stack=\"main.poll /m.go:10\""
        for g in $((2 * i + 10)) $((2 * i + 11)); do
            printf '%s\n' "GoStart t=$((i * 10 + 2))1${g}000 g=$g p=0" "GoBlock t=$((i * 10 + 2))1${g}500 g=$g p=0 reason_string=\"chan send\""
        done
        printf '%s\n' \
            "GoUnblock t=$((i * 10 + 10))000000 g=7" "GoStart t=$((i * 10 + 10))001000 p=0 g=7" "UserTaskEnd t=$((i * 10 + 10))500000 p=0 g=7 task=$((i + 1))"
    done
} | gotrace synth -q -o sleep.trace
run gotrace diagnose sleep.trace

echo '== what an independent program computes: traces with a figure that is not 0, by finding'
for profile in mixed http pipeline gc syscalls; do
    gotrace gen -q --go 1.22 --profile $profile --events 4000 --procs 4 --goroutines 40 -o "gen-$profile.trace"
done
python3 -B "$TRACES/../../tests/cli/diagnosed.py" gotrace "$TRACES"/go1.2[2-7]-*.trace "$TRACES"/../causes/go1.2*.zst \
    {lock,task,sleep}.trace gen-*.trace

echo '== an HTML report begins with the same'
python3 -B "$TRACES/../../tests/cli/diagnosis_html.py" gotrace lock.trace task.trace leak.trace "$TRACES"/*-{lock,gc,user}.trace "$TRACES"/unsound/*.trace
for only in '--until 200ms' '--function main\.serve' '--goroutine 1'; do
    # shellcheck disable=SC2086
    gotrace convert --to html $only lock.trace | grep -A 1 '<h2>Diagnosis'
done
