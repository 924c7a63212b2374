# shellcheck shell=bash
# Places in invalid JSON scripts: malformed JSON has a line and a column, an event of JSON Lines
# its line, a record of a document its index.
document() { printf '{"trace":"go 1.19","records":[\n{"event":"GoEnd","dt":1},\n%s]}\n' "$1" >script; }
lines() { printf '{"trace":"go 1.19"}\n\n%s\n' "$1" >script; }
for encoding in document lines; do
    for event in '{"event":"GoEnd","dt":1' '{"event":"GoEnd" "dt":1}' \
        '{"event":"GoEnd","dt":18446744073709551615}' '{"event":"GoEnd","dt":1,"dt":2}' \
        $'{"event":"String","id":1,"data":"\xff"}' '{"event":"GoEnd","dt":-1}' \
        '{"event":"GoEnd","dt":1.5}' '{"event":"GoEnd","dt":"18446744073709551616"}' \
        '{"event":"GoEmd","dt":1}' '{"event":"GoEnd","td":1}' '{"event":"GoEnd"}' '[]'; do
        $encoding "$event"
        run gotrace synth -o trace script
    done
done
# Two members of a header.
echo '{"trace":"go 1.19","note":[1],"level":[2]}' >script
run gotrace synth -o trace script
# The largest number, and JSON on one line or on many.
gotrace dump --format json "$TRACES"/go1.19-chan.trace >script
tr -d '\n' <script | gotrace synth | cmp - "$TRACES"/go1.19-chan.trace
sed 's/^{"event":/{\n"event"\n:/' script | gotrace synth | cmp - "$TRACES"/go1.19-chan.trace
lines '{"event":"Frequency","freq":"18446744073709551615"}'
gotrace synth script | gotrace dump --format jsonl
[ ! -e trace ]
