# view.sh - `gotrace view` in a browser: what the page draws in random windows is what `gotrace print` prints; keys,
# mouse, search, links, back and forward work, in light and dark; names of the trace are text, and nothing else
# is requested.
# shellcheck shell=bash

# The pictures in man/, of a trace whose requests wait for a lock: NAME TRACE SCHEME FRAGMENT, where the trace is this one, or
# the same with lost bytes. UPDATE=1 writes them.
VIEW_PICTURES_OF=$ROOT/testdata/causes/go1.27-lock.contended-http-3.trace.zst
VIEW_PATH='open=pinned,procs,goroutines&from=545000000&until=641000000&select=0:30:636000000&tab=details&path=30:551756672:636646656'
VIEW_PICTURES="view shop light $VIEW_PATH
view-dark shop dark $VIEW_PATH
view-overview shop light tab=findings
view-groups shop light open=procs,tasks,goroutines,10:63&tab=stat
view-1us shop light open=pinned,procs,goroutines&pin=23,30,32&from=636648000&until=636649400&select=0:30:636649300&tab=details
view-damaged damaged light tab=problems"

in_view() { # FILE [OPTION...]
    timeout -k 5 "$HANG" node "$CONFORMANCE/view.mjs" "$1" "gotrace=$GOTRACE" "packages=$BROWSER_HOME" "browser=$CHROMIUM" \
        "${@:2}" >"$WORK/shown" 2>"$WORK/err"
}

# A trace with names in HTML, and one of them.
HOSTILE_NAME='main.<img/src=x/onerror=alert(1)>'
hostile_names() { # FILE
    sed "s|main\.worker|$HOSTILE_NAME|"'; s|"request"|"</script></template><script>alert(1)</script>"|' \
        "$ROOT/tests/examples/server.script" | "$GOTRACE" synth >"$1" 2>"$WORK/err"
}

# Also one with names in HTML, two parts of a trace that overlap, and the pictures.
check_view() { # FILE
    local name picture trace scheme fragment
    name=$(basename "$1" .trace)
    if ! command -v node >/dev/null || [ ! -x "$CHROMIUM" ] ||
        [ ! -f "$BROWSER_HOME/node_modules/playwright-core/package.json" ]; then
        skip 'the timeline in a browser' "no node, $CHROMIUM or playwright-core in $BROWSER_HOME"
        return
    fi
    in_view "$1" scheme=light windows=200
    fail_if $? "the timeline in a browser: $(tr '\n' ' ' <"$WORK/shown")" 'it does not work' "$WORK/err"
    [ "$name" = "$REPORT_PICTURE_OF" ] || return 0
    hostile_names "$WORK/hostile.trace" &&
        in_view "$WORK/hostile.trace" scheme=dark windows=10 "name=$HOSTILE_NAME"
    fail_if $? 'a timeline with names in HTML, in dark colors' 'it does not work' "$WORK/err"
    zstd -q -d -f -o "$WORK/shop.trace" "$VIEW_PICTURES_OF" &&
        "$GOTRACE" cut --until 800ms -o "$WORK/first.trace" "$WORK/shop.trace" 2>"$WORK/err" &&
        "$GOTRACE" cut --from 400ms -o "$WORK/second.trace" "$WORK/shop.trace" 2>"$WORK/err" &&
        in_view "$WORK/first.trace" "other=$WORK/second.trace"
    fail_if $? 'two traces in a browser' 'it does not work' "$WORK/err"
    cp "$WORK/shop.trace" "$WORK/damaged.trace" &&
        dd if=/dev/zero of="$WORK/damaged.trace" bs=600 count=1 seek=26 conv=notrunc status=none
    while read -r picture trace scheme fragment; do
        check_view_picture "$picture" "$trace" "$scheme" "$fragment"
    done <<<"$VIEW_PICTURES"
}

check_view_picture() { # NAME TRACE SCHEME FRAGMENT
    in_view "$WORK/$2.trace" "picture=$WORK/view.png" "scheme=$3" "at=$4" </dev/null &&
        [ "$(wc -c <"$WORK/view.png")" -gt 20000 ] && [ "$(wc -c <"$WORK/view.png")" -lt 200000 ]
    fail_if $? "the picture of the timeline $1" 'it cannot be made, or is too large or small' "$WORK/err"
    [ "${UPDATE:-}" != 1 ] || cp "$WORK/view.png" "$ROOT/man/$1.png"
}
