# shellcheck shell=bash
# No string of a trace can affect the terminal: control characters, invalid UTF-8 and changes of text
# direction are escaped wherever they are shown.
evil='\x1b]0;title\x07\x1b[31mred\x08\r\n\x9b31m\xc2\x9b31m\xe2\x80\xae\xd8\x9c\xe2\x81\xa6x\xff\x00\x7f'
cat >script <<END
Trace Go1.21
Batch p=0 ticks=1000
String id=1
	data="$evil"
GoCreate dt=1 g=1 stack=1 stk=1
ProcStart dt=0 thread=7
GoStart dt=1 g=1 seq=1
UserTaskCreate dt=1 taskid=1 pid=0 typeid=1 stk=1
UserRegion dt=1 taskid=1 mode=0 typeid=1 stk=1
UserLog dt=1 id=1 keyid=1 stk=1
	data="$evil"
UserRegion dt=1 taskid=1 mode=1 typeid=1 stk=1
GoSched dt=1 stk=1
GoStartLabel dt=1 g=1 seq=2 labelid=1
UserRegion dt=1 taskid=1 mode=1 typeid=1 stk=1
Frequency freq=1000000000
Stack id=1 nframes=1
	pc=4096 func=1 file=1 line=1
END
# Characters that affect a terminal: C0 and C1 controls, also in UTF-8; marks, overrides and isolates of
# direction; bytes that are not UTF-8.
acts() {
    LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c' "$@"
    iconv -f UTF-8 -t UTF-8 "$@" >/dev/null || echo 'this is not UTF-8'
}
gotrace synth --force -o v1.trace script
gotrace convert -q --to go1.26 -o v2.trace v1.trace
for trace in v1.trace v2.trace; do
    for verb in print 'print --format jsonl' dump 'dump --format json' \
        'dump --format jsonl' 'dump --level meaning' 'dump --level meaning --format json' info \
        'info --json' validate 'validate -v --json' 'convert --to chrome' 'repair -o good'; do
        # shellcheck disable=SC2086
        gotrace $verb $trace >out 2>&1
        echo "$trace: $verb: $?, shown $(grep -c 'title.*red' out) times"
        acts out | cat -v
    done
done

# --format go prints what Go's tools print, but not to a terminal.
command -v script >/dev/null || skip 'script(1) is not installed'
for trace in v1.trace v2.trace; do
    gotrace print --format go $trace >out
    acts out >/dev/null 2>&1 && echo 'as it is'
    script -qec "gotrace print --format go $trace" /dev/null | tr -d '\r' >out
    acts out | cat -v
    grep -m 1 red out
done

echo '== scripts'
printf 'Trace Go1.21\nGo\033[31mCreate dt=1\n' >bad
gotrace synth bad 2>&1 | cat -v
printf 'Trace Go1.21\nBatch p=\x1b ticks=\x9b\n' >bad
gotrace synth bad 2>&1 | cat -v
printf '{"trace":"\x1b\x9b"}' >bad
gotrace synth bad 2>&1 | cat -v
printf '{"trace":"1.21","events":[{"type":"\\u001b\\u009b\\u202e"}]}' >bad
gotrace synth bad 2>&1 | cat -v
printf '{"trace":"1.21","events":[{"type":"GoCreate","\\u001b\\u009b\\u202e":1}]}' >bad
gotrace synth bad 2>&1 | cat -v

echo '== options'
run gotrace validate $'--\033[31m'
run gotrace print --format $'\033[31m' x
run gotrace convert --to $'\302\233' x
run gotrace validate $'-\033'
