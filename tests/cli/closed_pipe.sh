# shellcheck shell=bash
# If the reader of standard output exits, the program ends silently by SIGPIPE, like cat.
# If SIGPIPE is ignored, or OUT is a pipe, this is a failed write: status 3 and a message.
trace=go1.19-http.trace
sample $trace
# Bash cannot reset a signal that was ignored when it started.
without_reader() {
    exec 3> >(:)
    wait $! # the reader has exited
    env --default-signal=PIPE "$@" >&3
    echo "$*: $?" >&2
    exec 3>&-
}
for verb in validate info print dump 'print --format jsonl' 'convert --to perfetto' \
    'convert --to chrome' 'dump --zstd' 'convert --sandbox --to chrome' help; do
    words=("$trace")
    [ "$verb" != help ] || words=()
    # shellcheck disable=SC2086
    without_reader gotrace $verb "${words[@]}"
done

echo '== long output ends early' >&2
gotrace gen --events 2000000000 | head -c 1000 | wc -c >&2
echo "${PIPESTATUS[0]}" >&2

echo '== SIGPIPE is ignored' >&2
without_reader env --ignore-signal=PIPE gotrace print "$trace"

echo '== OUT is a pipe' >&2
mkfifo pipe
true <pipe &
{ gotrace gen --events 10000000 -o pipe; echo $? >&2; } | cat
