# shellcheck shell=bash
# Profiles of each kind in each format; their sums.
sample go1.26-prof.trace
sample go1.19-http.trace
sample go1.26-user.trace

run gotrace convert --to folded --profile cpu go1.26-prof.trace
run gotrace convert --to folded --profile net go1.19-http.trace
run gotrace convert --to folded --profile sync --open --no-system go1.26-user.trace
gotrace convert --to speedscope --profile sched go1.19-http.trace | jq -c 'del(.shared), (.shared.frames | length)'

echo '== empty profiles'
run gotrace convert --to folded --profile cpu go1.19-http.trace
run gotrace convert --to folded --profile net go1.26-user.trace

echo '== options'
run gotrace convert --to perfetto --profile net go1.26-user.trace
run gotrace convert --to go1.21 --open go1.26-user.trace
run gotrace convert --to pprof --profile heap go1.26-user.trace
run gotrace convert --to folded --only gc go1.26-user.trace
run gotrace convert --to folded --profile wall --from 2ms --until 1ms go1.26-user.trace

echo '== bytes for pprof, which conformance reads with go tool pprof'
for kind in cpu net sync syscall sched wall; do
    gotrace convert -q --to pprof --profile $kind go1.26-user.trace | cksum
    gotrace convert -q --to pprof --profile $kind --open go1.26-prof.trace | cksum
done

echo '== by the ending'
for name in a.pb a.pprof a.pb.gz a.folded a.folded.zst a.speedscope.json; do
    gotrace convert -q -o $name go1.26-user.trace || echo "status $?"
done
gzip -dc a.pb.gz | cmp - a.pb
cmp a.pprof a.pb
zstd -qdc a.folded.zst | cmp - a.folded
jq -r '."$schema"' a.speedscope.json

# sum_of FILE: of the values in folded stacks.
sum_of() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"; }

# check_unique NAME WHAT: no line of the input occurs twice.
check_unique() { sort | uniq -d | sed "s/^/$1: $2 occurs twice: /"; }

mapfile -t samples < <(all_samples)
for trace in "${samples[@]}"; do
    name=$(basename "$trace")
    # With --open, all time of all goroutines is in one of these: that is what stat says of traces of 1.22 and later.
    gotrace convert -q --open --to folded --profile wall -o wall "$trace" 2>/dev/null
    gotrace convert -q --open --to folded --profile offcpu -o offcpu "$trace" 2>/dev/null
    [[ $name != go1.2[2-7]-* ]] || gotrace stat --json --only goroutines "$trace" 2>/dev/null | jq -s -r \
        --arg wall "$(sum_of wall)" --arg offcpu "$(sum_of offcpu)" --arg name "$name" '
        map(select(.kind == "function")) | [([.[].total_ns.sum] | add), ([.[].exec_ns.sum] | add)] |
        select((.[0] | tostring) != $wall or (.[0] - .[1] | tostring) != $offcpu) |
        "\($name): \(.), but wall \($wall) and offcpu \($offcpu)"'
    # What looks the same is one sample, or one row.
    gotrace convert -q --to folded --profile sched "$trace" 2>/dev/null | sed 's/ [0-9]*$//' |
        check_unique "$name" sched
    sed 's/ [0-9]*$//' wall | check_unique "$name" wall
    gotrace convert -q --to speedscope --profile wall "$trace" 2>/dev/null |
        jq -c '.profiles[].samples[]' | check_unique "$name" speedscope
    gotrace stat --json --only blocking,syscalls,network "$trace" 2>/dev/null |
        jq -c 'select(.stack) | [.kind, .reason, .stack]' | check_unique "$name" stat
    for section in blocking syscalls network; do
        gotrace stat --only $section --top 0 "$trace" 2>/dev/null |
            sed -nE 's/^ +[0-9]+( +[0-9.]+ [nmu]?s){3}  //p' | check_unique "$name" "a row of $section"
    done
    # Two halves are the whole.
    gotrace convert -q --open --to folded --profile offcpu --until 500us -o first "$trace" 2>/dev/null
    gotrace convert -q --open --to folded --profile offcpu --from 500us -o second "$trace" 2>/dev/null
    [ $(($(sum_of first) + $(sum_of second))) = "$(sum_of offcpu)" ] || echo "$name: halves"
    # The result does not depend on the threads.
    gotrace convert -q --open --to folded --profile wall -j 1 "$trace" 2>/dev/null | cmp - wall
done
