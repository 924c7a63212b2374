# shellcheck shell=bash
# Every signal that can be caught and ends a program ends this one properly, without leaving a file.
# With unnamed files (O_TMPFILE) SIGKILL leaves none either.
ulimit -c 0
refuse=$(dirname "$(command -v gotrace)")/tests/refuse.so
nameless() { find "/proc/$1/fd" -lname "$PWD/#*" 2>/dev/null; }
named() { find . -name '.out*.gotrace-*'; }

# has_begun PROGRAM COMMAND...: whether the command prints a file of the program, or the program has ended.
has_begun() { "${@:2}" "$1" | grep -q . || is_gone "$1"; }

# stop SIGNAL WAIT_FOR [ENVIRONMENT...]: start endless work, send the signal when the file exists.
stop() {
    local signal=$1 waits=$2 program status
    shift 2
    # A shell without job control starts background commands with INT and QUIT ignored.
    env --default-signal "$@" gotrace gen --events 2000000000 -o out &
    program=$!
    wait_until has_begun $program "$waits"
    $waits $program | grep -q . || echo "$signal: the output file was not found"
    kill -"$signal" $program
    wait $program
    status=$?
    [ $status = $((128 + signal)) ] || echo "signal $signal: status $status"
    [ -z "$(named)" ] || { echo "signal $signal leaves $(named)"; rm -f .out*; }
    [ ! -e out ] || { echo "signal $signal leaves a part"; rm out; }
} 2>/dev/null

ending=$(kill -l | tr -s '\t ' '\n' | sed -n 's/)$//p' | while read -r n; do
    case $(kill -l "$n") in
    #     These do not end a program, cannot be caught, or are ignored from the start.
    CHLD | CONT | STOP | TSTP | TTIN | TTOU | URG | WINCH | KILL | PIPE | XFSZ) ;;
    *) echo "$n" ;;
    esac
done)
echo "$(wc -w <<<"$ending") signals"
if is_built_with asan tsan; then
    #     refuse.so cannot be loaded with a sanitizer, which handles the signals of faults itself.
    for signal in HUP INT QUIT USR1 USR2 ALRM TERM XCPU; do stop "$(kill -l $signal)" nameless; done
    exit
fi
for signal in $ending; do
    stop "$signal" named LD_PRELOAD="$refuse" REFUSE_TMPFILE=1
done

# On a file system without unnamed files, they have temporary names.
gotrace gen --events 2000000000 -o out &
program=$!
any() { nameless "$1"; named; }
wait_until has_begun $program any
has_nameless=$(nameless $program)
kill $program
wait $program 2>/dev/null
[ -n "$has_nameless" ] || exit 0
for signal in 1 2 3 9 15; do stop $signal nameless; done
