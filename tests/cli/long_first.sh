# shellcheck shell=bash
# A first record that is longer than the read buffer.
{
    echo 'Trace Go1.19'
    printf 'String id=1\n\tdata="%*s"\n' 600000 x
    echo 'Frequency freq=7'
} | gotrace synth -o long.trace
for how in text json jsonl cbor; do
    gotrace dump --format $how long.trace | gotrace synth | cmp - long.trace
done
gotrace dump --format json long.trace | cut -c1-60
