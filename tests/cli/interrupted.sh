# shellcheck shell=bash
# Whenever a signal arrives, the program leaves the whole output or none, and no temporary files.
mkdir tmp wholes
export TMPDIR=$PWD/tmp
gotrace gen --go 1.19 --events 60000 -o v1.trace
gotrace gen --go 1.26 --events 60000 -o v2.trace
gotrace dump -o script v2.trace
gotrace dump --zstd -o packed v2.trace
gotrace split --by proc -o of-v1 v1.trace
cat >commands <<'END'
convert --to perfetto -o out v1.trace
convert --to chrome -o out v2.trace
convert --to perfetto --zstd -o out packed
convert --to go1.21 -o out v1.trace
print -o out v1.trace
dump --format cbor -o out v2.trace
synth -o out script
split --by proc -o parts v1.trace
split --by generation -o parts v2.trace
merge -o out of-v1/v1.p0.trace of-v1/v1.p1.trace
repair -o out v1.trace
gen --events 60000 -o out
END
made() { [ ! -e out ] || sum <out; [ ! -e parts ] || cat parts/* | sum; }
mapfile -t commands <commands
usual=() # statuses
for n in "${!commands[@]}"; do
    # shellcheck disable=SC2086
    gotrace ${commands[n]} 2>/dev/null
    usual[n]=$?
    made >"wholes/$n"
    rm -rf out parts
done
touch before
ls -A >before

# stopped_at AT SIGNAL COMMAND...: the status, if the program sends the signal to itself at allocation number AT. A sanitizer
# has its own allocator: the program is then stopped after so many milliseconds, or not at all.
refuse=$(dirname "$(command -v gotrace)")/tests/refuse.so
if is_built_with asan tsan; then
    moments() { echo 3 13 45 120; }
    stopped_at() {
        local status
        env --default-signal timeout --signal="$2" "$(printf '0.%03d' "$1")" "${@:3}" 2>/dev/null
        status=$?
        [ $status != 124 ] || status=$((128 + $(kill -l "$2")))
        echo $status
    }
else
    moments() {
        local count
        # Of its lines on standard error, one has two numbers: "CALLS BLOCKS".
        count=$(LD_PRELOAD=$refuse REFUSE_COUNT=1 "$@" 2>&1 >/dev/null | sed -n 's/^\([0-9]*\) -\{0,1\}[0-9]*$/\1/p')
        rm -rf out parts
        for part in 1 10 30 60 90; do echo $((count * part / 100 + 1)); done
    }
    stopped_at() {
        env --default-signal LD_PRELOAD="$refuse" REFUSE_AT="$1" REFUSE_SIGNAL="$(kill -l "$2")" "${@:3}" 2>/dev/null
        echo $?
    }
fi
ulimit -c 0
for n in "${!commands[@]}"; do
    # shellcheck disable=SC2086
    for at in $(moments gotrace ${commands[n]}); do
        for signal in TERM QUIT USR1; do
            # shellcheck disable=SC2086
            status=$(stopped_at "$at" $signal gotrace ${commands[n]})
            [ "$status" = $((128 + $(kill -l $signal))) ] || { is_built_with asan tsan && [ "$status" = "${usual[n]}" ]; } ||
                echo "${commands[n]}: status $status after $signal at $at"
            made | cmp -s - "wholes/$n" || [ -z "$(made)" ] || echo "${commands[n]}: a part was left"
            rm -rf out parts
            [ "$(ls -A)" = "$(cat before)" ] ||
                { echo "${commands[n]}: $signal at $at leaves:"; find . -name '.*-??????'; rm -f .out*; }
            [ -z "$(ls -A tmp)" ] || { echo "${commands[n]}: left in TMPDIR"; rm -f tmp/*; }
        done
    done
done
