# shellcheck shell=bash
# A huge sparse file is rejected at once: its size costs neither time nor memory.
count=$(dirname "$(command -v gotrace)")/tests/count
truncate -s 10G nothing
{ printf 'go 1.19 trace\000\000\000'; } >header
cp header behind
truncate -s 10G behind
for verb in validate info print dump 'convert --to perfetto -o out'; do
    # shellcheck disable=SC2086
    run gotrace $verb nothing
    # shellcheck disable=SC2086
    run gotrace $verb behind
    # shellcheck disable=SC2086
    "$count" report gotrace $verb behind >/dev/null 2>&1
    read -r _ _ bytes _ <report
    [ "$bytes" -lt 4194304 ] || echo "$bytes bytes read"
done
