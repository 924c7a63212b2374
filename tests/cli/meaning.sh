# shellcheck shell=bash
# Scripts of level meaning: the output of dump gives a trace with the same events, in each encoding;
# invalid scripts are rejected with line and reason, and leave no file.
mapfile -t samples < <(all_samples)
for trace in "${samples[@]}"; do
    gotrace dump -q --level meaning --format jsonl -o before "$trace" 2>/dev/null
    gotrace synth -o again.trace before
    #     Events of two threads at one tick may change places.
    gotrace dump -q --level meaning --format jsonl again.trace 2>/dev/null | sort |
        cmp - <(sort before)
    gotrace dump -q --level meaning --format cbor "$trace" 2>/dev/null | gotrace synth | cmp - again.trace
done
for trace in "$TRACES"/{gccgo,go1.19,go1.27}-syscall.trace; do
    for how in text json jsonl cbor; do
        gotrace dump -q --level meaning --format $how "$trace" | gotrace synth -o $how.trace
        cmp text.trace $how.trace
    done
done
rm -f ./*.trace

# Impossible events are written with --force.
for trace in "$TRACES"/unsound/*.trace; do
    gotrace dump -q --level meaning "$trace" >script 2>/dev/null
    run gotrace synth -o trace script
    [ ! -e trace ]
    gotrace synth --force -o trace script
    rm -f trace
done

# Invalid scripts.
try() {
    printf '%b' "$1" >script
    run gotrace synth -o trace script
    [ ! -e trace ]
}
H='Trace Go1.21 level=meaning\n'
for header in 'level=meening' 'frequency=5' 'level=raw start=1' 'level=meaning frequency=0' \
    'level=meaning frequency=9223372036854775808' 'level=meaning start=-1' 'level=meaning level=meaning' 'level=meaning tracer=rust' \
    'level=meaning equal_ticks=1' 'level=meaning clock=1'; do
    try "Trace Go1.21 $header\nGoStart t=0 g=1\n"
done
try 'Trace Go1.21 level=meaning frequency=9223372036854775808\n\nraw GoEnd dt=1\n'
for event in 'GoStart t=2 g=1' 'GoEnd t=0' 'GoStat t=2 g=1' 'GoEnd' 'GoEnd t=nan' 'GoEnd t=1e9' \
    'GoEnd t=99999999999999999999' 'GoEnd t=18446744073709551615' 'GoEnd t=2 ticks=2' \
    'GoEnd t=2 t=3' 'GoEnd t=-2' 'GoEnd t=2 gg=1' 'GoUnblock t=2' 'GoUnblock t=2 g=-1' \
    'GoUnblock t=2 g=1' 'GoUnblock t=2 g=1 g=2' 'GoUnblock t=2 g=18446744073709551616' \
    'Batch t=2 p=1' 'Sync t=2' 'GoBlock t=2 stk=main.f' 'GoBlock t=2 stk="main.f main.go"' \
    'GoBlock t=2 stk="main.f' 'UserLog t=2 id=1 keyid=5' 'GoBlock t=2 word'; do
    try "${H}GoStart t=1 g=1\n$event\n"
done
J='{"trace":"go 1.26","level":"meaning"}\n{"event":"GoStart","t":1,"g":1}\n'
for event in '{"event":"GoDestroy","t":null}' '{"event":"GoDestroy","t":[1]}' '{"event":"GoDestroy"}' \
    '{"event":"GoBlock","t":2,"reason_string":5}' '{"event":"GoBlock","t":2,"stack":[5]}' \
    '{"event":"GoBlock","t":2,"stack":{}}' '{"event":"GoBlock","t":2,"stack":[{"hex":"0"}]}' \
    '{"event":"GoStatus","t":2,"g":2,"gstatus":"sleepy"}' '{"event":"GoStart","t":2,"g":1}' \
    '{"event":"GoDestroy","t":2,"raw":1}' '{"event":"Stack","t":2}'; do
    try "$J$event\n"
done
try '{"trace":"go 1.26","level":"meaning","records":[]}'
try '{"trace":"go 1.26","level":"meaning","events":[{"event":"GoStart","t":1,"g":1},5]}'

# Frames, with any characters in names; records among the events.
cat >script <<'END'
Trace Go1.26 level=meaning
GoCreate t=1 g=1 new_g=2
	new_stack="main.f[go.shape.struct { A int; B [2]string }] /home/me/my files/a:b.go:12 @0x46f2a0"
	stack="main.(*T).f"
	stack="main.g @0x10"
	stack=" /no/function.go:3"
	stack="@0x20"
	stack="a\\ b\\(c\\\\ \xff file with: colons:7"
	stack="\\@0x20"
	stack="ends.like.a.line\\:12"
	stack="ends.like.a.line\\\\\\:12 @0x30"
	stack="type:.eq.main.T"
	stack="line.only :9"
	stack=""
END
for how in text jsonl; do
    gotrace synth script | gotrace dump --level meaning --format $how | grep GoCreate -A 12
done
gotrace synth script | gotrace dump --level meaning --format jsonl -o lines
gotrace synth lines | gotrace dump --level meaning --format jsonl | cmp lines -
gotrace synth lines | gotrace dump --level meaning --format cbor | gotrace synth |
    gotrace dump --level meaning --format jsonl | cmp lines -
cat >script <<'END'
Trace Go1.21 level=meaning start=100
GoStart t=0.4 g=1 p=2
raw Batch p=7 ticks=5
raw ProcStop dt=1
GoEnd t=10.6 p=2
END
gotrace synth script | gotrace dump
jq -cn '{trace: "go 1.21", level: "meaning", start: 100, events: [{event: "GoStart", t: 0.4, g: 1, p: 2},
    {event: "Batch", p: 7, ticks: 5, raw: true}, {event: "ProcStop", dt: 1, raw: true},
    {event: "GoEnd", t: 10.6, p: 2}]}' >script.json
gotrace synth script | cmp - <(gotrace synth script.json)

# A script of level meaning whose header does not say so.
try 'Trace Go1.21\nGoStart t=1 g=1\n'
try 'Trace Go1.26\nSync t=1\n'
try 'Trace Go1.21\nSync t=1\n'
try '{"trace":"go 1.26"}\n{"event":"GoBlock","t":1}\n'
try '{"trace":"go 1.26","events":[]}'
try '\0241\0145trace\0147go 1.26\0242\0145event\0147GoBlock\0141t\01'

# CBOR truncated at any byte.
gotrace dump --level meaning --format cbor -o whole "$TRACES"/go1.27-syscall.trace
cut_scripts whole 1511

# The data of experiments are not events, but are in scripts; here they are not text.
gotrace gen --go 1.26 --cover --events 0 -o cover.trace
gotrace dump cover.trace | grep -A 1 ^ExperimentalBatch | sed 's/time=.*//' >batches
grep -c 'data=' batches
for format in text json jsonl cbor; do
    gotrace dump --level meaning --format $format cover.trace | gotrace synth -q | gotrace dump |
        grep -A 1 ^ExperimentalBatch | sed 's/time=.*//' | cmp - batches
done

# A second dump is the same: if the ns of a tick are not exact in floating point, and if a time is larger than
# the ns of a script's times.
corpus=$(dirname "$TRACES")/../fuzz/corpus/traces
for input in sixteen-ticks-a-second fastest-clock beyond-the-last-ns; do
    gotrace dump -q --level meaning "$corpus/$input" >once
    gotrace synth -q -o again.trace once
    gotrace dump -q --level meaning again.trace >again
    cmp once again && echo "$input: $(grep -c ' ticks=' once) in ticks"
done

# Goroutines with a status but without events have no thread, even if proc 0 has one.
cat >script <<'EOF'
Trace Go1.22 level=meaning
Sync t=0
ProcStatus t=1 m=7 p=0 pstatus=running
GoStatus t=2 on_m=7 p=0 g=1 m=7 gstatus=running
GoStatus t=3 g=5 gstatus=waiting
GCMarkAssistActive t=4 g=5
EOF
gotrace synth -q script | gotrace print --format jsonl | jq -c '[.type, .thread, .proc]'

# The names of all arguments, also of text.
gotrace dump --level meaning "$TRACES/go1.21-user.trace" | sed '0,/^UserLog/s//UserLog nothing=1/' >script
run gotrace synth -o out script
