# shellcheck shell=bash
# The exit status of synth is the one in EXIT STATUS of gotrace-synth(1), and OUT is unchanged
# unless it is 0.
expect() {
    local wanted=$1 status
    shift
    "$@" 2>/dev/null
    status=$?
    [ $status = "$wanted" ] || echo "status $status, not $wanted: $*"
    [ "$(cat trace)" = before ] || echo "written: $*"
}
echo before >trace
wrong() {
    printf '%b' "$1" >script
    expect 1 gotrace synth -o trace script
    expect 1 gotrace synth -o trace <script
    gzip -c script >script.gz
    expect 1 gotrace synth -o trace script.gz
    zstd -q -f script
    expect 1 gotrace synth -o trace script.zst
}
# --schema reads no trace.
expect 2 gotrace dump --schema json -o trace trace
# Malformed, meaningless, and impossible scripts.
wrong 'hello\n'
wrong 'Trace Go1.26 level=meaning\nGoStart t=1 g="\n'
wrong 'Trace Go1.26 level=meaning\nGoStart t=1 g=7\nGoStart t=2 g=7\n'
wrong 'Trace Go1.21\nGoEnd\n'
wrong '{"trace":"go 1.26"\n'
wrong '{"trace":"go 1.26","level":"meaning","events":[{"event":"GoStart","t":1}]}\n'
wrong '{"trace":"go 1.26","level":"meaning"}\n{"event":"GoStart","t":1,"g":7}\n{"event":"GoStart","t":2,"g":7}\n'
wrong '\0241\0145trace\0147go 1.21\0201'
wrong '\0241\0145trace\0147go 1.21\0201\017'
# Empty.
wrong ''
wrong '\n \n'
wrong '# nothing\n'
# Damaged.
gotrace dump "$TRACES"/go1.19-gc.trace >script
zstd -q -f script
head -c 1000 script.zst >cut.zst
expect 1 gotrace synth -o trace cut.zst
gzip -c script | head -c 1000 >cut.gz
expect 1 gotrace synth -o trace cut.gz
# The command line.
expect 2 gotrace synth -o trace script other
expect 2 gotrace synth --frce -o trace script
# Unreadable, unwritable; out of the memory limit.
expect 3 gotrace synth -o trace missing
expect 3 gotrace synth -o trace .
expect 3 gotrace synth -o missing/trace script
gotrace dump --format json "$TRACES"/go1.19-gc.trace >script.json
expect 3 gotrace synth --max-memory 1K -o trace script.json
gotrace synth -o trace script && cmp trace "$TRACES"/go1.19-gc.trace
