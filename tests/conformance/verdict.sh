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
        ;;
    esac
}
