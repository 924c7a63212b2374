# report.sh - the HTML report in a browser: Chromium opens it from disk without an error or a request, its
# charts and tables are there, a table sorts and filters, a flame graph zooms, in light and dark, and the
# tables without scripts.
# shellcheck shell=bash

# The pictures that the README shows, and their traces: the charts, and the diagnosis of a planted cause. UPDATE=1 writes them.
REPORT_PICTURE=$ROOT/man/report.png
REPORT_PICTURE_OF=go1.27-syscall
DIAGNOSIS_PICTURE=$ROOT/man/diagnosis.png
DIAGNOSIS_PICTURE_OF=$ROOT/testdata/causes/go1.27-lock.contended-http-3.trace.zst

# in_report FILE [OPTION...]: what the report shows, in $WORK/shown.
in_report() {
    timeout -k 5 "$HANG" node "$CONFORMANCE/report.mjs" "$@" "packages=$BROWSER_HOME" "browser=$CHROMIUM" \
        >"$WORK/shown" 2>"$WORK/err"
}

check_report() { # FILE
    local report=$WORK/report.html charts
    if ! command -v node >/dev/null || [ ! -x "$CHROMIUM" ] ||
        [ ! -f "$BROWSER_HOME/node_modules/playwright-core/package.json" ]; then
        skip 'the report in a browser' "no node, $CHROMIUM or playwright-core in $BROWSER_HOME"
        return
    fi
    "$GOTRACE" convert -o "$report" "$1" 2>"$WORK/err"
    in_report "$report" scheme=light "gotrace=$GOTRACE" "trace=$1"
    fail_if $? 'the report in a browser' 'it does not work' "$WORK/err"
    cp "$WORK/shown" "$WORK/light"
    charts=$(sed -n 's/^charts: //p' "$WORK/light")
    [ "${charts:-0}" -ge 5 ] && grep -q '^sections: diagnosis timeline overview procs goroutines .*profiles' "$WORK/light"
    fail_if $? "the report: ${charts:-0} charts" 'charts or sections are missing' "$WORK/light"
    in_report "$report" scheme=dark "gotrace=$GOTRACE" "trace=$1" && cmp "$WORK/light" "$WORK/shown" >"$WORK/err"
    fail_if $? 'the report in dark colors' 'it does not work' "$WORK/err"
    in_report "$report" script=no && cmp <(head -n 3 "$WORK/light") "$WORK/shown" >"$WORK/err"
    fail_if $? 'the report without scripts' 'something is missing' "$WORK/err"
    [ "$(basename "$1" .trace)" = $REPORT_PICTURE_OF ] || return 0
    check_picture_of_report 'the charts of the report' "$REPORT_PICTURE" "$report" at=overview width=1000
    hostile_names "$WORK/hostile.trace" &&
        "$GOTRACE" convert -o "$WORK/hostile.html" "$WORK/hostile.trace" 2>"$WORK/err" &&
        in_report "$WORK/hostile.html" scheme=dark "gotrace=$GOTRACE" "trace=$WORK/hostile.trace" "name=$HOSTILE_NAME"
    fail_if $? 'a report with names in HTML' 'it does not work' "$WORK/err"
    zstd -q -d -f -o "$WORK/$(basename "$DIAGNOSIS_PICTURE_OF" .zst)" "$DIAGNOSIS_PICTURE_OF"
    "$GOTRACE" convert -o "$report" "$WORK/$(basename "$DIAGNOSIS_PICTURE_OF" .zst)" 2>"$WORK/err"
    in_report "$report" && grep -qx 'findings: [1-5]' "$WORK/shown"
    fail_if $? 'the diagnosis in the report' 'it does not work' "$WORK/err"
    check_picture_of_report 'the first page of the report' "$DIAGNOSIS_PICTURE" "$report" width=1000 height=620
}

check_picture_of_report() { # WHAT PICTURE REPORT OPTION...
    in_report "$3" "${@:4}" "picture=$WORK/report.png" &&
        [ "$(wc -c <"$WORK/report.png")" -gt 20000 ] && [ "$(wc -c <"$WORK/report.png")" -lt 150000 ]
    fail_if $? "the picture of $1" 'it cannot be made, or is too large or small' "$WORK/err"
    [ "${UPDATE:-}" != 1 ] || cp "$WORK/report.png" "$2"
}
