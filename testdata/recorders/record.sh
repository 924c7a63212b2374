#!/usr/bin/env bash
# record.sh [--big | --loaded] [--scale N] [--procs N] [--only SCENARIO,...] [--beside SCENARIO] OUTDIR [TOOLCHAIN...]
#
# Builds the recorder programs of this folder with each toolchain and records every scenario to
# OUTDIR/TOOLCHAIN-SCENARIO.trace. A toolchain is gccgo, or goX (go1.19) below
# $GOTRACE_PEERS/usr/lib; default: all that are installed. With --big only the big
# scenario is recorded ($BIG_BYTES, default 110 MiB), with --loaded only phases, to TOOLCHAIN-loaded.trace, while two
# busy loops per processor run. The scenario named by --beside is recorded by two
# processes at once; the second begins a little later and leaves OUTDIR/TOOLCHAIN-SCENARIO.beside.
# Exit 1 if anything could not be recorded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=testdata/recorders/toolchains.bash
. "$here/toolchains.bash"
big=no
loaded=no
scale=1
procs=4
only=
beside=

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --big) big=yes ;;
    --loaded) loaded=yes ;;
    --scale) scale=${2:?}; shift ;;
    --procs) procs=${2:?}; shift ;;
    --only) only=${2:?}; shift ;;
    --beside) beside=${2:?}; shift ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# -ge 1 ] || usage
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift

if [ $# -eq 0 ]; then
    mapfile -t toolchains < <(list_toolchains)
    set -- "${toolchains[@]}"
fi
[ $# -gt 0 ] || { echo "record.sh: no toolchain: neither gccgo-12 nor $peers/usr/lib/go-*" >&2; exit 1; }

work=$(mktemp -d)
load=()
trap 'kill "${load[@]}" 2>/dev/null || :; rm -rf "$work"' EXIT
failed=0

# Keeps the processors busy for SECONDS in any case: as long as the recorder may run.
begin_load() { # SECONDS
    local i
    for ((i = 0; i < 2 * $(nproc); i++)); do
        timeout "$1" sh -c 'while :; do :; done' &
        load+=($!)
    done
}

end_load() {
    kill "${load[@]}" 2>/dev/null || :
    wait "${load[@]}" || :
    load=()
}

build() { # TOOLCHAIN: leaves the program in $work/recorder
    local sources=(main.go sched.go system.go user.go) minor=${1#go1.}
    if [ "$1" != gccgo ]; then
        #         Named files are built whatever their build tags are.
        [ "$minor" -lt 22 ] || sources+=(generations.go)
        [ "$minor" -lt 23 ] || sources+=(coroutines.go experiment.go)
        [ "$minor" -lt 25 ] || sources+=(flight.go)
    fi
    #     gccgo by itself cannot build cgo.
    [ "$1" = gccgo ] || sources+=(cgo.go)
    RECORD_CACHE=${RECORD_CACHE:-$work/cache} build_program "$1" "$here" "$work/recorder" "${sources[@]}"
}

record() { # TOOLCHAIN SCENARIO [FLAG...]
    local name=$1-$2 scenario=$2 other=
    shift 2
    rm -f "$out/$name.trace" "$out/$name"-[0-9]*.trace
    if [ "$scenario" = "$beside" ]; then
        (sleep 0.4 && cd "$work" && timeout 300 ./recorder "$@" "$scenario" "$out/$name.beside") &
        other=$!
    fi
    if ! (cd "$work" && timeout 300 ./recorder "$@" "$scenario" "$out/$name.trace"); then
        echo "record.sh: $name: the recorder failed" >&2
        failed=1
    fi
    if [ -n "$other" ] && ! wait "$other"; then
        echo "record.sh: $name: the recorder beside it failed" >&2
        failed=1
    fi
}

for toolchain; do
    if ! build "$toolchain"; then
        echo "record.sh: $toolchain: does not build" >&2
        failed=1
        continue
    fi
    if [ $big = yes ]; then
        record "$toolchain" big -stats -bytes "${BIG_BYTES:-115343360}"
        continue
    fi
    if [ $loaded = yes ]; then
        begin_load 300
        record "$toolchain" phases -stats -bytes "${BIG_BYTES:-115343360}"
        end_load
        [ ! -e "$out/$toolchain-phases.trace" ] || mv "$out/$toolchain-phases.trace" "$out/$toolchain-loaded.trace"
        continue
    fi
    for scenario in $("$work/recorder" -list); do
        case $scenario in big | phases) continue ;; esac
        case ,$only, in
        ,, | *,"$scenario",*) record "$toolchain" "$scenario" -scale "$scale" -procs "$procs" ;;
        esac
    done
done
exit $failed
