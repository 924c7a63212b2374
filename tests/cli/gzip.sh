# shellcheck shell=bash
# Input compressed with gzip: any number of members, truncated, damaged; the same for every verb.
trace=go1.19-http.trace
sample $trace
gzip -c $trace >whole.gz
{ head -c 5000 $trace | gzip -c; tail -c +5001 $trace | gzip -c; } >members.gz
{ cat whole.gz; head -c 512 /dev/zero; } >padded.gz
cp whole.gz named_otherwise
for file in whole.gz members.gz padded.gz named_otherwise; do
    run gotrace validate $file
    for verb in print dump 'convert --to chrome' repair; do
        # shellcheck disable=SC2086
        cmp <(gotrace $verb $trace 2>/dev/null) <(gotrace $verb $file) || echo "$verb $file"
        # shellcheck disable=SC2086
        cmp <(gotrace $verb $trace 2>/dev/null) <(gotrace $verb <$file) || echo "$verb <$file"
    done
done
gotrace dump $trace | gzip -c | gotrace synth | cmp - $trace
gotrace info whole.gz | grep '^size' | sed "s/$(stat -c %s whole.gz)/SIZE/"

echo '== a member of nothing'
: | gzip -c >nothing.gz
cat nothing.gz whole.gz nothing.gz | gotrace validate -
run gotrace validate nothing.gz

echo '== what is in it is no trace'
echo 'Hello, this is no trace, but long enough to hold a header.' >text
gzip -k text
gotrace validate -q text 2>&1 | sed 's/text//' >plain
gotrace validate -q text.gz 2>&1 | sed 's/text.gz//' | cmp - plain

echo '== cut off'
head -c 3000 whole.gz >cut.gz
gzip -dc cut.gz >cut.trace 2>/dev/null
every_verb_of_cut cut.gz cut.trace
gotrace dump $trace | gzip -c | head -c 9000 >script.gz
gotrace synth -o out script.gz 2>&1 | sed "s/0x$(printf %x "$(gzip -dc script.gz 2>/dev/null | wc -c)")/OFFSET/"
[ ! -e out ] || echo 'out is there'
gotrace validate --json cut.gz | head -n 1 | sed "s/$(stat -c %s cut.trace)/OFFSET/"
for size in 2 5 12 20; do
    head -c $size whole.gz >short.gz
    run gotrace print short.gz
done

echo '== damaged'
cp whole.gz crc.gz
printf '\377\377' | dd of=crc.gz bs=1 seek=$(($(stat -c %s crc.gz) - 8)) conv=notrunc 2>/dev/null
gotrace dump -o out crc.gz
echo "=> $?"
cmp out <(gotrace dump $trace)
{ cat whole.gz; echo 'and then some'; } >more.gz
run gotrace validate -q more.gz
gzip -c $trace | head -c 2000 | cat - whole.gz >inside.gz
gotrace dump -o out inside.gz 2>&1 | sed -n '1s/:0x[0-9a-f]*:.*\[/: [/p'
printf '\037\213\010\340%60s' '' >reserved.gz
run gotrace dump reserved.gz

echo '== limits'
head -c 3000000 /dev/zero | gzip -c >bomb.gz
run gotrace validate --max-input 1M bomb.gz
run gotrace synth --max-input 1M bomb.gz
run gotrace validate --max-memory 10K whole.gz

echo '== written by name or by option'
gotrace dump $trace >script
for how in '-o new.gz' '-o new.txt.gz' '-o new.GZ' '--gzip -o named_otherwise'; do
    # shellcheck disable=SC2086
    gotrace dump $how $trace
    gzip -dc <"${how##* }" | cmp - script
done
gotrace dump --gzip $trace | gzip -dc | cmp - script
gotrace dump --zstd -o new.gz $trace
zstd -qdc new.gz | cmp - script
gotrace synth -o new.trace.gz script
gzip -dc new.trace.gz | cmp - $trace
run gotrace dump --zstd --gzip $trace
for verb in validate info print 'convert --to go1.21' repair gen 'merge'; do
    words=("$trace")
    [ "$verb" != gen ] || words=()
    # shellcheck disable=SC2086
    gotrace $verb "${words[@]}" >plain 2>/dev/null
    # shellcheck disable=SC2086
    gotrace $verb -o packed.gz "${words[@]}" 2>/dev/null
    gzip -dc packed.gz | cmp - plain || echo "$verb"
done
# The ending before .gz sets the target.
for ending in pftrace json script cbor; do
    gotrace convert -q -o new.$ending $trace
    gotrace convert -q -o new.$ending.gz $trace
    gzip -dc new.$ending.gz | cmp - new.$ending
done
# Many buffers, with data that hardly compresses.
gotrace gen --events 300000 -o long.trace
gotrace convert -o long.json.gz long.trace
gzip -dc long.json.gz | cmp - <(gotrace convert --to chrome long.trace)

echo '== names of several files'
mkdir several
gotrace split --gzip --by thread -o several long.trace
[ "$(find several -name '*.gz' | wc -l)" -gt 1 ] || ls several
gzip -t several/*
gotrace split --gzip --by proc -o parts whole.gz
cat $trace $trace >two
gotrace repair -q --all -o first.trace.gz two
gotrace mutate --gzip -o variants new.trace.gz
jq -r .trace variants/*.json
find parts variants first* | sort
gzip -t parts/* variants/*.gz first*
gotrace merge -q -o - parts/* | gotrace validate -
