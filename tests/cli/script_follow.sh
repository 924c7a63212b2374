# shellcheck shell=bash
# Messages on scripts contain the last event of the goroutine and its line: after each event that takes a goroutine off
# its thread or proc, a second such event is an error, and is not taken for the goroutine's last event.
follow() { # HEADER PLACE SECOND EVENT...
    local header=$1 place=$2 second=$3 event time=1200
    shift 3
    echo "# $*"
    {
        echo "$header"
        echo "GoStart t=1000 $place g=7"
        for event in "$@"; do
            echo "${event/ / t=$time $place }"
            time=$((time + 100))
        done
        echo "$second t=2000 $place"
    } >script
    #     One of them is not possible in the state of the goroutine.
    for event in GoUnblock GoStart; do
        { cat script; echo "$event t=3000 ${place//1/2} g=7"; } | gotrace synth -o trace
    done
}
new='Trace Go1.26 level=meaning'
old='Trace Go1.21 level=meaning'
{
    follow "$new" 'm=1 p=1' GoDestroy 'GoStop reason_string="x"'
    follow "$new" 'm=1 p=1' GoDestroy 'GoBlock reason_string="x"'
    follow "$new" 'm=1 p=1' 'GoStop reason_string="x"' 'GoDestroy '
    for event in GoStop GoSched GoPreempt GoSleep GoBlock GoBlockSend; do follow "$old" 'p=1' GoEnd "$event "; done
    follow "$old" 'p=1' GoSched 'GoEnd '
    follow "$old" 'p=1' GoEnd 'GoSysCall ' 'GoSysBlock '
} 2>&1 | grep -v " nothing runs on \| none runs on "
