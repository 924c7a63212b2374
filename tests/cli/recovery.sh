# shellcheck shell=bash
# A damaged trace is read as if it had been repaired first.
for name in go1.26-gens go1.21-http go1.22-gens go1.19-chan; do sample $name.trace; done
# There is no sample of Go until 1.10: a trace of these versions is generated.
gotrace convert -q --to go1.5 -o go1.5-chan.trace go1.19-chan.trace
head -c 12000 go1.26-gens.trace >cut.26
head -c 12000 go1.21-http.trace >cut.21
head -c 1500 go1.5-chan.trace >cut.5
{ head -c 6000 go1.22-gens.trace; head -c 3000 /dev/zero; tail -c +9001 go1.22-gens.trace; } >zeros.22
{ head -c 6000 go1.21-http.trace; head -c 500 /dev/zero; tail -c +6001 go1.21-http.trace; } >zeros.21
tail -c +17 go1.22-gens.trace >headless.22
cat go1.19-chan.trace go1.21-http.trace >two.19
for file in cut.26 cut.21 cut.5 zeros.22 zeros.21 headless.22 two.19; do
    echo "== $file"
    run gotrace validate $file
    gotrace repair -q -o good.trace $file
    #     Every verb shows what it shows of the repaired trace, with status 1.
    for how in print 'print --format jsonl' 'convert --to chrome' 'convert --to go1.26' 'convert --to go1.5'; do
        # shellcheck disable=SC2086
        gotrace $how -q good.trace >good 2>/dev/null || echo "$how: the repaired one is not sound"
        # shellcheck disable=SC2086
        gotrace $how -q $file >bad 2>/dev/null && echo "$how: status 0"
        cmp good bad
        # shellcheck disable=SC2086
        gotrace $how -q - <$file 2>/dev/null | cmp good -
    done
done

echo '== as JSON Lines'
run gotrace validate --json zeros.22
gotrace info --json cut.21 2>/dev/null | tail -n 1 | jq -c '[.size, .recovered_size, .verdict]'
gotrace info cut.21 2>/dev/null | grep -E '^(size|recovered|verdict|all) '

echo '== up to the damage alone'
run gotrace validate --no-recover zeros.22
run gotrace validate --no-recover -q headless.22
gotrace print --no-recover -q cut.21 2>/dev/null | wc -l
gotrace info --no-recover cut.21 2>/dev/null | grep -E '^(size|recovered|all of)'

echo '== nothing is recovered from what is none, or cannot be'
echo 'no trace' >text
run gotrace validate text
run env TMPDIR=/nowhere gotrace validate -q cut.5
printf 'go 1.99 trace\0\0\0' >new
run gotrace validate -q new

# Some bytes of any file are valid in some version: a text is not a trace without a header.
gotrace dump -o script "$TRACES"/go1.26-gens.trace
run gotrace validate script
run gotrace repair -o out script
