# shellcheck shell=bash
# What every verb prints, writes and returns for a trace, in a list that two builds of the program must agree on.

# A command without its last two arguments, `-o OUT TRACE` or `TRACE`. `record` is missing: it runs a program of its own
# machine, which qemu-user cannot trace or load a library into.
cat >"$work/commands" <<'EOT'
validate --json --max-errors 0
info --json
print --format go
print --format jsonl
print --stacks --function [mr] --from 1us
stat
stat --json
why --goroutine 1 --json
find --json (wait)and(during(run>10us))
-o convert --to perfetto
-o convert --to chrome
-o convert --to pprof
-o convert --to folded
-o convert --to speedscope
-o convert --to html
-o convert --to parquet
-o convert --to go1.11
-o convert --to go1.26
-o cut --from 100us
-o dump --format cbor
dump --level meaning
-o anonymize --key key
-o repair
-o merge
-o split --by proc
-o mutate --count 2 --seed 3
-o reduce --test false --any --timeout 100
EOT

# outputs PROGRAM TRACE: print the list.
outputs() {
    local line given folder
    folder=$(mktemp -d "$work/outputs.XXXX") && cp "$2" "$folder/t.trace" && cd "$folder" || return
    head -c 32 /dev/zero >key
    while IFS= read -r line; do
        read -ra given <<<"${line#-o }"
        [[ $line != -o* ]] || given+=(-o out)
        "$1" "${given[@]}" t.trace >stdout 2>stderr </dev/null
        echo "$line: status $? $(find . -type f ! -name t.trace ! -name key -print0 | LC_ALL=C sort -z | xargs -0 cksum |
            awk '{ printf "%s %s %s; ", $3, $1, $2 }')"
        rm -rf out
    done <"$work/commands"
    "$1" dump t.trace 2>/dev/null | "$1" synth -o again - 2>/dev/null
    echo "synth: $(cksum <again)"
    "$1" gen --go 1.21 --seed 5 -o made && echo "gen: $(cksum <made)"
    "$1" gen --go 1.26 --seed 5 -o made && echo "gen: $(cksum <made)"
    rm -rf "$folder"
}

# outputs_of NAME PROGRAM TRACE...: the lists of several traces, in the files $work/NAME.TRACE.
outputs_of() {
    local name=$1 program=$2
    shift 2
    printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c \
        "outputs '$program' '{}' >\"\$work/$name.\$(basename '{}')\" 2>&1"
}
export -f outputs
export work
