# shellcheck shell=bash
# An output file appears whole or not at all.
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

echo '== in place of the input'
cp "$trace" same
run gotrace dump -o same same
cmp script same

echo '== into a named pipe'
mkfifo pipe
cat pipe >copy &
run gotrace dump -o pipe "$trace"
wait
cmp script copy
find . | sort
