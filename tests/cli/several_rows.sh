# shellcheck shell=bash
# Of several traces, each row says which one it is about, or is the sum of all: every verb that takes several, text and JSON.
a=go1.26-user.trace b=go1.19-user.trace
sample $a
sample $b
# Lines that name neither trace.
nameless() { grep -vE "$a|$b" | grep .; }

echo '== verbs that take one trace'
for verb in info print dump 'why --task 1'; do
    # shellcheck disable=SC2086
    gotrace $verb $a $b 2>&1 | grep -o 'takes \[FILE\]'
done

echo '== validate, find'
gotrace validate $a $b | nameless
gotrace validate --json $a $b | jq -c 'select(.file == null)'
gotrace find 'run or task' $a $b | nameless
gotrace find --json 'run or task' $a $b | jq -c 'select(.file == null)'
gotrace find --json --top 4 'run or task' $a $b | jq -r .file | sort -u

echo '== diagnose'
gotrace diagnose $a $b | grep -vE '^( |[1-9]\. |$)'
gotrace diagnose --json $a $b | jq -r .file

echo '== stat'
gotrace stat --full $a $b | grep -E 'goroutine [1-9]|[0-9] [mun]?s from|longest: from' | grep -vE 'made runnable by|meanwhile, procs:' | nameless
# What is about a moment or one thing has the file, itself or where it is in.
gotrace stat --json $a $b | jq -c 'select(.kind | IN("trace", "gc", "mmu", "proc", "delay")) | select((.file // .trace) == null)'
gotrace stat --json $a $b | jq -c '.. | objects | select(has("begin") and ((.file // .trace) == null))'
gotrace stat --json --each $a $b | jq -c 'select(.kind | IN("goroutine", "region", "task")) | select((.file // .trace) == null)' | wc -l
sums() { jq -s -c 'map(select(.kind == "function")) | group_by(.name) | map([.[0].name, (map(.goroutines) | add), (map(.total_ns.sum) | add)])'; }
cmp <(gotrace stat --json --top 0 $a $b | sums) <(for file in $a $b; do gotrace stat --json --top 0 "$file"; done | sums)

echo '== convert: profiles are the sum, and say in pprof of which trace a sample is'
fold() { awk '{ ns = $NF; sub(/ [0-9]+$/, ""); sum[$0] += ns } END { for (stack in sum) print stack, sum[stack] }' | sort; }
for profile in wall sched sync; do
    for file in $a $b; do gotrace convert --to folded --profile $profile "$file"; done | fold >want
    gotrace convert --to folded --profile $profile $a $b | sort | cmp - want
    gotrace convert --to folded --profile $profile $b $a | sort | cmp - want
    awk '{ sum += $NF } END { print sum }' want >sum
    gotrace convert --to speedscope --profile $profile $a $b | jq '.profiles | length, (.[0].weights | add)' | paste -s -d ' ' |
        cmp - <(paste -d ' ' <(echo 1) sum)
done
gotrace convert -o two.pb $a $b
grep -aoE "go1\.[0-9]*-user\.trace" two.pb | sort | uniq -c | sed 's/^ *//'
[ "$(wc -c <two.pb)" -gt "$(gotrace convert --to pprof $a | wc -c)" ]
head -c 3000 $b >cut.trace
run gotrace convert -q -o damaged.folded $a cut.trace
run gotrace convert --to folded -o none.folded $a missing.trace
[ ! -e none.folded ]
run gotrace convert --profile cpu -o none.pb $a $b

echo '== convert: the report'
run gotrace convert -q -o two.html $a $b
gotrace convert -q -j 3 --to html $a $b | cmp - two.html
python3 "$TRACES/../../tests/cli/outline.py" two.html | grep -E '^[a-z]|table: Traces'
grep -c '<code class="window" data-file="go1.26-user.trace">\|<code class="window" data-file="go1.19-user.trace">' two.html
grep -c '<code class="window">' two.html
column() { sed -n '/id="goroutines"/,/<\/table>/p' | sed -nE 's/^<tr><td class="name">([^<]*)<td class="n" data-v="([0-9]+)">[^<]*<td class="n" data-v="([0-9]+)">.*/\1 \2 \3/p'; }
column <two.html | sort | cmp - <(gotrace stat --json --top 0 $a $b | jq -r 'select(.kind == "function") | "\(.name) \(.goroutines) \(.total_ns.sum)"' | sed 's/&/\&amp;/g' | sort)
for file in $a $b; do gotrace convert --to html "$file" | grep -o '<p class="verdict">.*'; done | cmp - <(grep -o '<p class="verdict">.*' two.html)
run gotrace convert -q -o damaged.html $a cut.trace $b
grep -A 1 'class="warning"' damaged.html | head -1
sed -n '/id="traces"/,/<\/table>/p' damaged.html | grep '^<tr><td' | sed 's/<[^>]*>/|/g'
run gotrace convert --function serve -q -o part.html $a $b
