# chrome.sh - compare `convert --to chrome` with `go tool trace -http` (chrome.py), slice by slice, for
# some traces of every version.
# shellcheck shell=bash

check_chrome() { # FILE VERSION: a sound one, and the version of Go whose tool is asked
    local program=$GO_TRACE view
    local -a views=(proc goroutine thread) documents=()
    case $TRACE_NAME in
    kept/go1.19-chan | kept/go1.19-cgo | kept/go1.19-gc | kept/go1.19-http | kept/go1.19-net) ;;
    kept/go1.19-restart-3 | kept/go1.19-syscall | kept/go1.21-many | kept/go1.21-mutex) ;;
    kept/go1.21-prof | kept/go1.21-timer | kept/go1.21-user) ;;
    kept/go1.22-cgothread | kept/go1.22-gensgc | kept/go1.22-syscall | kept/go1.23-allocfree) ;;
    kept/go1.23-cgo | kept/go1.25-flight-2 | kept/go1.25-mutex | kept/go1.26-net) ;;
    kept/go1.26-prof | kept/go1.26-user | kept/go1.27-gensiter | kept/go1.27-timer) ;;
    *) return ;;
    esac
    if [ "$2" = 1.21 ]; then
        program=$GO_TRACE_V1
        views=(proc goroutine) # it has none of threads
    fi
    if [ ! -x "$program" ]; then
        skip 'convert --to chrome, as go tool trace' "no $program"
        return
    elif ! command -v python3 >/dev/null; then
        skip 'convert --to chrome, as go tool trace' 'no python3'
        return
    fi
    for view in "${views[@]}"; do
        documents+=("$view=$WORK/chrome.$view")
        "$GOTRACE" convert --to chrome --by "$view" -o "$WORK/chrome.$view" "$1" 2>"$WORK/err" ||
            fail "convert --to chrome --by $view" 'gotrace failed' "$WORK/err"
    done
    timeout "$HANG" python3 "$CONFORMANCE/chrome.py" "$2" "$program" "$1" "${documents[@]}" \
        >"$WORK/differences" 2>&1
    fail_if $? 'convert --to chrome, as go tool trace' "not that of Go $2" "$WORK/differences"
    case $TRACE_NAME in
    kept/go1.19-http | kept/go1.22-cgothread | kept/go1.26-net | kept/go1.26-user) ;;
    *) return ;;
    esac
    [ "${NO_ENGINE:-}" != 1 ] && have_engine || return
    for view in "${views[@]:1}"; do
        if ! engine "$WORK/chrome.$view" "$COMPLAINTS" 'select 1 as line'; then
            fail "convert --to chrome --by $view" 'the engine failed' "$WORK/err"
        elif [ -s "$WORK/complaints" ]; then
            fail "convert --to chrome --by $view" 'the engine complains' "$WORK/complaints"
        else
            ok "convert --to chrome --by $view"
        fi
    done
}
