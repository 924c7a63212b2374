# shellcheck shell=bash
# Options that select a part of a trace.
sample go1.26-user.trace user.trace
sample go1.19-user.trace old.trace
sample go1.21-prof.trace prof.trace

echo '== compared with a selection from the whole'
mapfile -t samples < <(all_samples)
python3 -B "$TRACES/../../tests/cli/selected.py" gotrace "${samples[@]}" "$TRACES"/unsound/*.trace

echo '== regions in regions, and goroutines that are created in them'
stack() { printf '\tstack="main.%s /m.go:%s"\n' "$1" "$2"; }
{
    echo 'Trace Go1.26 level=meaning procs=2'
    echo 'UserTaskBegin t=1000 on_g=1 task=1 name_string="request"' && stack main 1
    echo 'UserTaskBegin t=1010 task=2 parent_task=1 name_string="part"' && stack main 2
    echo 'UserRegionBegin t=1100 task=1 name_string="outer"' && stack main 3
    echo 'UserRegionBegin t=1200 name_string="in, side"' && stack main 4
    echo 'GoCreate t=1210 new_g=7 new_stack="main.without /m.go:40"' && stack main 5
    echo 'UserRegionEnd t=1300 name_string="in, side"' && stack main 6
    echo 'GoCreate t=1310 new_g=8 new_stack="main.within /m.go:50"' && stack main 7
    echo 'GoStart t=1320 p=1 m=2 g=8'
    echo 'GoCreate t=1330 p=1 m=2 new_g=9 new_stack="main.child /m.go:60"' && stack within 51
    echo 'UserRegionEnd t=1400 task=1 name_string="outer"' && stack main 8
    echo 'GoDestroy t=1500 p=1 m=2'
    echo 'UserTaskEnd t=1600 task=2' && stack main 9
    echo 'UserTaskEnd t=1700 task=1' && stack main 9
} >nested.script
gotrace synth -o nested.trace nested.script
run gotrace print --task 1 nested.trace
run gotrace print --task request --goroutine 8-9 nested.trace
run gotrace print --task 'part,99' nested.trace
run gotrace print --region 'in\, side' nested.trace
run gotrace print --function 'main\.(child|without)' nested.trace
run gotrace stat --full --task 1 nested.trace
run gotrace stat --only regions --region outer --until 380ns nested.trace
run gotrace stat --json --each --task request nested.trace
run gotrace convert --to folded --region outer nested.trace

echo '== stacks'
run gotrace print --stacks --goroutine 14 --function traceLocker user.trace
gotrace print --stacks --format jsonl --function 'main\.annotated$' user.trace | head -n 1
run gotrace print --stacks --format go user.trace

echo '== times of the wall clock'
clock=2026-11-21T02:14:53.51
for zone in Z +00:00 ''; do
    gotrace print --from "${clock}0859134$zone" --until "${clock}0900Z" user.trace | cut -d ' ' -f 4 | sed -n '1p;$p'
done
gotrace print --from 2026-11-21T03:14:53.510859134+01:00 --until "${clock}0900Z" user.trace |
    grep -v Sync >one
TZ=America/New_York gotrace print --from '2026-11-20 21:14:53.510859134' --until "${clock}09Z" user.trace | grep -v Sync >two
cmp one two
gotrace convert --to perfetto --from "${clock}0900Z" -o wall.pftrace user.trace
at=$(gotrace print --format jsonl user.trace | jq -s '.[1].ticks as $t | .[0].clocks | .trace - $t + 900000 - .wall_nanoseconds % 1000000')
gotrace convert --to perfetto --from "${at}ns" -o offset.pftrace user.trace
cmp wall.pftrace offset.pftrace
run gotrace print --from 2026-11-22T00:00Z user.trace
run gotrace print --until 1999-12-31T23:59Z user.trace
run gotrace stat --from 9999-12-31T23:59Z --only overview user.trace
run gotrace convert --to folded --from 2026-11-22T00:00Z user.trace
run gotrace print --until 1ms --from "${clock}9Z" user.trace
run gotrace print --from "${clock}Z" old.trace
run gotrace stat --until "${clock}Z" --from 1s old.trace
for time in 2026-02-29T00:00Z 2026-13-01T00:00Z 2026-00-01T00:00Z 2026-01-00T00:00Z 2026-01-01T24:00Z 2026-01-01T00:60Z \
    2026-01-01T00:00:60Z 2026-01-01 2026-01-01T00:00+1 2026-01-01T00:00+24:00 2026-01-01T00:00:00.Z 2026-01-01T00:00Zx; do
    gotrace print --from "$time" user.trace 2>&1 | head -n 1
done
run gotrace print --from 2024-02-29T00:00Z --until 2024-02-29T00:00:00Z user.trace

echo '== nothing'
run gotrace print --goroutine 18446744073709551615 user.trace
run gotrace print --proc 7 --thread 0-9 user.trace
run gotrace print --task 99,none --region '' user.trace
run gotrace print --function '^$' old.trace
run gotrace stat --only overview,goroutines --goroutine 999 user.trace
run gotrace convert --to folded --goroutine 999 user.trace
run gotrace convert --to perfetto --goroutine 999 -o out user.trace
run gotrace convert --to chrome --goroutine 7 -o out user.trace
run gotrace convert --to folded --profile cpu --goroutine 999 user.trace
run gotrace convert --to folded --profile net --task 1 user.trace
run gotrace print --from 99s user.trace

echo '== lists'
gotrace print --goroutine 10,11,10,9-12,11-11 user.trace | cmp - <(gotrace print --goroutine G9-G12 user.trace)
gotrace print --proc 0,1 user.trace | cmp - <(gotrace print --proc P1,P0 user.trace)
gotrace print --generation 1-5 user.trace | wc -l
for ids in '' 0 0-3 3-1 1,,2 ',' 7x x7 P1 -1 1- 1.5 18446744073709551616 99999999999999999999999; do
    gotrace print --goroutine="$ids" user.trace 2>&1 | head -n 1
done
run gotrace print --proc 9223372036854775808 user.trace
run gotrace print --task 0 user.trace
run gotrace print --task 99999999999999999999 user.trace
run gotrace print --generation 1 old.trace

echo '== regular expressions'
for pattern in '(' 'a{2,1}' '[z-a]' '\C' 'x(?<n>' '*' "$(printf '\377')"; do
    gotrace print --function "$pattern" user.trace 2>&1 | head -n 1 | tr -d '\377'
done
gotrace print --function "$(printf 'x%.0s' {1..5000})" user.trace 2>&1 | head -n 1
gotrace print --function "$(printf '(%.0s' {1..200})" user.trace 2>&1 | head -n 1
hostile=$(printf '(a*)*%.0s' {1..95})
hostile="(.*.*.*)*${hostile:0:470}!"
run gotrace print -q --function "$hostile" user.trace | tail -n 2
hard='(a*)*(a*)*(a*)*b|(.*)*(.*)*(.*)*!'
run gotrace print --function "$hard" -o out user.trace
run gotrace print -j 3 --format jsonl --function "$hard" old.trace
run gotrace stat --function "$hard" user.trace
run gotrace convert --to pprof --function "$hard" -o out user.trace
run gotrace stat --function '((((.{1,99}){1,99}){1,99}){1,99})' user.trace
run gotrace convert --to folded --function '(((.+)+)+)+!' user.trace
gotrace print -j 3 --function '(.+)+!' user.trace 2>&1 | head -n 1

echo '== what others do not have'
run gotrace stat --full --proc 0 user.trace
run gotrace convert --to folded --generation 1 user.trace
run gotrace convert --to cbor --function main -o out user.trace
run gotrace convert --to go1.21 --goroutine 7 -o out user.trace
run gotrace convert --to json --from 1ms user.trace
run gotrace validate --goroutine 7 user.trace
run gotrace stat --only gc,overview --goroutine 7 user.trace
run gotrace stat --only stops --until 1ms --task 1 user.trace
ls out 2>&1

echo '== several files'
run gotrace stat --only overview --goroutine 999 --json user.trace old.trace
run gotrace stat --only overview --from 2026-11-21T00:00Z user.trace old.trace

echo '== timelines of some goroutines'
rows() { jq -c '[.traceEvents[] | select(.ph == "X") | .tid] | unique'; }
gotrace convert --to chrome --by goroutine --region inner user.trace | rows
gotrace convert --to chrome --by goroutine --region inner --goroutine 1-12 - <user.trace | rows
gotrace convert --to chrome --by goroutine --function 'main\.together\.func1' --until 90us user.trace | rows
gotrace convert --to perfetto --task 1 -o nested.pftrace nested.trace
gotrace convert --to perfetto --goroutine 1,8-9 -o named.pftrace nested.trace
cmp nested.pftrace named.pftrace
gotrace convert --to perfetto --task 1 --function within nested.trace 2>&1 >one | cat
gotrace convert --to perfetto --goroutine 8 nested.trace | cmp - one
gotrace convert --to perfetto --task 1 --function . nested.trace old.trace -q | strings -n 3 | grep -E '^G[0-9]+ ' | sort -u
run gotrace convert --to chrome --region none -o out.json user.trace
run gotrace convert --to chrome --function "$hard" -o out user.trace
gotrace convert --to chrome --goroutine 10,11 user.trace | jq -c '.traceEvents[] | select(.ph == "X" or .ph == "b") | [.name, .tid]'
gotrace convert --to chrome --goroutine 10,11 -j 3 user.trace | cmp - <(gotrace convert --to chrome --goroutine 10,11 -j 1 user.trace)
gotrace convert --to perfetto --goroutine 10 -j 3 -o three user.trace
gotrace convert --to perfetto --goroutine 10 -j 1 -o one user.trace
cmp one three
strings -n 3 one | grep -E '^G[0-9]+ ' | sort -u

echo '== damaged traces: the same verdict'
head -c 3000 old.trace >cut.trace
for select in '' '--goroutine 1' '--until 10us'; do
    # shellcheck disable=SC2086
    gotrace print $select cut.trace 2>&1 >/dev/null | head -n 2
done
