# shellcheck shell=bash
# A trace from an archive of Go's tests, and back: text, JSON and the file are the same.
cat >steal.test <<'END'
-- expect --
FAILURE "whatever Trace Go1.99"
-- trace --
Trace Go1.26
EventBatch gen=1 m=0 time=0 size=20
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=0 gstatus=2
GoSyscallBegin dt=1 p_seq=1 stack=0
GoSyscallEnd dt=1
Span dt=1 id=5 npages_value=1 kindclass=0
EventBatch gen=1 m=18446744073709551615 time=0 size=17
Stacks
Stack id=1 nframes=1
	pc=18446744073709551615 func=1 file=0 line=2
EventBatch gen=1 m=18446744073709551615 time=0 size=14
Strings
String id=1
	data="main\xff\u00a0"
String id=2
ExperimentalBatch exp=1 gen=1 m=0 time=4
	data="\x00\""
EndOfGeneration
END
run gotrace synth -o steal.trace steal.test
sed '1,/^-- trace --/d' steal.test >steal.txt
gotrace dump steal.trace | diff steal.txt - && echo 'the same text'
for how in text json jsonl cbor; do
    gotrace dump --format $how steal.trace | gotrace synth | cmp - steal.trace &&
        echo "the same trace after $how"
done
gotrace dump --format jsonl steal.trace | tail -n 4
sed -i 's/ size=20//' steal.test
run gotrace synth -o steal.trace steal.test
printf -- '-- a --\nTrace Go1.22\n' >none.test
run gotrace synth -o none.trace none.test
