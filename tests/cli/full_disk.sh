# shellcheck shell=bash
# A write that fails is told, and is status 3, whatever the verb and wherever the output goes.
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
# A descriptor that is closed is no place to write to either.
gotrace version >&-
echo $?
gotrace dump "$trace" >&-
echo $?
