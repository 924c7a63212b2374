# shellcheck shell=bash
# A part of a trace, as a trace.
sample go1.26-gens.trace new.trace
sample go1.19-user.trace old.trace
sample go1.22-user.trace user.trace

echo '== compared with a selection from the whole'
for version in $(all_versions); do
    gotrace gen --go "$version" --cover --events 1000 -o "gen-$version.trace"
done
traces=("$TRACES"/*-{user,gens,cgo,iter,timer}.trace gen-*.trace)
count=1
[ -z "${ALL:-}" ] || count=3
is_slow && traces=("$TRACES"/*-user.trace gen-1.2[26].trace) count=1
python3 -B "$TRACES/../../tests/cli/cut.py" gotrace "$count" 1 "${traces[@]}" | sed 's/^[0-9]* cuts$/many cuts/'

echo '== the states at the start'
run gotrace cut --from 400us --until 440us -o part.trace old.trace
run gotrace print part.trace
run gotrace cut --from 29ms --until 30ms --keep-times -o part.trace new.trace
gotrace print part.trace | grep -v Sync | head -n 12

echo '== goroutines, and what concerns them'
run gotrace cut --goroutine 21 -o part.trace user.trace
gotrace print part.trace | grep -wE 'G21|ProcSt[a-z]*' | head -n 20
run gotrace info part.trace | grep -E 'goroutines|strings|stacks'
run gotrace cut --task 1 -o part.trace user.trace
gotrace print part.trace | grep -c Task

echo '== generations'
run gotrace cut --generation 2-3 -o part.trace new.trace
run gotrace validate part.trace
grep -qF -f <(tail -c +17 part.trace | xxd -p | tr -d '\n') <(xxd -p new.trace | tr -d '\n') &&
    echo 'generations are copied'
gotrace cut new.trace | cmp - new.trace && echo 'all of them too'
tail -c +17 part.trace | xxd -p | tr -d '\n' >copied
run gotrace cut --from 10ms --until 90ms -o part.trace new.trace
run gotrace validate part.trace
grep -qF -f copied <(xxd -p part.trace | tr -d '\n') && echo 'so are those in a range'
run gotrace cut --from 70ms --until 75ms -o part.trace new.trace
gotrace info part.trace | sed -n '/^generation  /,$p'
gotrace cut old.trace | cmp - old.trace && echo 'a trace without generations is copied too'
run gotrace cut --generation 1,3 -o part.trace new.trace
run gotrace cut --generation 2 -o part.trace old.trace

echo '== from the middle of a futile wake-up'
for version in 1.5 1.10; do
    gotrace gen --go $version --cover --events 0 -o whole.trace
    gotrace print --format jsonl whole.trace | sed -n '/"futile":true/s/{"time":\([0-9]*\),.*/\1/p' | head -n 8 >times.txt
    while read -r time; do
        gotrace cut --from "$((time + 1))ns" -o part.trace whole.trace
        gotrace validate part.trace 2>&1
    done <times.txt | grep -o 'sound' | uniq -c
done

echo '== after a stop of the world that ended on another proc'
sample go1.21-procs.trace procs.trace
run gotrace cut --from 1998806ns -o part.trace procs.trace

echo '== a sample comes first, and keeps its time'
gotrace gen --go 1.22 --cover --events 0 -o whole.trace
gotrace cut --goroutine 1 -o part.trace whole.trace
for trace in whole part; do
    gotrace print --format jsonl $trace.trace | grep -m 1 CPUSample | grep -o '"ticks":[0-9]*'
done

echo '== nothing, and all'
rm -f part.trace
run gotrace cut --from 1s -o part.trace old.trace
run gotrace cut --goroutine 4711 -o part.trace old.trace
run gotrace cut --goroutine 4711 -o part.trace user.trace
run gotrace cut --task none -o part.trace user.trace
run gotrace cut --from 2s --until 1s -o part.trace user.trace
[ ! -e part.trace ] && echo 'no file was written'
gotrace cut <old.trace | gotrace validate -
gotrace cut --zstd --until 1ms new.trace | gotrace validate -

echo '== damaged'
head -c 3000 new.trace >cut.trace
run gotrace cut --until 60ms -o part.trace cut.trace
run gotrace validate part.trace
run gotrace cut --no-recover --goroutine 1 -o part.trace cut.trace
run gotrace cut -o part.trace /dev/null

echo '== a proc that a status gives as in a system call'
gotrace synth -o call.trace <<'END'
Trace Go1.22
EventBatch gen=1 m=18446744073709551615 time=1000 size=6
Frequency freq=1000000000
EventBatch gen=1 m=7 time=1000 size=19
ProcStatus dt=0 p=0 pstatus=3
GoStatus dt=0 g=1 m=7 gstatus=3
ProcStatus dt=0 p=1 pstatus=2
GoSyscallEnd dt=5
GoSyscallBegin dt=5 p_seq=1 stack=0
EventBatch gen=2 m=18446744073709551615 time=2000 size=6
Frequency freq=1000000000
EventBatch gen=2 m=8 time=2000 size=9
ProcStatus dt=1 p=0 pstatus=4
ProcSteal dt=4 p=0 p_seq=1 m=7
EventBatch gen=2 m=7 time=2000 size=7
GoStatus dt=0 g=1 m=7 gstatus=3
GoSyscallEndBlocked dt=9
END
for selection in --goroutine=1 --keep-times; do
    for from in 3 1003; do
        run gotrace cut $selection --from ${from}ns -o part.trace call.trace
        gotrace print part.trace | grep -v 'Status\|Sync'
    done
done
