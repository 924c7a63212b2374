# shellcheck shell=bash
# The HTML report: its outline, and that it is well-formed, of every trace.
command -v python3 >/dev/null || skip 'python3 is not installed'
outline() { python3 "$TRACES/../../tests/cli/outline.py" "$1"; }
for name in go1.26-prof go1.26-user go1.19-http; do
    sample $name.trace
    echo "== $name"
    gotrace convert -o $name.html $name.trace && outline $name.html
done
for trace in "$TRACES"/*.trace "$TRACES"/unsound/*.trace; do
    name=$(basename "$trace" .trace)
    gotrace convert -q -j 1 --to html -o one.html "$trace" 2>/dev/null
    gotrace convert -q -j 3 --to html -o three.html "$trace" 2>/dev/null
    cmp one.html three.html
    outline one.html >out
    grep -E '^(line|not closed|too large|an id|the policy|[0-9]+ scripts|Traceback)' out && echo "in $name"
    # The tables have the figures of stat.
    sum=$(gotrace stat --json --only goroutines "$trace" 2>/dev/null | jq -s 'map(select(.kind == "function").total_ns.sum) | add')
    sed -n '/id="goroutines"/,/<\/table>/p' one.html |
        jq -Rrs --argjson sum "$sum" --arg name "$name" '[scan("<tr><td class=\"name\">[^\n]*?<td class=\"n\" data-v=\"[0-9]+\">[0-9]+<td class=\"n\" data-v=\"([0-9]+)\">") | .[0] | tonumber] | add |
            select(. != $sum) | "\($name): the goroutines take \(.), not \($sum)"'
done
cmp <(gotrace convert -q --to html --gzip <go1.26-prof.trace | gzip -dc) <(gotrace convert -q --to html - <go1.26-prof.trace)

echo '== text of the trace is not markup'
evil='</script><script>alert(1)</script><!-- --><b>\x22x\x22&amp;\x27\xe2\x80\xa8\xe2\x80\xae\xff\x00\x1b]]></title></style><img src=x onerror=alert(2)>'
cat >script <<END
Trace Go1.21
Batch p=0 ticks=1000
String id=1
	data="$evil"
String id=2
	data="alert(3)"
GoCreate dt=1 g=1 stack=1 stk=1
ProcStart dt=0 thread=7
GoStart dt=1 g=1 seq=1
UserTaskCreate dt=1 taskid=1 pid=0 typeid=1 stk=1
UserRegion dt=1 taskid=1 mode=0 typeid=1 stk=1
UserLog dt=1 id=1 keyid=1 stk=1
	data="$evil"
UserRegion dt=1 taskid=1 mode=1 typeid=1 stk=1
UserTaskEnd dt=1 taskid=1 stk=1
GoSched dt=1 stk=1
GoStartLabel dt=1 g=1 seq=2 labelid=1
GoSysCall dt=1 stk=1
GoBlockRecv dt=1 stk=1
GoUnblock dt=10 g=1 seq=3 stk=1
GoStart dt=90 g=1 seq=4
GoEnd dt=10
Frequency freq=1000000000
Stack id=1 nframes=2
	pc=4096 func=1 file=1 line=1
	pc=4097 func=2 file=1 line=1
END
evil_name=$'\'"><img src=x onerror=alert(4)>&amp;\xff'.trace
gotrace synth --force -q -o "$evil_name" script
gotrace convert -q -o v1.html "$evil_name"
gotrace convert -q --to go1.26 -o v2.trace "$evil_name"
gotrace convert -q -o v2.html v2.trace
outline v1.html
outline v2.html | grep -v '^ \|^[a-z]*$'
grep -o '<body[^>]*>' v1.html
sed -n '/id="tasks"/,/<\/section>/p' v1.html
grep '"names"' v2.html

echo '== little and much'
gotrace gen --go 1.26 --events 0 -o empty.trace 2>/dev/null || gotrace gen --go 1.26 --events 1 -o empty.trace
gotrace convert -o empty.html empty.trace
outline empty.html
head -c 16 go1.26-prof.trace >header.trace
run gotrace convert -o header.html header.trace
outline header.html
awk 'BEGIN {
    print "Trace Go1.21\nBatch p=0 ticks=1000\nGoCreate dt=1 g=1 stack=1 stk=1\nProcStart dt=1 thread=1\nGoStart dt=1 g=1 seq=1"
    for (i = 2; i <= 100000; i++)
        printf "GoCreate dt=1 g=%d stack=%d stk=%d\n", i, i, i
    print "GoBlock dt=1 stk=1"
    for (i = 2; i <= 100000; i++)
        printf "GoStart dt=1 g=%d seq=1\nGoSched dt=%d stk=%d\nGoStart dt=1 g=%d seq=2\nGoEnd dt=1\n", i, i % 977 + 1, i, i
    print "Frequency freq=1000000000"
    for (i = 1; i <= 100000; i++) {
        printf "String id=%d\n\tdata=\"<&%d", i, i
        for (k = 0; k < 30; k++) printf "&\\\"<>"
        print "\""
        printf "Stack id=%d nframes=2\n\tpc=%d func=%d file=1 line=1\n\tpc=%d func=%d file=1 line=1\n", i, i, i, i + 1, i * 7919 % 100000 + 1
    }
}' | gotrace synth --force -q -o many.trace
gotrace convert -o many.html many.trace
outline many.html
grep -o '<p>The first [^.]*' many.html | sort | uniq -c

echo '== damaged'
head -c 3000 go1.19-http.trace >cut.trace
head -c 5000 go1.26-prof.trace >cut2.trace
for trace in cut cut2; do
    gotrace convert -q -o $trace.html $trace.trace 2>/dev/null
    echo "status $?"
    outline $trace.html | grep -v '^ \|^[a-z]*$'
    grep -o '<p class="warning".*' $trace.html
done

echo '== options'
run gotrace convert --to html --from 1ms go1.26-user.trace
run gotrace convert --to html --only gc go1.26-user.trace
run gotrace convert --to html --profile cpu go1.26-user.trace
run gotrace convert --to html go1.26-user.trace go1.26-prof.trace
