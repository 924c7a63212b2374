# shellcheck shell=bash
# In the sandbox each verb does the same as outside, and the kernel reports that it is active.
is_built_with asan tsan gcov && skip 'the sandbox bars its work'
sample go1.19-http.trace
sample go1.26-net.trace
gotrace dump --zstd -o packed.zst go1.26-net.trace
gotrace dump -o script go1.19-http.trace
gotrace split --by thread -o of go1.26-net.trace
gotrace gen --events 300000 -o long.trace
echo 'a key' >key
mkdir in out
while read -r command; do
    # shellcheck disable=SC2086
    (cd in && gotrace ${command/ / --sandbox } >stdout 2>stderr; echo $? >status)
    # shellcheck disable=SC2086
    (cd out && gotrace $command >stdout 2>stderr; echo $? >status)
    diff -r in out && echo "$command: $(cat in/status)"
    rm -rf in/* out/*
done <<'END'
validate ../go1.19-http.trace ../go1.26-net.trace ../script
validate --json ../go1.26-net.trace
info -o info ../go1.19-http.trace
print ../go1.26-net.trace
print --format go -o new ../go1.19-http.trace
print --where (wait)and(during(run)) ../go1.26-net.trace
dump --format cbor -o new.zst ../go1.19-http.trace
synth -o new ../script
convert --to perfetto --zstd -o new ../long.trace
convert --to chrome -o new ../long.trace
convert --to parquet -o tables ../long.trace ../go1.26-net.trace
convert --to parquet --partitions -o . ../go1.26-net.trace
convert --to go1.26 -o new ../go1.19-http.trace
split --by proc -o parts ../go1.19-http.trace
split --by thread -o . ../go1.26-net.trace
merge -o new ../of/go1.26-net.m16784.trace
repair -o new ../script
repair -o new ../go1.19-http.trace
cut --proc 0 --from 1ms -o new ../go1.19-http.trace
anonymize --key ../key --map map.json -o new ../go1.19-http.trace
stat --by file -j 2 ../go1.19-http.trace ../go1.26-net.trace
find -j 2 (wait(network)>50us)or(stw) ../go1.19-http.trace ../go1.26-net.trace
find (log~x)or(during(gc)) ../go1.26-net.trace
END
gotrace validate --sandbox <go1.19-http.trace
# shellcheck disable=SC2002
cat go1.19-http.trace | gotrace validate --sandbox -
gotrace dump --format text --sandbox go1.19-http.trace | gotrace synth --sandbox | cmp - go1.19-http.trace
run gotrace print --sandbox -o no/such/folder go1.19-http.trace
run gotrace print --sandbox missing
run gotrace reduce --sandbox --test true -o new go1.19-http.trace

# Standard input is open without data, so that the program waits in the sandbox.
mkfifo silent
exec 3<>silent
gotrace validate --sandbox silent &
program=$!
wait_until grep -q '^Seccomp:.2' /proc/$program/status
grep -E '^(NoNewPrivs|Seccomp):' /proc/$program/status
kill $program
