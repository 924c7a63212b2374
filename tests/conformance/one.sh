#!/usr/bin/env bash
# one.sh NAME FILE: run every check of one trace. In the set gotests/ it is one of Go's text tests, in corpus/
# a file from a fuzzer, where only the verdict matters; in browser/ it is shown in viewers. A FILE
# that ends in .sh is a program that makes its own traces and prints the results.
set -u
here=$(dirname "$0")
# shellcheck disable=SC1090
for part in lib verdict threads print roundtrip parts anonymize cut find v2 export chrome versions tools browser report view; do . "$here/$part.sh"; done
export TRACE_NAME=$1
file=$2
if [[ $file == *.sh ]]; then
    lines=$("$file" 2>&1)
    printf '%s\n' "$lines"
    exit
fi
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

v2=no
[ "$(version_of "$file")" -lt 22 ] 2>/dev/null || v2=yes
reader=$([ $v2 = yes ] && echo "$GOREAD_V2" || echo "$GOREAD_V1")

# The verdict is that of Go's reader, if installed.
judge() {
    sound=yes
    : >"$WORK/go.events"
    if [ -x "$reader" ]; then
        "$reader" -print "$file" >"$WORK/go.events" 2>/dev/null || sound=no
    else
        "$GOTRACE" validate -q "$file" >/dev/null 2>&1 || sound=no
    fi
}

# is_turn N: of fresh and kept traces, which are many, whether it is one of each N today, selected by a hash of
# its content.
is_turn() {
    [[ ! $TRACE_NAME =~ ^(fresh|kept)/ || ${ALL_FRESH:-} = 1 ]] ||
        [ $((($(cksum <"$file" | cut -d ' ' -f 1) + $(date +%-j)) % $1)) -eq 0 ]
}

# Engines and viewers take most of the time.
is_looked_at() { if [[ $TRACE_NAME = fresh/* ]]; then is_turn 5; else is_turn 2; fi; }

# Large ones are not split, cut and searched.
is_parted() { is_turn 3 && { [ "${ALL_FRESH:-}" = 1 ] || [ "$(stat -c %s "$file")" -lt 262144 ]; }; }

# Those that all of Go's tools must open: one of each version, and recorded traces of each format.
of_tools() {
    case $TRACE_NAME in
    gen/* | canned/http_1_5_good | canned/http_1_9_good | canned/http_1_21_good | kept/go1.27-syscall) ;;
    *) return 1 ;;
    esac
}

checks_of_v1() {
    check_verdict "$file"
    check_threads "$file"
    check_info "$file"
    # A trace whose records cannot be read has no script.
    if [ $sound = yes ] || "$GOTRACE" dump "$file" >/dev/null 2>&1; then
        check_roundtrip "$file"
    fi
    if [ $sound = yes ]; then
        check_accepted "$file"
        check_meaning "$file" "$GOREAD_V1"
        check_print "$file"
        check_jsonl "$file"
        ! is_parted || check_parts "$file" proc "$GOREAD_V1"
        check_anonymized "$file" "$GOREAD_V1"
        ! is_parted || check_cut "$file" "$GOREAD_V1"
        ! is_parted || check_find "$file"
        [ "$(version_of "$file")" -lt 11 ] || { check_states "$file"; check_summary "$file"; }
        check_paths "$file"
    fi
    [ $sound = no ] || check_versions "$file"
    ! of_tools || check_tools "$file" proc
    is_looked_at || return 0
    [ $sound = no ] || [ "$(version_of "$file")" -lt 11 ] || check_profiles "$file" "$GO_TRACE_V1"
    check_exports_with_threads "$file"
    check_export "$file" $sound
    [ $sound = no ] || check_chrome "$file" 1.21
}

checks_of_v2() {
    check_verdict_v2 "$file"
    check_threads "$file"
    check_info "$file"
    check_roundtrip "$file"
    check_wire "$file"
    if [ $sound = yes ]; then
        check_meaning "$file" "$GOREAD_V2"
        check_print_v2 "$file"
        check_jsonl "$file"
        check_states "$file"
        check_summary "$file"
        check_paths "$file"
        ! is_parted || check_parts "$file" thread "$GOREAD_V2"
        ! is_parted || check_parts "$file" generation "$GOREAD_V2"
        check_anonymized "$file" "$GOREAD_V2"
        ! is_parted || check_cut "$file" "$GOREAD_V2"
        ! is_parted || check_find "$file"
    fi
    [ $sound = no ] || check_versions "$file"
    ! of_tools || check_tools "$file" thread
    is_looked_at || return 0
    [ $sound = no ] || check_profiles "$file" "$GO_TRACE"
    check_exports_with_threads "$file"
    check_export_v2 "$file" $sound
    [ $sound = no ] || check_chrome "$file" 1.27
}

all_checks() {
    case $TRACE_NAME in
    gotests/*) check_go_test "$file" ;;
    browser/*)
        check_browser "$file"
        check_report "$file"
        check_view "$file"
        ;;
    corpus/*)
        # Traces of v1 are judged by Go 1.21's reader: that of 1.27 converts them, and fails on
        # one of the corpus because it does not support FutileWakeup.
        if [ $v2 = yes ]; then check_verdict_v2 "$file"; else check_verdict "$file"; fi
        ;;
    *)
        judge
        if [ $v2 = yes ]; then checks_of_v2; else checks_of_v1; fi
        ;;
    esac
}

# In one write, so that the lines of two traces do not mix.
lines=$(all_checks 2>&1)
printf '%s\n' "$lines"
