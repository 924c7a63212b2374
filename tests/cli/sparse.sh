# shellcheck shell=bash
# A huge sparse file is rejected at once: its size costs neither time nor memory.
truncate -s 10G nothing
{ printf 'go 1.19 trace\000\000\000'; } >header
cp header behind
truncate -s 10G behind
begun=$SECONDS
for verb in validate info print dump 'convert --to perfetto -o out'; do
    # shellcheck disable=SC2086
    run gotrace $verb nothing
    # shellcheck disable=SC2086
    (ulimit -t 5; run gotrace $verb behind)
done
[ $((SECONDS - begun)) -le 20 ] || echo 'this took too long'
