# shellcheck shell=bash
# A program that traces to standard error or standard output mixes its log lines, or the report of its end, into the
# trace: one message that quotes the text, no event is made of it, and what follows it is read.

log='2026/11/27 09:00:00 listening on :8080'
panic=$'panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/user/src/app/main.go:9 +0x75\nexit status 2'

# insert TRACE TEXT OFFSET...: the sample with the text at these offsets.
insert() {
    local trace=$TRACES/$1.trace text=$2 from=0 at
    shift 2
    for at in "$@"; do
        tail -c +$((from + 1)) "$trace" | head -c $((at - from))
        printf '%s\n' "$text"
        from=$((at))
    done
    tail -c +$((from + 1)) "$trace"
}

events() {
    gotrace print -q --format jsonl "$@" 2>/dev/null | grep -c '"type"'
}

# check NAME TRACE TEXT OFFSET...
check() {
    echo "== $1: $2"
    insert "${@:2}" >mixed.trace
    run gotrace validate mixed.trace
    echo "$(events mixed.trace) events, $(events --no-recover mixed.trace) without recovery"
}

# The offsets are those of batches.
check 'before the header' go1.19-gc "$log" 0
check 'before the header' go1.22-threads "$panic" 0
check 'after the header' go1.21-http "$log" 0x10
check 'after the header' go1.22-threads "$log" 0x10
check 'between batches' go1.19-gc "$log" 0x10ed
check 'between batches' gccgo-http "$log" 0x10
check 'between batches' go1.22-threads "$panic" 0x99c
check 'between batches' go1.27-seconds "$log" 0x165c
check 'twice' go1.19-gc "$log" 0x10ed 0x21e8
check 'twice' go1.27-seconds "$log" 0x4ed 0x225b
check 'in a batch' go1.19-gc "$panic" 0x1a00
check 'in a batch' go1.27-seconds "$log" 0x998
check 'in a batch' go1.25-gensprof "$log" 0x71f
# The text begins in the batch, and the end by its size is in the text.
check 'in a batch' go1.22-threads "$log" 0x166
check 'in a batch that text precedes' go1.22-threads "$log" 0x99c 0xaf4
for trace in go1.19-gc go1.22-threads go1.27-seconds; do
    check 'at the end' $trace "$panic" "$(stat -c %s "$TRACES/$trace.trace")"
done

echo '== the trace ends with it'
{
    head -c $((0x21e8)) "$TRACES/go1.19-gc.trace"
    printf '%s\n' "$panic"
} >mixed.trace
run gotrace validate mixed.trace

echo '== nothing but text after the header'
{
    head -c 16 "$TRACES/go1.19-gc.trace"
    printf '%s\n' "$panic"
} >mixed.trace
run gotrace validate mixed.trace
run gotrace print mixed.trace
run gotrace repair -o repaired.trace mixed.trace
run gotrace validate --json mixed.trace

echo '== control characters are not printed'
insert go1.19-gc $'\e[31mERROR\e[0m the disk of \xc3\xa9t\xc3\xa9  is full' 0x10ed >mixed.trace
run gotrace validate mixed.trace

echo '== no trace at all'
printf '%s\n' "$log" "$panic" >text
run gotrace validate text
printf 'listening' >text
run gotrace validate text
printf '<!DOCTYPE html>\n<html lang="en"><title>Sign in</title></html>\n' >page
run gotrace validate page
{
    cat page
    cat "$TRACES/go1.19-gc.trace"
} >mixed.trace
run gotrace validate mixed.trace
