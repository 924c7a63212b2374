#!/usr/bin/env bash
# Runs a command that reads a trace on each variant that `gotrace mutate` wrote into a folder, and
# classifies the results. The command gets the trace as its last argument, or in place of {}; its exit
# status is 0 if it accepted the trace.
#
#   fuzz/drive.sh [-r OUT] [-t SECONDS] [-m MIB] [-l LIST] FOLDER COMMAND [ARGUMENT...]
#
# -t  time limit for a trace (10 s); -m  address space in MiB (4096); -l  write all results there, a line
# each: kind, expected verdict, trace, exit status, message.
#
# -r  reduce the smallest trace of each finding, by gotrace reduce (GOTRACE, default gotrace), to
#     OUT/TRACE.small; OUT is made if it does not exist. Nothing is written to FOLDER
#
# Kinds: crash (a signal, a panic), hang (out of time), memory (out of memory), accepted (must be
# rejected), refused (must be accepted), ok. The expected verdict is that of the JSON file; if it is
# unknown, that of gotrace's own reader, which may be wrong. The findings are printed, similar ones
# once, with their number and the smallest trace.
# The exit status is 1 if there is a finding.
set -u

seconds=10 mib=4096 list='' reduces=''
while getopts r:t:m:l: option; do
    case $option in
    r) reduces=$OPTARG ;;
    t) seconds=$OPTARG ;;
    m) mib=$OPTARG ;;
    l) list=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -lt 2 ] || [ ! -d "$1" ]; then
    echo "usage: drive.sh [-r OUT] [-t SECONDS] [-m MIB] [-l LIST] FOLDER COMMAND [ARGUMENT...]" >&2
    exit 2
fi
folder=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ -n "$list" ] || list=$work/list
: >"$list" || exit 2
[ -z "$reduces" ] || mkdir -p "$reduces" || exit 2

# Run the command on a trace, within the limits.
run_command() {
    local trace=$1 argument placed=
    shift
    local command=()
    for argument in "$@"; do
        [ "$argument" != '{}' ] || { argument=$trace placed=1; }
        command+=("$argument")
    done
    [ -n "$placed" ] || command+=("$trace")
    ulimit -c 0
    ulimit -v $((mib * 1024))
    timeout -k 1 "$seconds" "${command[@]}" >/dev/null 2>"$work/said" </dev/null
}

