#!/usr/bin/env bash
# one.sh NAME FILE: every check of one trace.
set -u
here=$(dirname "$0")
# shellcheck disable=SC1090
for part in lib verdict print roundtrip export; do . "$here/$part.sh"; done
export TRACE_NAME=$1
file=$2
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

# What is wrong with a trace is for Go's reader to say, where that is there.
sound=yes
: >"$WORK/go.events"
if [ -x "$GOREAD_V1" ]; then
    "$GOREAD_V1" -print "$file" >"$WORK/go.events" 2>/dev/null || sound=no
else
    "$GOTRACE" validate -q "$file" >/dev/null 2>&1 || sound=no
fi

all_checks() {
    check_verdict "$file"
    check_info "$file"
    # A trace whose very records cannot be read has no script.
    if [ $sound = yes ] || "$GOTRACE" dump "$file" >/dev/null 2>&1; then
        check_roundtrip "$file"
    fi
    if [ $sound = yes ]; then
        check_accepted "$file"
        check_print "$file"
        check_jsonl "$file"
    fi
    check_export "$file" $sound
}

# In one piece, so that the lines of two traces do not mix.
lines=$(all_checks 2>&1)
printf '%s\n' "$lines"
