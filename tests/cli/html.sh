# shellcheck shell=bash
# The HTML report: its outline, and that it is well-formed, of every trace.
command -v python3 >/dev/null || skip 'python3 is not installed'
outline() { python3 "$TRACES/../../tests/cli/outline.py" "$@"; }
# What is wrong in reports: lines of outlines that a report must not have.
wrong() { outline "$@" | grep -E '^(==|line|not closed|too large|an id|the policy|[0-9]+ scripts|Traceback)' | grep -B 1 '^[^=]'; }
for name in go1.26-prof go1.26-user go1.19-http; do
    sample $name.trace
    echo "== $name"
    gotrace convert -o $name.html $name.trace && outline $name.html
done
mapfile -t samples < <(all_samples)
for trace in "${samples[@]}" "$TRACES"/unsound/*.trace; do
    name=$(basename "$trace" .trace)
    gotrace convert -q -j 1 --to html -o "all-$name.html" "$trace" 2>/dev/null
    gotrace convert -q -j 3 --to html -o three.html "$trace" 2>/dev/null
    cmp "all-$name.html" three.html
    # The tables have the figures of stat.
    sum=$(gotrace stat --json --only goroutines "$trace" 2>/dev/null | jq -s 'map(select(.kind == "function").total_ns.sum) | add')
    sed -n '/id="goroutines"/,/<\/table>/p' "all-$name.html" |
        jq -Rrs --argjson sum "$sum" --arg name "$name" '[scan("<tr><td class=\"name\">[^\n]*?<td class=\"n\" data-v=\"[0-9]+\">[0-9,]+<td class=\"n\" data-v=\"([0-9]+)\">") | .[0] | tonumber] | add |
            select(. != $sum) | "\($name): the goroutines take \(.), not \($sum)"'
done
wrong all-*.html 2>&1
cmp <(gotrace convert -q --to html --gzip <go1.26-prof.trace | gzip -dc) <(gotrace convert -q --to html - <go1.26-prof.trace)

echo '== a part of the trace'
# The sums in a column of a table.
sums() {
    sed -n "/id=\"$2\"/,/<\/table>/p" "$1" |
        sed -nE "s/^<tr><td class=\"name\">[^<]*(<td class=\"n\" data-v=\"[0-9]+\">[^<]*){$3}<td class=\"n\" data-v=\"([0-9]+)\">.*/\\2/p"
}
parts=()
for name in go1.26-user go1.19-user go1.21-prof; do
    last=$(gotrace stat --json --only overview "$TRACES/$name.trace" | jq 'select(.kind == "trace").duration_ns')
    # shellcheck disable=SC2086
    for select in "--from $((last / 3))ns --until $((last / 2))ns" "--from $((last * 3 / 5))ns" '--goroutine 1-9' \
        "--function main\\. --until $((last / 2))ns" '--region inner' '--task 1'; do
        gotrace convert -q --to html $select -o part.html "$TRACES/$name.trace" || echo "$name $select: $?"
        grep -q '<p class="selection"' part.html || echo "$name $select: not named"
        parts+=("part-$name-${#parts[@]}.html")
        cp part.html "${parts[-1]}"
        stat=$(gotrace stat --sort total -q --json --top 0 $select "$TRACES/$name.trace")
        jq -r 'select(.kind == "function").total_ns.sum' <<<"$stat" | cmp - <(sums part.html goroutines 1)
        jq -r 'select(.kind == "regions").sum' <<<"$stat" | cmp - <(sums part.html regions 2)
        jq -r 'select(.kind == "tasks").sum' <<<"$stat" | tee -a spans | cmp - <(sums part.html tasks 2)
    done
done 2>&1
wrong "${parts[@]}" 2>&1
grep -q '[1-9]' spans || echo 'no task is selected'
gotrace convert --to html --from 100us --until 300us --goroutine 1-9 -o part.html go1.26-user.trace
outline part.html | grep -v '^ '
sed -n '/<header>/,/<nav/p' part.html | grep -v nav
grep -o '<title>[^<]*' part.html | sed -n '2p;80p'
grep 'class="axis"' part.html
# Sizes of the heap before the range count until they change; what is after it does not.
heap() { sed -n '/<b>Heap<\/b>/,/<\/svg>/p' "$1" | grep -o 'from [^<]*'; }
gotrace synth -q -o heap.trace <<'END'
Trace Go1.26 level=meaning procs=1
GoCreate t=1000 g=1 p=0 new_g=7
HeapAlloc t=1100 heapalloc_value=900
HeapAlloc t=1200 heapalloc_value=500
HeapAlloc t=1500 heapalloc_value=700
HeapAlloc t=1900 heapalloc_value=800
GoDestroy t=2000 g=1 p=0
END
gotrace convert --to html --from 300ns --until 800ns -o part.html heap.trace
heap part.html | uniq -f 2
gotrace convert --to html --until 300ns heap.trace -o part.html
heap part.html | uniq -f 2

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
grep '"names":' v2.html

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
# The commands select the same part; words are quoted.
gotrace convert -q --to html --function "it's|&" --until 1s -o part.html many.trace
grep -oE '<code>(--|gotrace stat).*</code>' part.html
sed -n '/<code>gotrace stat/{s/.*<code>//;s/<.code>.*//;p}' part.html | python3 -c 'import html, sys; print(html.unescape(sys.stdin.read()))' |
    PATH=$PATH bash | head -n 4
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

echo '== one task'
gotrace synth -q -o task.trace <<'END'
Trace Go1.22 level=meaning
Sync t=0
ProcStatus t=1 m=7 p=0 pstatus=running
GoStatus t=2 on_m=7 p=0 g=1 m=7 gstatus=running
UserTaskBegin t=3 m=7 p=0 g=1 task=1 parent_task=0 name_string="only"
UserTaskEnd t=9 m=7 p=0 g=1 task=1
END
gotrace convert -q -o task.html task.trace
outline task.html | grep -i task
grep -o '<a href="#tasks">[^<]*' task.html

echo '== no temporary file'
(export TMPDIR=$PWD/none && run gotrace convert -o none.html go1.26-user.trace)
ls none.html 2>/dev/null

echo '== options'
run gotrace convert --to html --no-system go1.26-user.trace
run gotrace convert --to html --only gc go1.26-user.trace
run gotrace convert --to html --profile cpu go1.26-user.trace
