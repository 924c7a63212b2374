# shellcheck shell=bash
# Binary data is never written to a terminal, and a message says so; colours are used on terminals only.
command -v script >/dev/null || skip 'script(1) is not installed'
trace=go1.19-chan.trace
sample $trace
at_terminal() { TERM=xterm script -qec "$1" /dev/null | tr -d '\r'; }
at_terminal "gotrace convert --to perfetto $trace; echo \"=> \$?\"" | sed 's/\x1b/ESC/g'
at_terminal "gotrace dump --zstd $trace; echo \"=> \$?\"" | sed 's/\x1b/ESC/g'
at_terminal "gotrace dump --format cbor $trace; echo \"=> \$?\"" | sed 's/\x1b/ESC/g'
gotrace dump -o script "$trace"
at_terminal "gotrace synth script; echo \"=> \$?\"" | sed 's/\x1b/ESC/g'
at_terminal "gotrace validate; echo \"=> \$?\"" | sed 's/\x1b/ESC/g'
at_terminal "gotrace nothing" | sed 's/\x1b/ESC/g'
at_terminal "NO_COLOR=1 gotrace nothing"
at_terminal "TERM=dumb gotrace nothing"
at_terminal "gotrace print $trace" | sed 's/\x1b/ESC/g' | head -n 1 >first
gotrace print "$trace" | head -n 1 2>/dev/null | cmp - first
