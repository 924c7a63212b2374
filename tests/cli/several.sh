# shellcheck shell=bash
# Several traces on one timeline.
new=go1.27-chan.trace other=go1.26-user.trace old=go1.19-user.trace
sample $new
sample $other
sample $old
run gotrace convert -o one.pftrace $new $other
run gotrace convert -o two.pftrace $new $other $old
run gotrace convert -q -o three.pftrace $new $other
cmp one.pftrace three.pftrace
# The same trace, as if recorded on another machine: with another monotonic clock, but the same wall clock.
gotrace dump --format text $new | sed -E 's/(ClockSnapshot.* mono=)[0-9]+/\112345678900000/' |
    gotrace synth -o moved.trace
run gotrace convert -o four.pftrace $new moved.trace
# Of the timelines only perfetto supports several traces, and versions and scripts are of one (several_rows has the others).
run gotrace convert --to chrome $new $other
for target in go1.11 go1.24 text json jsonl cbor; do
    run gotrace convert --to $target $new $other $old
done
# Damaged traces are converted as far as possible, but if a file cannot be opened, no output is written.
head -c 3000 $new >cut.trace
run gotrace convert -q --only procs -o cut.pftrace cut.trace $other
[ -s cut.pftrace ]
run gotrace convert -o none.pftrace $new missing.trace
[ ! -e none.pftrace ]