# The message in one line; of a panic, also the first places in the program's own code.
message() {
    if grep -qE '^(panic|fatal error|runtime): |Sanitizer|^Traceback' "$work/said"; then
        awk '/^(panic|fatal error): |Sanitizer|^Traceback/ && !n { line = $0; n = 1; next }
            n && /^\t.*\.go:[0-9]+/ && !/\/runtime\// && n < 4 {
                sub(/^\t/, ""); sub(/ .*/, ""); sub(/.*\//, ""); line = line "; " $0; n++ }
            END { print line }' "$work/said"
    else
        head -n 1 "$work/said"
    fi | tr '\t' ' ' | cut -c 1-300
}

# kind STATUS SOUND: classify a result.
kind() {
    if grep -qE 'out of memory|cannot allocate memory|MemoryError|bad_alloc' "$work/said"; then
        echo memory
    elif [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then
        echo hang
    elif [ "$1" -ge 128 ] || grep -qE '^(panic|fatal error): |Sanitizer|^Traceback' "$work/said"; then
        echo crash
    elif [ "$1" -eq 0 ] && [ "$2" = refuse ]; then
        echo accepted
    elif [ "$1" -ne 0 ] && [ "$2" = take ]; then
        echo refused
    else
        echo ok
    fi
}

# Rules that are only warnings of gotrace do not count.
while IFS=$'\t' read -r trace verdict sound rules; do
    wanted=either
    [ "$verdict/$sound" != valid/true ] && [ "$verdict/$sound" != unknown/true ] || wanted=take
    [ "$sound" = true ] || wanted=refuse
    [ "$verdict" = valid ] && wanted=take
    (run_command "$folder/$trace" "$@") 2>/dev/null
    status=$?
    printf '%s\t%s\t%s\t%s\t%s\n' "$(kind "$status" "$wanted")" \
        "$([ "$verdict" = unknown ] && echo "unknown, gotrace: ${rules:-sound}" || echo "$verdict")" \
        "$trace" "$status" "$(message)"
done < <(find "$folder" -name '*.json' -exec jq -r \
    '[.trace, .verdict, .gotrace.sound, (.gotrace.rules | join(" "))] | @tsv' {} + | sort) >>"$list"

# Similar findings: of one kind, with the same message except for numbers, and, without a message, the
# same expected verdict.
while IFS=$'\t' read -r found wanted trace _ said; do
    [ "$found" != ok ] || continue
    like=$(sed -E 's/0x[0-9a-f]+|[0-9]+/N/g' <<<"$said")
    [ "$found" != accepted ] || like=$wanted
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$found" "$like" "$(stat -c %s "$folder/$trace")" "$trace" \
        "$wanted" "$said"
done <"$list" | sort -t $'\t' -k1,1 -k2,2 -k3,3n | awk -F '\t' '
    function print_finding() { if (n) printf "%-9s %5d x  %s\n                  expected: %s\n%s", kind, n, trace, wanted, said != "" ? "                  " said "\n" : "" }
    $1 FS $2 != last { print_finding(); n = 0; last = $1 FS $2; kind = $1; trace = $4; wanted = $5; said = $6 }
    { n++ }
    END { print_finding() }'

# reduce_trace KIND TRACE STATUS MESSAGE COMMAND...: the command must still end like this.
reduce_trace() {
    local kind=$1 name=$2 trace=$folder/$2 status=$3 said=$4 argument placed='' text=''
    shift 4
    for argument in "$@"; do
        # shellcheck disable=SC2016 # of the shell that reduce starts
        case $argument in
        '{}') placed=1 text+=' "$1"' ;;
        *) text+=" $(printf %q "$argument")" ;;
        esac
    done
    # reduce adds the path: a command that has it already ends before.
    [ -z "$placed" ] || text+='; exit $?; :'
    local options=(--status "$status")
    said=${said%%;*}
    # The message without its numbers, literally.
    [ -z "$said" ] || options+=(--stderr "$(sed -E 's/[][\\.*^$+?(){}|]/\\&/g; s/0x[0-9a-f]+|[0-9]+/\\S+/g' <<<"$said")")
    [ "$kind" = refused ] || options+=(--any)
    "${GOTRACE:-gotrace}" reduce "${options[@]}" --timeout "$seconds" --test "ulimit -v $((mib * 1024));$text" \
        -o "$reduces/$name.small" "$trace" 2>&1 | sed "s|^|$name: |"
}

if [ -n "$reduces" ]; then
    while IFS=$'\t' read -r found wanted trace status said; do
        # Of an accepted trace every smaller one may be accepted rightly.
        case $found in ok | accepted) continue ;; esac
        printf '%s\t%s\t%s\t%s\t%s\n' "$found" "$(sed -E 's/0x[0-9a-f]+|[0-9]+/N/g' <<<"$said")" \
            "$(stat -c %s "$folder/$trace")" "$trace" "$status"$'\t'"$said"
    done <"$list" | sort -t $'\t' -k1,1 -k2,2 -k3,3n | awk -F '\t' '$1 FS $2 != last { last = $1 FS $2; print }' |
        while IFS=$'\t' read -r found _ _ trace status said; do
            reduce_trace "$found" "$trace" "$status" "$said" "$@"
        done
fi

awk -F '\t' '{ n[$1]++ } END {
    printf "%d traces: %d ok", NR, n["ok"]
    split("crash hang memory accepted refused", kinds, " ")
    for (i = 1; i <= 5; i++) printf ", %d %s", n[kinds[i]], kinds[i]
    print ""
    exit NR != n["ok"] }' "$list"
