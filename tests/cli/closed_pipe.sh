# shellcheck shell=bash
# A reader that goes away is a failed write: status 3 and a message, not a signal.
trace=go1.19-http.trace
sample $trace
for verb in validate info print dump 'print --format jsonl' 'convert --to perfetto' \
    'convert --to chrome'; do
    # shellcheck disable=SC2086
    {
        # Until the reader is gone.
        sleep 0.2
        gotrace $verb "$trace"
        echo "$verb: $?" >&2
    } | true
done
