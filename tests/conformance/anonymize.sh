# anonymize.sh - an anonymized trace has the same events for Go's readers.
# shellcheck shell=bash

check_anonymized() { # FILE READER: a sound one
    local before after made=$WORK/anonymous.trace
    if [ ! -x "$2" ]; then
        skip 'anonymize' "no $2"
    elif ! "$GOTRACE" anonymize -q -o "$made" "$1" 2>"$WORK/err"; then
        fail 'anonymize' 'refused' "$WORK/err"
    else
        before=$("$2" "$1" 2>"$WORK/err" | grep -o 'events=[0-9]*')
        after=$("$2" "$made" 2>>"$WORK/err" | grep -o 'events=[0-9]*')
        if [ "$before" = "$after" ]; then
            ok 'anonymize'
        else
            fail 'anonymize' "Go's reader: $before, then $after" "$WORK/err"
        fi
        rm -f "$made"
    fi
}
