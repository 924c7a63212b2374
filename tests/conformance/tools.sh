# tools.sh - traces written by gotrace are opened by `go tool trace -d` of each toolchain that supports the
# version: each has its own reader and its own checks.
# shellcheck shell=bash

TOOLCHAINS=(19 21 22 23 25 26 27)

# `go tool trace` of Go 1.N. From 1.25 on it is not part of toolchains: run.sh builds it.
tool_of() { # N
    local shipped
    shipped=$PEERS/usr/lib/go-1.$1/pkg/tool/$(basename "$(dirname "$GO_TRACE_V1")")/trace
    if [ -x "$shipped" ]; then
        echo "$shipped"
    elif [ "$1" -eq 27 ]; then
        echo "$GO_TRACE"
    else
        echo "$GO_TRACE-1.$1"
    fi
}

# Whether Go 1.N reads traces of that version: from 1.23 on none before 1.11.
tool_knows() { # N VERSION
    local newest=$1
    [ "$1" -ne 27 ] || newest=26
    [ "$2" -le "$newest" ] && { [ "$1" -le 22 ] || [ "$2" -ge 11 ]; }
}

# Traces of 1.5 have no names: the old tools require the program; any Go program is accepted.
run_tool() { # N VERSION FILE
    local tool flag=-d
    local -a program=()
    tool=$(tool_of "$1")
    case $1 in
    19 | 21) ;;
    22 | 23) flag=-d=1 ;;
    *) flag=-d=parsed ;;
    esac
    [ "$2" -ne 5 ] || program=("$PEERS/usr/lib/go-1.21/bin/go")
    GOTOOLCHAIN=local PATH=$PEERS/usr/lib/go-1.$1/bin:$PATH timeout "$HANG" "$tool" "$flag" \
        "${program[@]}" "$3" >"$WORK/tool.out" 2>"$WORK/tool.err" && return
    # No reader since 1.22 supports it.
    [ "$1" -ge 22 ] && [ "$2" -le 21 ] && grep -q 'unexpected event type 36' "$WORK/tool.err"
}

opened() { # FILE CHECK
    local n version refused='' missing=''
    version=$(version_of "$1" 2>/dev/null)
    if [ -z "$version" ]; then
        fail "$2, opened by go tool trace" 'there is no trace' "$WORK/tools.said"
        return
    fi
    for n in "${TOOLCHAINS[@]}"; do
        tool_knows "$n" "$version" || continue
        if [ ! -x "$(tool_of "$n")" ]; then
            missing+=" 1.$n"
        elif ! run_tool "$n" "$version" "$1"; then
            refused+=" 1.$n"
            { echo "1.$n:"; cat "$WORK/tool.err"; } >>"$WORK/refused"
        fi
    done
    [ -z "$missing" ] || skip "$2, opened by go tool trace" "no go tool trace of$missing"
    [ -z "$refused" ]
    fail_if $? "$2, opened by go tool trace" "not by that of$refused" "$WORK/refused"
    rm -f "$WORK/refused"
}

# made CHECK COMMAND...: the output of the command in $WORK/tools.trace is opened.
made() {
    local check=$1
    shift
    rm -f "$WORK/tools.trace"
    "$@" >"$WORK/tools.said" 2>&1 || rm -f "$WORK/tools.trace"
    opened "$WORK/tools.trace" "$check"
}

# A trace unchanged, through a script of level meaning, split and merged, and in two other versions,
# which are different for each trace.
check_tools() { # FILE BY
    local i turn to
    opened "$1" 'as it is'
    "$GOTRACE" dump --level meaning --format cbor -o "$WORK/tools.cbor" "$1"
    made 'synth by meaning' "$GOTRACE" synth -o "$WORK/tools.trace" "$WORK/tools.cbor"
    "$GOTRACE" split -q --by "$2" -o "$WORK/tools.parts" "$1"
    made merge "$GOTRACE" merge -o "$WORK/tools.trace" "$WORK/tools.parts"/*
    turn=$(cksum <<<"$TRACE_NAME" | cut -d ' ' -f 1)
    for i in 1 6; do
        to=${ALL_VERSIONS[(turn + i) % ${#ALL_VERSIONS[@]}]}
        made "convert --to go1.$to" "$GOTRACE" convert --to "go1.$to" -o "$WORK/tools.trace" "$1"
    done
}
