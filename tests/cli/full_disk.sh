# shellcheck shell=bash
# A failed write is reported with status 3, for each verb and sort of output.
trace=go1.19-chan.trace
sample $trace
gotrace dump -o script "$trace"
gotrace validate "$trace" >/dev/full
echo $?
gotrace info "$trace" >/dev/full
echo $?
gotrace print "$trace" >/dev/full
echo $?
gotrace dump "$trace" >/dev/full
echo $?
gotrace synth script >/dev/full
echo $?
gotrace convert --to perfetto "$trace" >/dev/full
echo $?
gotrace convert --to chrome --zstd "$trace" >/dev/full
echo $?
gotrace help >/dev/full
echo $?
gotrace version >/dev/full
echo $?
gotrace help --completion bash >/dev/full
echo $?
gotrace dump -o /dev/full "$trace"
echo $?
# A closed descriptor is a failed write too.
gotrace version >&-
echo $?
gotrace dump "$trace" >&-
echo $?
