# shellcheck shell=bash
# Compressed input is seen by its content; output is compressed by name or by option.
trace=go1.19-chan.trace
sample $trace
gotrace dump "$trace" >script
gotrace dump -o script.zst "$trace"
gotrace dump --zstd "$trace" >packed
for file in script.zst packed; do
    head -c 4 $file | od -An -tx1
    # A script is decompressed on the fly, from a file and from a pipe.
    gotrace synth $file | cmp - "$trace"
    cat $file | gotrace synth | cmp - "$trace"
done
gotrace synth -o trace.zst script
cp trace.zst named_otherwise
for verb in validate info print 'print --format go' dump 'convert --to chrome' 'convert --to perfetto'; do
    # shellcheck disable=SC2086
    gotrace $verb -q -o plain.out "$trace"
    # shellcheck disable=SC2086
    gotrace $verb -q -o packed.out named_otherwise
    # shellcheck disable=SC2086
    gotrace $verb -q -o piped.out - <named_otherwise
    case $verb in
    info | validate) ;;
    *perfetto) ;; # names the process after the file; see below
    *) cmp plain.out packed.out && cmp plain.out piped.out ;;
    esac
done
mkdir elsewhere
cp named_otherwise elsewhere/"$trace"
gotrace convert --to perfetto -q -o plain.out "$trace"
gotrace convert --to perfetto -q -o packed.out elsewhere/"$trace"
cmp plain.out packed.out
run gotrace validate trace.zst
run gotrace validate <trace.zst
# Cut off, and changed in the middle.
head -c 1000 trace.zst >cut.zst
run gotrace validate cut.zst
run gotrace dump cut.zst
gotrace dump "$trace" | gotrace synth --zstd | head -c 1000 | run gotrace synth
printf '\050\265\057\375' >magic
run gotrace validate magic
run gotrace synth magic
