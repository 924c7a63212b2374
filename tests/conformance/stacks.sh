#!/usr/bin/env bash
# stacks.sh: the functions that Go's readers show in traces whose frames were given without PCs. Prints
# results in the form of lib.sh.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC1091
. "$CONFORMANCE/versions.sh"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
fibers=$(dirname "$GOTRACE")/examples/fibers

# The example of gotrace-script(5), for v1 and v2.
script() { # VERSION
    if [ "$1" -ge 22 ]; then
        cat <<EOF
Trace Go1.$1 level=meaning procs=2
GoCreate t=1000 g=1 new_g=7
	new_stack="main.worker /src/main.go:20"
GoBlock t=2000 reason_string="chan receive"
	stack="main.main /src/main.go:11"
GoStart t=2500 g=7
GoUnblock t=4000 g=1
	stack="main.answer /src/main.go:25"
	stack="main.worker /src/main.go:21"
GoDestroy t=4200
EOF
    else
        cat <<EOF
Trace Go1.$1 level=meaning procs=2
GoCreate t=1000 on_g=1 g=7
	stack="main.worker /src/main.go:20"
GoBlockRecv t=2000
	stk="main.main /src/main.go:11"
GoStart t=2500 g=7
GoUnblock t=4000 g=1
	stk="main.answer /src/main.go:25"
	stk="main.worker /src/main.go:21"
GoEnd t=4200
EOF
    fi
}

# The output of Go 1.27: the functions and lines of each event's first stack.
shown() { # FILE
    "$GOREAD_V2" -print "$1" 2>/dev/null | awk '
        /^M=/ { stacks = 0 }
        /Stack=$/ { stacks++; line = "" }
        stacks == 1 && /^\t\t/ { sub(/.*:/, ":"); line = line $0; next }
        stacks == 1 && /^\t/ { line = line " " $1; next }
        line { print substr(line, 2); line = "" }'
}

check_script() { # VERSION in which it is written; then converted to the others
    local to
    export TRACE_NAME=stacks/go1.$1
    script "$1" >"$WORK/script"
    "$GOTRACE" synth -q -o "$WORK/trace" "$WORK/script" 2>"$WORK/log"
    printf '%s\n' 'main.worker:20' 'main.main:11' 'main.answer:25 main.worker:21' >"$WORK/meant"
    for to in 11 19 21 22 23 25 26; do
        "$GOTRACE" convert -q --to "go1.$to" -o "$WORK/made" "$WORK/trace" 2>>"$WORK/log"
        shown "$WORK/made" >"$WORK/shown"
        same "a script, as go1.$to" "$WORK/meant" "$WORK/shown"
    done
}

if [ ! -x "$GOREAD_V2" ]; then
    TRACE_NAME=stacks skip 'functions that Go shows' "no $GOREAD_V2"
    exit
fi
for version in 11 19 21 22 23 25 26; do check_script $version; done

export TRACE_NAME=stacks/fibers
if [ ! -x "$fibers" ]; then
    skip 'functions that Go shows' "no $fibers: run make tests"
    exit
fi
"$fibers" >"$WORK/fibers.trace"
printf '%s:1\n' send_letters read_letters count_sheep count_sheep >"$WORK/meant"
shown "$WORK/fibers.trace" | head -n 4 >"$WORK/shown"
same 'functions in which goroutines start' "$WORK/meant" "$WORK/shown"
check_shown "$WORK/fibers.trace" 'stacks as Go shows them'
