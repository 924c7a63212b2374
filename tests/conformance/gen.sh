#!/usr/bin/env bash
# gen.sh: check the output of gen with Go's own readers: each version, each profile, some seeds, all
# events; and with each rule violated. Prints results in the form of lib.sh.
#
#   SEEDS    number of seeds (default 3), EVENTS: events of each trace (default 4000)
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
seeds=${SEEDS:-3}
events=${EVENTS:-4000}
versions='5 7 8 9 10 11 19 21 22 23 25 26'

# readers VERSION: Go's readers of that version. That of 1.27 converts traces before 1.22.
readers() {
    [ "$1" -gt 21 ] || echo "$GOREAD_V1"
    [ "$1" -lt 11 ] || echo "$GOREAD_V2"
}

accepted() { # VERSION CHECK
    local reader
    for reader in $(readers "$1"); do
        if [ ! -x "$reader" ]; then
            skip "$2" "no $reader"
        elif ! "$reader" "$WORK/trace" >"$WORK/log" 2>&1; then
            fail "$2" "$(basename "$reader") refuses it" "$WORK/log"
            return
        fi
    done
    ok "$2"
}

sound() { # VERSION CHECK OPTIONS...
    local version=$1 check=$2
    shift 2
    if ! "$GOTRACE" gen --go "1.$version" "$@" -o "$WORK/trace" 2>"$WORK/log"; then
        fail "$check" 'gen failed' "$WORK/log"
    elif ! "$GOTRACE" validate "$WORK/trace" >"$WORK/log" 2>&1 || [ "$(wc -l <"$WORK/log")" -ne 1 ]; then
        fail "$check" 'validate has something to say' "$WORK/log"
    else
        accepted "$version" "$check"
    fi
}

check_sound() {
    local version profile seed
    for version in $versions; do
        export TRACE_NAME=gen/go1.$version
        for profile in mixed http pipeline gc syscalls; do
            for ((seed = 0; seed < seeds; seed++)); do
                sound "$version" "$profile, seed $seed" --profile $profile --seed $seed \
                    --events "$events"
            done
            sound "$version" "$profile, all events" --profile $profile --cover --events 0
            sound "$version" "$profile, one proc" --profile $profile --procs 1 --goroutines 16 \
                --events "$events"
        done
        sound "$version" 'many procs' --procs 100 --goroutines 3000 --events 60000
    done
}

# Rules whose violation Go's reader accepts, and why. V1 is goread-v1, for 1.5 to
# 1.21, V2 goread-v2, for 1.22 and later.
#
#   V1 time.span                     does not check
#   V1 string.missing stack.missing   shows them empty
#   V1 stack.duplicate                uses the last one
#   V1 log.length                     checks the length where the message is read, not before
#   V1 V2 begin.missing              takes an end without a begin to have begun before the trace
#   V1 order.global                  sorts, and accepts equal numbers, but may reject their times
#   V2 table.unused                  does not check
#   V2 stack.pc                      shows the first frame of a PC wherever the PC occurs
#   V2 clock.back                    does not compare the clocks of generations
#   V2 generation.missing            does not check from 1.26 on
#   V2 trace.empty                   accepts a header alone from 1.26 on
go_takes() { # VERSION RULE: yes, no or maybe
    case $([ "$1" -lt 22 ] && echo V1 || echo V2).$2 in
    V1.time.span | V1.string.missing | V1.stack.missing | V1.stack.duplicate | V1.log.length) echo yes ;;
    *.begin.missing) echo yes ;;
    V1.order.global) echo maybe ;;
    V2.table.unused | V2.stack.pc | V2.clock.back | V2.generation.missing) echo yes ;;
    V2.trace.empty) [ "$1" -lt 26 ] && echo no || echo yes ;;
    *) echo no ;;
    esac
}

broken() { # VERSION RULE
    local reader check="$2 broken" took=no
    reader=$([ "$1" -lt 22 ] && echo "$GOREAD_V1" || echo "$GOREAD_V2")
    if [ ! -x "$reader" ]; then
        skip "$check" "no $reader"
        return
    fi
    "$reader" "$WORK/trace" >"$WORK/log" 2>&1 && took=yes
    case $(go_takes "$1" "$2") in
    maybe) ok "$check" ;;
    yes)
        [ $took = yes ]
        fail_if $? "$check" 'Go refuses it, though the table says that it does not' "$WORK/log"
        ;;
    no)
        [ $took = no ]
        fail_if $? "$check" 'Go takes it'
        ;;
    esac
}

check_broken() {
    local rule version status
    for rule in $("$GOTRACE" gen --defect none 2>&1 | sed -n 's/.*known are: //p' | tr -d ,); do
        for version in $versions; do
            export TRACE_NAME=gen/go1.$version
            "$GOTRACE" gen --go "1.$version" --defect "$rule" --events 1500 -o "$WORK/trace" \
                2>"$WORK/log"
            status=$?
            case $status in
            0) broken "$version" "$rule" ;;
            2) ;; # no trace of that version can violate it
            *) fail "$rule broken" "gen ended with status $status" "$WORK/log" ;;
            esac
        done
    done
}

check_sound
check_broken
