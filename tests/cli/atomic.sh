# shellcheck shell=bash
# An output file appears complete or not at all.
trace=go1.19-chan.trace
sample $trace
umask 027
gotrace dump "$trace" >script

echo '== a new file has the mode that umask says'
run gotrace dump -o new "$trace"
stat -c '%a' new
cmp script new

echo '== one that was there keeps its mode, and a link to it stays one'
echo old >there
chmod 604 there
ln -s there link
run gotrace dump -o link "$trace"
stat -c '%a %F' there link
cmp script there

echo '== failed work leaves what was there, and nothing else'
echo old >there
run gotrace dump -o there missing
run gotrace synth -o there missing
echo 'no script at all' >bad
gotrace synth -o there bad 2>/dev/null
echo "=> $?"
run gotrace dump -o unborn missing
cat there

echo '== no place to write to'
run gotrace dump -o . "$trace"
run gotrace dump -o no/such/folder/out "$trace"
run gotrace dump -o '' "$trace"

echo '== a damaged trace still gives what could be had'
head -c 2000 "$trace" >cut.trace
gotrace dump -o part cut.trace 2>/dev/null
echo "=> $?"
[ -s part ] && head -c "$(wc -c <part)" script | cmp - part

echo '== at the end of links a file is made'
mkdir deep
ln -s deep/first chain
ln -s ../second deep/first
run gotrace dump -o chain "$trace"
readlink chain deep/first
cmp script second
rm second
# The sandbox blocks the work of LeakSanitizer.
ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" gotrace dump --sandbox -o chain "$trace"
cmp script second
ln -s "$PWD/deep/absolute.json" absolute
run gotrace convert --to chrome -o absolute "$trace"
[ -s deep/absolute.json ] || echo 'nothing is there'
ln -s no/such/folder lost
run gotrace dump -o lost "$trace"
ln -s made parts
run gotrace split --by proc -o parts "$trace"
mkdir kept
ln -s ../elsewhere kept/go1.19-chan.p0.trace
run gotrace split --force --by proc -o kept "$trace"
readlink kept/go1.19-chan.p0.trace
gotrace validate -q elsewhere 2>/dev/null
echo "=> $?"

echo '== a loop of links is none'
ln -s loop loop
ln -s ring2 ring1
ln -s ring1 ring2
run gotrace dump -o loop "$trace"
run gotrace dump -o ring1 "$trace"
run gotrace split --by proc -o loop "$trace"
run gotrace mutate -o ring2 "$trace"
readlink loop ring1 ring2

echo '== in place of the input'
cp "$trace" same
run gotrace dump -o same same
cmp script same

echo '== more parts than files can be open'
gotrace gen --go 1.19 --events 20000 --procs 40 -o generated
for most in 1024 16; do
    mkdir in-$most
    (ulimit -n $most; gotrace split --by proc -o in-$most generated) || echo "=> $?"
done
[ "$(find in-16 -type f | wc -l)" -gt 20 ] || echo 'too few parts'
diff -r in-1024 in-16 && rm -r in-1024 in-16

echo '== into a named pipe'
mkfifo pipe
cat pipe >copy &
run gotrace dump -o pipe "$trace"
wait
cmp script copy
find . | sort
