# shellcheck shell=bash
# In a folder that everyone may write to, another user's link in place of OUT is not followed.
[ "$(id -u)" = 0 ] || skip 'only root can make files of somebody else'
trace=go1.19-chan.trace
sample $trace
gotrace dump -o script "$trace"
mkdir shared
chmod 1777 shared
echo secret >victim
ln -s ../victim shared/theirs
ln -s ../nothing shared/dangling
mkfifo shared/pipe
chown -h nobody shared/theirs shared/dangling shared/pipe
for out in theirs dangling pipe; do
    run timeout 5 gotrace dump -o shared/$out "$trace"
done
(cd shared && run gotrace dump -o theirs "../$trace")
cat victim
[ ! -e nothing ] || echo 'the link was followed'

echo '== their file there is replaced, not written to'
echo theirs >shared/file
chown nobody shared/file
chmod 600 shared/file
exec 9<shared/file
run gotrace dump -o shared/file "$trace"
cat <&9
cmp script shared/file
stat -c '%a %U' shared/file
echo '== what their file permits is not permitted for ours'
echo theirs >shared/file
chmod 666 shared/file
chown nobody shared/file
(umask 077 && run gotrace dump -o shared/file "$trace")
stat -c '%a %U' shared/file

echo '== our own link to theirs, and a folder in which all may remove files'
ln -s shared/theirs chain
run gotrace dump -o chain "$trace"
rm chain
chmod 777 shared
run gotrace dump -o shared/theirs "$trace"
chmod 1777 shared
cat victim

echo '== our own link, and that of who has the folder, are followed'
ln -s ../victim shared/ours
run gotrace dump -o shared/ours "$trace"
cmp script victim
chown nobody shared
echo again >victim
run gotrace dump -o shared/theirs "$trace"
cmp script victim
ls -A shared

echo '== a folder of their own making'
chmod 755 shared
run gotrace split --by proc -o shared/parts "$trace"
ln -s "$PWD/elsewhere" shared/parts/go1.19-chan.p0.trace.new
rm shared/parts/go1.19-chan.p0.trace
ln -s "$PWD/elsewhere" shared/parts/go1.19-chan.p0.trace
run gotrace split --by proc -o shared/parts "$trace"
[ ! -e elsewhere ] || echo 'the link was followed'
