# shellcheck shell=bash
# A server before and after a fix: the mutex is no longer held during a fetch.
cp "$TRACES/../causes/go1.27-lock.contended-http-3.trace.zst" before.trace
cp "$TRACES/../causes/go1.27-network.wait-sessions-3.trace.zst" after.trace
run gotrace diff before.trace after.trace
gotrace diff after.trace before.trace | head -n 1
run gotrace diff before.trace before.trace

# program MS OFFSET NAME: 40 tasks of which each waits for a lock for so many ms, and runs for one.
program() {
    printf '%s\n' 'Trace Go1.22 level=meaning procs=2' 'GoCreate t=1000 g=1 new_g=7 new_stack="main.serve /m.go:9" stack="main.main /m.go:1"' \
        'GoStart t=2000 p=1 g=7'
    for ((i = 0; i < 40; i++)); do
        t=$((i * 100000 + 1000 + ($2 * i) % 7))
        echo "UserTaskBegin t=${t}001 p=0 task=$((i + 1)) name_string=\"${3//\"/\\\"}\""
        echo "GoBlock t=${t}100 p=0 reason_string=\"sync\" stack=\"sync.(*Mutex).Lock /mutex.go:46\" stack=\"main.lookup /m.go:$2\" stack=\"main.main /m.go:2\""
        t=$((t + $1 * 1000 + $2))
        echo "GoUnblock t=${t}000 p=1 g=1 stack=\"sync.(*Mutex).Unlock /mutex.go:65\" stack=\"main.serve /m.go:10\""
        echo "GoStart t=${t}500 p=0 g=1"
        t=$((t + 1000))
        echo "UserTaskEnd t=${t}000 p=0 task=$((i + 1))"
    done
}
mkdir old new
for n in 1 2 3 4 5 6; do
    program 12 $((n * 3)) 'check "out"' | gotrace synth -o old/$n.trace
    program 10 $((n * 5)) 'check "out"' | gotrace synth -o new/$n.trace
done

echo '== several traces a side'
run gotrace diff old/*.trace -- new/*.trace
run gotrace diff --base old --json --top 3 new/*.trace
run gotrace diff --base old/1.trace --base old/2.trace new/1.trace new/2.trace
run gotrace diff -q old/1.trace -- new/1.trace -- new/2.trace new/3.trace --all --top 1
run gotrace diff old/*.trace -- old/*.trace
gotrace diff -j 2 --all --top 0 old/*.trace -- new/*.trace | cmp - <(gotrace diff -j 1 --all --top 0 old/*.trace -- new/*.trace)
# One trace a side: 20 % less time is not enough.
run gotrace diff old/1.trace new/1.trace
run gotrace diff --all --top 2 --until 1ms old/1.trace new/1.trace
run gotrace diff --task none old/1.trace new/1.trace

echo '== what is new, and what is gone'
program 12 1 other | gotrace synth -o other.trace
run gotrace diff --task other,'check "out"' old/1.trace other.trace

echo '== conditions'
for condition in 'task("check \"out\"").p99 > +10%' 'task("check \"out\"").p99 < -10%' 'task.mean <= -0.1ms' 'task.mean > 10ms' \
    'task.mean > 1s' 'block("sync.(*Mutex).Lock < main.lookup").time < -5%' 'block("sync").time < 0.1%' 'sched.p99 > 1s' 'gc.share > 5%' \
    'block("main.lookup").time > 0%' 'task("check").p99 > 1s' 'tasks.p99 > 1s' 'task.p98 > 1s' 'task.p99 > 1kg' 'task.p99'; do
    run gotrace diff --top 1 --fail-if "$condition" --base old new/*.trace
done
run gotrace diff --top 1 --json --fail-if 'task.mean < -1%' --fail-if 'task.count > 1' --base old new/*.trace

echo '== usage'
run gotrace diff old/1.trace
run gotrace diff old/1.trace old/2.trace old/3.trace
run gotrace diff old/1.trace --
run gotrace diff -- old/1.trace
run gotrace diff --base old -- new/1.trace
run gotrace diff --base old
run gotrace diff --base missing new/1.trace
mkdir empty
run gotrace diff --base empty new/1.trace
run gotrace diff --json --to html old/1.trace new/1.trace
run gotrace diff missing old/1.trace
head -c 2000 before.trace >cut.trace
run gotrace diff --top 1 cut.trace after.trace

echo '== a page, which has no markup of the traces, and a profile'
program 30 1 '<script>alert(1)</script>' | gotrace synth -o script.trace
gotrace diff --all --to html script.trace new/1.trace >page.html
grep -c '<script>alert' page.html
grep -o '<h1>.*</h1>\|<td>task[^/]*' page.html
grep -c '^<tr>' page.html
gotrace diff --to pprof -o profile.pb.gz --base old new/*.trace
zcat profile.pb.gz | grep -ao 'pprof::base\|main.lookup\|sync.(.Mutex).Lock'

echo '== each figure is that of stat'
python3 -B "$TRACES/../../tests/cli/differing.py" gotrace before.trace after.trace old/1.trace "$TRACES"/go1.{19,21}-user.trace \
    "$TRACES"/go1.22-gensgc.trace "$TRACES"/go1.26-net.trace
