# shellcheck shell=bash
# A trace of any version is converted to every other one, and the result is sound.
versions='5 7 8 9 10 11 19 21 22 23 25 26'
for trace in gccgo-user go1.19-http go1.21-cgo go1.22-cgothread go1.23-iter go1.26-allocfree go1.27-syscall; do
    sample $trace.trace
    for v in $versions; do
        gotrace convert -q --to "go1.$v" -o out.trace $trace.trace || echo "=> $?"
        [ "$(head -c 16 out.trace | tr -d '\0')" = "go 1.$v trace" ] || echo "$trace, $v: header"
        gotrace validate -q out.trace >found 2>&1 || head -n 1 found
    done
done
# Also damaged traces: impossible events are left out.
for trace in go1.19-http go1.21-cgo go1.22-cgothread go1.23-iter go1.26-allocfree; do
    size=$(stat -c %s $trace.trace)
    for i in 1 2 3 4 5 6 7 8; do
        cp $trace.trace damaged.trace
        if [ $((i % 4)) -eq 0 ]; then
            truncate -s $((16 + i * (size - 16) / 9)) damaged.trace
        else
            #             Some bytes are changed: among them ids of goroutines, to 0.
            for at in 1 3 5; do
                printf '\000' | dd of=damaged.trace conv=notrunc bs=1 \
                    seek=$((16 + (i * 7919 + at * 104729) % (size - 16))) 2>/dev/null
            done
        fi
        for v in 5 10 21 22 26; do
            rm -f out.trace
            gotrace convert -q --to "go1.$v" -o out.trace damaged.trace >said 2>&1 ||
                [ $? -eq 1 ] || cat said
            [ ! -e out.trace ] || gotrace validate -q out.trace >found 2>&1 || head -n 1 found
        done
    done
done
# If no event is left, there is no trace.
printf 'go 1.26 trace\0\0\0' >damaged.trace
rm -f out.trace
run gotrace convert --to go1.21 -o out.trace damaged.trace
run test -e out.trace
# Events that the version lacks are reported.
run gotrace convert --to go1.5 -o out.trace go1.26-allocfree.trace
run gotrace convert --to go1.11 -o out.trace go1.23-iter.trace
run gotrace convert --to go1.22 -o out.trace go1.19-http.trace
run gotrace convert --to go1.21 -o out.trace go1.22-cgothread.trace
# With --strict that is an error, and nothing is written.
run gotrace convert --strict --to go1.11 -o not.trace go1.23-iter.trace
run test -e not.trace
run gotrace convert --strict --to go1.21 -o out.trace go1.19-http.trace
# Round trip: the states of goroutines, their times (in steps of a microsecond) and places.
states() {
    gotrace print --format jsonl "$1" |
        jq -r 'select(.resource == "goroutine" and (.initial or .from == "undetermined" | not) and
                      .type != "GoSysBlock" and .type != "GoSyscallEnd" and .type != "GoSyscallBegin") |
               "\(.subject) \(.to) \(.reason) \(.func) \(.start_func)"' | sort
}
states go1.21-cgo.trace >before
for v in 7 11 19 23 26; do
    gotrace convert -q --to "go1.$v" go1.21-cgo.trace | gotrace convert -q --to go1.21 -o back.trace
    states back.trace | diff before - | head -n 3
done
# Between versions with the same ticks, 1.19 and 1.21, nothing is lost.
events() { gotrace print --format jsonl "$1" | jq -c 'del(.offset, .cause, .stack, .start, .args, .lane)'; }
gotrace convert --to go1.21 go1.19-http.trace | gotrace convert --to go1.19 -o back.trace
diff <(events go1.19-http.trace) <(events back.trace) | head -n 5
# Ticks are unchanged, and the output is reproducible.
for i in 1 2; do gotrace convert -q --to go1.25 -o $i.trace go1.19-http.trace; done
cmp 1.trace 2.trace
# From a pipe, compressed.
gotrace convert -q --zstd --to go1.25 - <go1.19-http.trace | gotrace validate -
# A release of Go is accepted in place of a version, and means the version of its traces.
for release in 6 12 18 20 24 27; do
    echo "Go 1.$release:"
    gotrace convert -q --to "go1.$release" -o out.trace go1.26-allocfree.trace || echo "=> $?"
    head -c 16 out.trace | tr -d '\0' && echo
    gotrace gen --go "1.$release" --events 100 | head -c 16 | tr -d '\0' && echo
    args='p=0 g=1'
    [ "$release" -lt 22 ] || args='m=1 g=1'
    printf 'Trace Go1.%s level=meaning\nGoStart t=1 %s\n' "$release" "$args" >script
    gotrace synth -q --force -o out.trace script || echo "=> $?"
    head -c 16 out.trace | tr -d '\0' && echo
    printf '{"trace":"go 1.%s"}\n' "$release" >script
    gotrace synth -q -o out.trace script || echo "=> $?"
    head -c 16 out.trace | tr -d '\0' && echo
done
