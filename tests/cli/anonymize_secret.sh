# shellcheck shell=bash
# A secret in any kind of string, alone or after a name that Go itself has, is not in the output.
secret() { python3 -B "$TRACES/../../tests/cli/anonymize_secret.py" "$@"; }
known=$TRACES/../../cmd/anonymize/known.c

# searched TRACE: what is left of the secret, uncompressed and compressed, and whether the trace is sound.
searched() {
    gotrace anonymize --zstd -o out.zst "$1" && zstd -qdc out.zst >out.trace && gotrace validate -q out.trace
    echo "$1: $(secret search "$1") -> $(secret search out.trace)"
}

echo '== each use of a string, after each name'
secret script "$known" >all.script
gotrace synth -o 1.26.trace all.script
searched 1.26.trace
for version in 1.7 1.10 1.11 1.19 1.21 1.22 1.23 1.25; do
    gotrace convert -q --to go$version -o $version.trace 1.26.trace 2>/dev/null
    searched $version.trace
done

echo '== every text of traces that have every event'
for version in 1.7 1.8 1.9 1.10 1.11 1.19 1.21 1.22 1.23 1.25 1.26; do
    gotrace gen --go $version --cover --events 2000 | gotrace dump --format json - |
        secret replace "$known" >raw.json && gotrace synth -o cover-$version.trace raw.json
    searched cover-$version.trace
done

echo '== a text of the user that is also one of the runtime'
{
    echo 'Trace Go1.26 level=meaning procs=1'
    echo 'UserRegionBegin t=1000 on_g=1 name_string="sync"'
    printf '\tstack="main.main main.go:1"\n'
    echo 'UserLog t=1100 on_g=1 task=0 key_string="runtime.main" value_string="/usr/lib/go/src/runtime/proc.go"'
    printf '\tstack="runtime.main /usr/lib/go/src/runtime/proc.go:1"\n'
    echo 'GoBlock t=1200 on_g=1 reason_string="sync"'
} >shared.script
echo 'a key for tests' >key
gotrace synth -o shared.trace shared.script
gotrace convert -q --to go1.21 -o shared-1.21.trace shared.trace 2>/dev/null
for trace in shared.trace shared-1.21.trace; do
    gotrace anonymize --key key -o out.trace $trace
    gotrace validate out.trace
    gotrace print out.trace | grep -E 'region|log|waiting'
done
