# shellcheck shell=bash
# Damaged input gives status 1, the readable part, and the place of the damage.
trace=go1.19-chan.trace
sample $trace
gotrace dump "$trace" >whole
head -c 2000 "$trace" >cut.trace
{ head -c 1000 "$trace"; printf '\377\377\377\377'; tail -c +1005 "$trace"; } >overwritten
for file in cut.trace overwritten; do
    run gotrace validate --max-errors 3 $file
    run gotrace validate --max-errors 1 --json $file | grep -v placeholder
    gotrace validate -v --max-errors 1 $file 2>&1 | sed 's/ in [0-9.]* s, .*/ in N s, N/'
    gotrace info -q $file 2>/dev/null
    echo "=> $?"
    for verb in print dump 'convert --to chrome' 'convert --to perfetto'; do
        # shellcheck disable=SC2086
        gotrace $verb -q -o part $file 2>report
        status=$?
        [ -s report ] || [ "$verb" = dump ] || echo 'nothing was reported'
        echo "$verb $file: $status, $([ -s part ] && echo something) of $(wc -c <"$trace")"
    done
    gotrace dump -q $file 2>/dev/null | cmp - whole 2>&1 | grep -o '^cmp: EOF on -'
done
true
