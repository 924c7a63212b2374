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

# The line is drawn when a file is done a second after the first one was begun. The pipe is opened when the program opens
# it, and then has no data for longer.
echo '== progress of several files'
mkfifo slow
for verb in "find --count 'gc > 0'" validate; do
    (sleep 1.2; cat "$trace") >slow &
    at_terminal "gotrace $verb slow $trace >lines" | grep -o '1 of 2 files, [0-9]* s left' |
        sed 's/[0-9]* s/N s/' | uniq
    wait
    grep -c . lines
done
