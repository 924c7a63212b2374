# shellcheck shell=bash
# Compressed input is recognised by its content; output is compressed by name or by option.
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
# Truncated, and changed in the middle.
head -c 1000 trace.zst >cut.zst
run gotrace validate cut.zst
run gotrace dump cut.zst
gotrace dump "$trace" | gotrace synth --zstd | head -c 1000 | run gotrace synth
printf '\050\265\057\375' >magic
run gotrace validate magic
run gotrace synth magic

echo '== skippable frames and several frames, as pzstd writes them'
# shellcheck disable=SC2059
skippable() { printf "\\12$1\\52\\115\\030\\5\\0\\0\\0abcde"; }
trace=go1.19-http.trace
sample $trace
zstd -q $trace -o one.zst
for ((at = 0; at < 14915; at += 2000)); do
    skippable $((at / 2000))
    tail -c +$((at + 1)) $trace | head -c 2000 | zstd -q -c
done >frames.zst
{ skippable 7; cat one.zst; skippable 0; } >around.zst
for file in one.zst frames.zst around.zst; do
    run gotrace validate $file
    gotrace dump $file | gotrace synth | cmp - $trace
    gotrace dump - <$file | gotrace synth | cmp - $trace
done
gotrace dump $trace | head -c 8000 >script
{ skippable 1; zstd -q -c script; skippable 2; gotrace dump $trace | tail -c +8001 | zstd -q -c; } >script.zst
gotrace synth script.zst | cmp - $trace
skippable 1 >only.zst
run gotrace validate only.zst

echo '== cut off: what was decompressed before, and where'
head -c $(($(stat -c %s frames.zst) * 3 / 4)) frames.zst >cut.zst
zstd -qdc cut.zst >cut.trace 2>/dev/null
every_verb_of_cut cut.zst cut.trace
cp frames.zst damaged.zst
printf '\377\377\377\377' | dd of=damaged.zst bs=1 seek=$(($(stat -c %s frames.zst) * 3 / 4)) conv=notrunc 2>/dev/null
run gotrace dump -o out damaged.zst
