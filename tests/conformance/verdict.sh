# verdict.sh - gotrace and Go's reader have the same verdict, for the same reason.
# shellcheck shell=bash

# The rule that gotrace must report for a message of Go's reader, as a pattern.
rule_for() {
    case $1 in
    'time stamps out of order'*) echo 'time\.[a-z]*' ;;
    'no consistent ordering of events possible'*) echo '\(order\|goroutine\|proc\)\.[a-z]*' ;;
    'no EvFrequency event'*) echo 'footer\.missing' ;;
    *) echo '[a-z]*\.[a-z0-9]*' ;;
    esac
}

# The clocks of processors differ a little, and nothing is damaged: repair raises times and loses nothing.
check_raised() { # FILE
    "$GOTRACE" repair --json -o "$WORK/raised.trace" "$1" >"$WORK/out" 2>"$WORK/err"
    if "$GOREAD_V1" "$WORK/raised.trace" >/dev/null 2>"$WORK/go.err" &&
        tail -n 1 "$WORK/out" | grep -q '"bytes_lost":0,"added":0,"dropped":0,.*"sound":true'; then
        ok 'repair only raises times'
    else
        cat "$WORK/out" "$WORK/err" "$WORK/go.err" >"$WORK/both"
        fail 'repair only raises times' "something is lost, or Go's reader rejects it" "$WORK/both"
    fi
}

check_verdict() { # FILE
    local file=$1 said expected status

    if [ ! -x "$GOREAD_V1" ]; then
        skip verdict "no $GOREAD_V1"
        return
    fi
    "$GOREAD_V1" "$file" >/dev/null 2>"$WORK/go.err"
    expected=$?
    "$GOTRACE" validate -q "$file" >"$WORK/out" 2>"$WORK/err"
    status=$?
    if [ $expected -eq $status ]; then
        ok "verdict ($([ $status -eq 0 ] && echo sound || echo unsound))"
    else
        cat "$WORK/go.err" "$WORK/out" "$WORK/err" >"$WORK/both"
        fail verdict "Go's reader ends with $expected, gotrace with $status" "$WORK/both"
    fi
    [ $expected -ne 0 ] || return

    said=$(tail -n 1 "$WORK/go.err")
    "$GOTRACE" validate --no-recover "$file" >"$WORK/out" 2>"$WORK/err"
    if grep -q "^.*: error: .* \[$(rule_for "$said")\]\$" "$WORK/err"; then
        ok "rule for \"$said\""
    else
        fail "rule for \"$said\"" "no error with a rule that matches $(rule_for "$said")" "$WORK/err"
    fi
    case $said in
    'time stamps out of order'*)
        if grep -q 'broken clocks' "$WORK/out"; then
            ok 'class of the verdict'
        else
            fail 'class of the verdict' 'not "broken clocks"' "$WORK/out"
        fi
        [[ $TRACE_NAME != canned/* ]] || check_raised "$file"
        ;;
    esac
}
