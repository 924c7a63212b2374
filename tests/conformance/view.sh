# view.sh - `gotrace view` in a browser: what the page draws in random windows is what `gotrace print` prints; keys,
# mouse, search, links, back and forward work, in light and dark; names of the trace are text, and nothing else
# is requested.
# shellcheck shell=bash

# The picture in the README, and its trace. UPDATE=1 writes it.
VIEW_PICTURE=$ROOT/man/view.png
VIEW_PICTURE_OF=$ROOT/testdata/causes/go1.27-lock.contended-http-3.trace.zst
VIEW_PICTURE_SHOWS='from=545000000&until=641000000&open=pinned,procs,goroutines&select=0:30:636000000&tab=details&path=30:551756672:636646656'

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

# Also one with names in HTML, two parts of a trace that overlap, and the picture.
check_view() { # FILE
    local name
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
    zstd -q -d -f -o "$WORK/shop.trace" "$VIEW_PICTURE_OF" &&
        "$GOTRACE" cut --until 800ms -o "$WORK/first.trace" "$WORK/shop.trace" 2>"$WORK/err" &&
        "$GOTRACE" cut --from 400ms -o "$WORK/second.trace" "$WORK/shop.trace" 2>"$WORK/err" &&
        in_view "$WORK/first.trace" "other=$WORK/second.trace"
    fail_if $? 'two traces in a browser' 'it does not work' "$WORK/err"
    in_view "$WORK/shop.trace" "picture=$WORK/view.png" "at=$VIEW_PICTURE_SHOWS" &&
        [ "$(wc -c <"$WORK/view.png")" -gt 20000 ] && [ "$(wc -c <"$WORK/view.png")" -lt 200000 ]
    fail_if $? 'the picture of the timeline' 'it cannot be made, or is too large or small' "$WORK/err"
    [ "${UPDATE:-}" != 1 ] || cp "$WORK/view.png" "$VIEW_PICTURE"
}
