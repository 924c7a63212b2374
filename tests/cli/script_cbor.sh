# shellcheck shell=bash
# The message on an invalid CBOR script contains the byte offset; no output is left.
head='\xd9\xd9\xf7\xa2\x65trace\x67go 1.19\x67records\x9f'
good='\x83\x01\x00\x01'
# shellcheck disable=SC2059
document() { printf "$head$good$1\xff" >script; }
# shellcheck disable=SC2059
sequence() { printf "\xa1\x65trace\x67go 1.19$good$1" >script; }
for encoding in document sequence; do
    for event in '\x82\x65GoEmd\x01' '\x82\x18\x3f\x01' '\xa2\x65event\x65GoEnd\x62td\x01' '\x81\x0f' \
        '\x82\x0f\x20' '\x82\x0f\xf9\x7e\x00' '\x82\x0f\xfb\x40\x09\x21\xfb\x54\x44\x2d\x18' \
        '\x82\x0f\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00' '\x83\x18\x25\x01\x61\xff' \
        '\x83\x18\x25\x01\x7b\xff\xff\xff\xff\xff\xff\xff\xff' '\x82\x0f\x1c' '\x82\x0f\xff' \
        '\x82\x0f\x9f\x9f\x9f\x9f' '\x01' '\x9f\x0f\x01'; do
        $encoding "$event"
        run gotrace synth -o trace script
    done
done
printf '\xa1\x67version\x01' >script
run gotrace synth -o trace script
printf '\x80' >script
run gotrace synth -o trace script
[ ! -e trace ] || echo 'something was written'
# Truncated at any byte, from a file, a pipe and compressed.
gotrace dump --format cbor -o whole "$TRACES"/go1.21-chan.trace
cut_scripts whole 211
head -c -1 whole | gotrace synth -o trace 2>&1 | sed 's/0x[0-9a-f]*/0x.../'
zstd -q whole && gotrace synth whole.zst | cmp - "$TRACES"/go1.21-chan.trace
# An incomplete trace can still be dumped, as a complete script.
head -c 3000 "$TRACES"/go1.21-chan.trace >cut.trace
gotrace dump -q --format cbor -o cut.cbor cut.trace 2>/dev/null
gotrace synth -o part cut.cbor && head -c "$(stat -c %s part)" cut.trace | cmp - part
