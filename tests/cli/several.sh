# shellcheck shell=bash
# Several traces on one line of time.
new=go1.27-chan.trace other=go1.26-user.trace old=go1.19-user.trace
sample $new
sample $other
sample $old
run gotrace convert -o one.pftrace $new $other
run gotrace convert -o two.pftrace $new $other $old
run gotrace convert -q -o three.pftrace $new $other
cmp one.pftrace three.pftrace
# The same trace, as if recorded on another machine: its monotonic clock differs, but not the wall's.
gotrace dump --format text $new | sed -E 's/(ClockSnapshot.* mono=)[0-9]+/\112345678900000/' |
    gotrace synth -o moved.trace
run gotrace convert -o four.pftrace $new moved.trace
# Only perfetto has room for several.
run gotrace convert --to chrome $new $other
run gotrace convert --to text $new $other
# What can be read is converted, but a file that cannot be opened leaves no output.
head -c 3000 $new >cut.trace
run gotrace convert -q --only procs -o cut.pftrace cut.trace $other
[ -s cut.pftrace ]
run gotrace convert -o none.pftrace $new missing.trace
[ ! -e none.pftrace ]
