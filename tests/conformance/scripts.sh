#!/usr/bin/env bash
# scripts.sh: check the example scripts with Go's own readers: the traces that synth builds are
# accepted, and show the functions in the scripts. Prints results in the form of lib.sh.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

# That of Go 1.27 reads traces of 1.11 and later, that of Go 1.21 traces before 1.22.
readers() { # VERSION
    [ "$1" -gt 21 ] || echo "$GOREAD_V1"
    echo "$GOREAD_V2"
}

# Functions in the frames of a script, and in the reader's output.
script_functions() { sed -n 's/^\t[a-z_]*="\([^ "]*\).*/\1/p' "$1" | sort -u; }
printed_functions() { sed -n 's/^\t\(.*\) @ 0x[0-9a-f]*$/\1/p' "$1" | sort -u; }

check_script() { # SCRIPT
    local version reader
    TRACE_NAME=scripts/$(basename "$1" .script)
    export TRACE_NAME
    version=$(sed -n 's/^Trace Go1\.\([0-9]*\).*/\1/p' "$1")
    if ! "$GOTRACE" synth -o "$WORK/trace" "$1" 2>"$WORK/log"; then
        fail synth 'it failed' "$WORK/log"
        return
    fi
    "$GOTRACE" validate "$WORK/trace" >"$WORK/log" 2>&1
    fail_if $? validate 'the trace is not sound' "$WORK/log"
    for reader in $(readers "$version"); do
        if [ ! -x "$reader" ]; then
            skip accepted "no $reader"
            continue
        fi
        "$reader" -print "$WORK/trace" >"$WORK/printed" 2>"$WORK/log"
        fail_if $? "accepted by $(basename "$reader")" 'it refuses the trace' "$WORK/log"
        [ "$reader" = "$GOREAD_V2" ] || continue
        script_functions "$1" >"$WORK/script"
        printed_functions "$WORK/printed" >"$WORK/got"
        same "functions in $(basename "$reader")" "$WORK/script" "$WORK/got"
    done
}

for script in "$ROOT"/tests/examples/*.script; do
    check_script "$script"
done
