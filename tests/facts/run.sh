#!/usr/bin/env bash
# Golden facts of exports: the counters, slices, arrows and instants of timelines
# (Perfetto, Chrome) and the events with their causes (print --format jsonl). See
# tests/facts/README.md.
#
#   tests/facts/run.sh [NAME...]     UPDATE=1 writes the actual facts into the golden files
set -u
cd "$(dirname "$0")/../.." || exit 1
facts=$PWD/tests/facts
traces=$PWD/testdata/traces
# shellcheck source=tests/checks.bash
. tests/checks.bash
PATH=$(realpath "${BUILD:-build}"):$PATH
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR

# source_of NAME KIND WORD...: the trace of a case is $work/NAME.trace.
source_of() {
    local name=$1 kind=$2
    case $kind in
    trace) cp "$traces/$3.trace" "$work/$name.trace" ;;
    script) gotrace synth -q -o "$work/$name.trace" "$facts/forged/$3.script" ;;
    generated) bash "$facts/forged/$3.sh" | gotrace synth -q -o "$work/$name.trace" ;;
    forced)
        # It prints the error in the script.
        gotrace synth -q --force -o "$work/$name.trace" "$facts/forged/$3.script" 2>/dev/null
        : >"$work/$name.unsound"
        ;;
    version)
        if [ -e "$facts/forged/$4.script" ]; then
            gotrace synth -q -o "$work/$name.from" "$facts/forged/$4.script"
        else
            cp "$traces/$4.trace" "$work/$name.from"
        fi && gotrace convert -q --to "$3" -o "$work/$name.trace" "$work/$name.from"
        ;;
    esac
}

# exports_of NAME [OPTION...]: write all inputs of facts.py for a case. Only timelines support a
# time range.
exports_of() {
    local trace=$work/$1.trace name=$work/$1 view
    shift
    [ ! -e "$name.unsound" ] || exec 2>/dev/null
    gotrace convert -q --to perfetto -o "$name.pftrace" "$@" "$trace"
    for view in proc goroutine thread; do
        gotrace convert -q --to chrome --by $view -o "$name.$view.json" "$@" "$trace"
    done
    [ $# -gt 0 ] || gotrace print -q --format jsonl -o "$name.jsonl" "$trace"
}

# prepare NAME KIND WORD... [-- OPTION...]
prepare() {
    local name=$1 words=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    { source_of "${words[@]}" && exports_of "$name" "$@"; } >"$work/$name.log" 2>&1
}
export -f source_of exports_of prepare
export facts traces work

# judge NAME: compare the facts with the golden file.
judge() {
    local golden=$facts/expected/$1.facts
    [ -e "$work/$1.facts" ] || : >"$work/$1.facts"
    [ -z "${UPDATE:-}" ] || cp "$work/$1.facts" "$golden"
    cat "$work/$1.log" "$work/$1.wrong"
    diff -u --label "$1.facts" --label "$1 now" "$golden" "$work/$1.facts" &&
        [ ! -s "$work/$1.log" ] && [ ! -s "$work/$1.wrong" ]
}

wanted=" $* "
grep -v '^#' "$facts/cases" | while read -ra words; do
    [ ${#words[@]} -gt 0 ] || continue
    [ "$wanted" = "  " ] || [[ $wanted = *" ${words[0]} "* ]] || continue
    echo "${words[*]}"
done >"$work/cases"
mapfile -t names < <(cut -d ' ' -f 1 "$work/cases")

xargs -P "$(nproc)" -I{} bash -c 'prepare {}' <"$work/cases"
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -n 8 python3 "$facts/facts.py" "$work"
for name in "${names[@]}"; do
    check "facts of $name" judge "$name"
done
end_checks
