# roundtrip.sh - a trace that is dumped and synthesized is the same, and Go's readers accept it.
# shellcheck shell=bash

check_roundtrip() { # FILE
    local format status
    for format in text json jsonl cbor; do
        "$GOTRACE" dump --format $format "$1" >"$WORK/script" 2>"$WORK/err"
        status=$?
        "$GOTRACE" synth "$WORK/script" >"$WORK/again" 2>>"$WORK/err"
        if [ $status -eq 0 ] && cmp -s "$1" "$WORK/again"; then
            ok "dump --format $format | synth"
        else
            cmp "$1" "$WORK/again" >>"$WORK/err" 2>&1
            fail "dump --format $format | synth" 'not the same bytes' "$WORK/err"
        fi
    done
}

# The same with level meaning: another file with the same events. In one of the encodings, selected by the name.
check_meaning() { # FILE, a sound one; the READER of Go's that takes it
    local encodings=(text json jsonl cbor)
    local encoding=${encodings[$(cksum <<<"$TRACE_NAME" | cut -d ' ' -f 1) % 4]}
    "$GOTRACE" dump -q --level meaning --format "$encoding" -o "$WORK/script" "$1" 2>"$WORK/err"
    if ! "$GOTRACE" synth -o "$WORK/meant" "$WORK/script" 2>>"$WORK/err"; then
        fail 'dump --level meaning | synth' "refused as $encoding" "$WORK/err"
        return
    fi
    "$CONFORMANCE/meaning.py" "$GOTRACE" "$1" "$WORK/meant" >"$WORK/err" 2>&1
    fail_if $? 'dump --level meaning | synth' "as $encoding the events differ" "$WORK/err"
    [ -x "$2" ] || { skip 'what synth wrote by meaning' "no $2"; return; }
    "$2" "$WORK/meant" >/dev/null 2>"$WORK/err"
    fail_if $? "what synth wrote by meaning, by ${2##*/}" 'rejected' "$WORK/err"
}

check_accepted() { # FILE: a sound one, whose round trip is still in $WORK/again
    local version
    version=$(version_of "$1")
    if [ ! -x "$GOREAD_V1" ]; then
        skip 'what synth wrote, by goread-v1' "no $GOREAD_V1"
    elif "$GOREAD_V1" "$WORK/again" >/dev/null 2>"$WORK/err"; then
        ok 'what synth wrote, by goread-v1'
    else
        fail 'what synth wrote, by goread-v1' 'rejected' "$WORK/err"
    fi
    [ "${version:-0}" -ge 11 ] || return
    if [ ! -x "$GOREAD_V2" ]; then
        skip 'what synth wrote, by goread-v2' "no $GOREAD_V2"
    elif "$GOREAD_V2" "$WORK/again" >/dev/null 2>"$WORK/err"; then
        ok 'what synth wrote, by goread-v2'
    else
        fail 'what synth wrote, by goread-v2' 'rejected' "$WORK/err"
    fi
}
