# shellcheck shell=bash
# Cases of bad input: for each a function that writes the file, and the expected message.
# Sourced by run.sh.
# shellcheck disable=SC2154

# ---- writing files -----------------------------------------------------------------------------

# version N: a header.
version() {
    printf 'go 1.%s trace' "$1"
    head -c $((16 - 12 - ${#1} + 1)) /dev/zero
}

# begin: goroutine 1 runs on proc 0 of a 1.21 trace.
begin() {
    version 21
    printf '\x41\x00\x01'             # Batch p=0 ticks=1
    printf '\xcd\x04\x01\x01\x00\x00' # GoCreate dt=1 g=1
    printf '\x8e\x01\x01\x01'         # GoStart dt=1 g=1 seq=1
}

# finish: a frequency of 10^9.
finish() {
    printf '\x02\x80\x94\xeb\xdc\x03'
}

# ---- numbers -----------------------------------------------------------------------------------

two_to_63='\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01'

make_varint_of_eleven_bytes() {
    begin
    printf '\x0f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01'
    finish
}
bad varint_of_eleven_bytes 1 wire.varint 'ten bytes or 64 bits'

make_varint_of_65_bits() {
    begin
    printf '\x0f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02'
    finish
}
bad varint_of_65_bits 1 wire.varint 'ten bytes or 64 bits'

make_varint_of_65_bits_in_a_length() {
    begin
    printf '\xd5\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f'
    finish
}
bad varint_of_65_bits_in_a_length 1 wire.varint 'ten bytes or 64 bits'

make_tick_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\x51${two_to_63}\x00" # GoSched
    finish
}
bad tick_of_2_to_63 1 time.order 'before that of the event that the sequence puts before it'

make_goroutine_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\xd5\x0d\x01${two_to_63}\x01\x00" # GoUnblock g=2^63 seq=1
    finish
}
bad goroutine_of_2_to_63 1 order.sequence 'goroutine 9223372036854775808 must be waiting'

make_proc_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\x41${two_to_63}\x05\x06\x01\x06\x01" # two ProcStops
    finish
}
bad proc_of_2_to_63 1 proc.stop 'the proc is not running'

make_proc_of_2_to_31() {
    begin
    printf '\x41\x80\x80\x80\x80\x08\x05\x06\x01'
    finish
}
bad proc_of_2_to_31 1 proc.stop 'the proc is not running'

make_count_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\xc3\x0b\x01${two_to_63}" # Stack
    finish
}
bad count_of_2_to_63 1 stack.frames '9223372036854775808 frames, at most 1000 expected'

make_string_id_of_2_to_63_twice() {
    begin
    # shellcheck disable=SC2059
    printf "\x25${two_to_63}\x01a\x25${two_to_63}\x01b"
    finish
}
bad string_id_of_2_to_63_twice 1 string.duplicate 'string 9223372036854775808 is defined again'

# ---- lengths -----------------------------------------------------------------------------------

make_length_beyond_the_end() {
    begin
    printf '\xd5\x64\x01\x01'
}
bad length_beyond_the_end 1 wire.truncated 'cut off'

make_length_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\xc3${two_to_63}\x01\x01"
}
bad length_of_2_to_63 1 wire.truncated 'cut off'

make_length_too_short() {
    begin
    printf '\xd5\x03\x01\x01\x81'
    finish
}
bad length_too_short 1 wire.length 'goes on beyond'

make_string_beyond_the_end() {
    begin
    printf '\x25\x01\x64abc'
}
bad string_beyond_the_end 1 wire.truncated 'cut off'

make_string_of_a_million_and_one() {
    begin
    printf '\x25\x01\xc1\x84\x3d'
    head -c 1000001 /dev/zero
    finish
}
bad string_of_a_million_and_one 1 string.length '1000001 bytes'

make_string_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\x25\x01${two_to_63}abc"
}
bad string_of_2_to_63 1 string.length '9223372036854775808 bytes'

make_log_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\xf0\x04\x01\x01\x01\x01${two_to_63}abc"
}
bad log_of_2_to_63 1 log.length '9223372036854775808 bytes'

# A record of nine gigabytes, in a sparse file.
record_of_nine_gigabytes() {
    is_wanted record_of_nine_gigabytes || return 0
    { begin; printf '\xd5\x80\xb4\xc4\xc3\x21\x01'; } >trace
    truncate -s 10G trace 2>log || { skip record_of_nine_gigabytes 'no sparse files here'; return; }
    #     The skipped bytes are zeros, which are not records.
    expect record_of_nine_gigabytes 1 '\[event.arity\]' gotrace validate trace
    expect record_of_nine_gigabytes 1 '\[wire.type\]' gotrace validate trace
    end_well record_of_nine_gigabytes 1 gotrace print trace
    rm -f trace
}
record_of_nine_gigabytes

# ---- tables ------------------------------------------------------------------------------------

make_string_twice() {
    begin
    printf '\x25\x01\x01a\x25\x01\x01b'
    finish
}
bad string_twice 1 string.duplicate 'string 1 is defined again'

make_string_without_id() {
    begin
    printf '\x25\x00\x01a'
    finish
}
bad string_without_id 1 string.id 'id 0'

make_empty_string() {
    begin
    printf '\x25\x01\x00'
    finish
}
bad empty_string 1 string.length '0 bytes'

# A stack of a million frames, all present: 2 + 4 * 10^6 values of a byte, three bytes for the count.
make_million_frames() {
    begin
    printf '\xc3\x84\x92\xf4\x01\x01\xc0\x84\x3d'
    head -c 4000000 /dev/zero | tr '\000' '\001'
    finish
}
bad million_frames 1 stack.frames 'Stack says it is 4000004 bytes long'

make_frames_that_are_not_there() {
    begin
    printf '\xc3\x03\x01\xc0\x04'
    finish
}
bad frames_that_are_not_there 1 stack.frames '576 frames, but has 0 values'

# ---- footer and clocks -------------------------------------------------------------------------

make_frequency_of_0() {
    begin
    printf '\x02\x00'
}
bad frequency_of_0 1 footer.frequency 'frequency is 0'

make_frequency_of_2_to_63() {
    begin
    # shellcheck disable=SC2059
    printf "\x02$two_to_63"
}
bad frequency_of_2_to_63 1 footer.frequency 'frequency is -'

make_no_footer() {
    begin
}
bad no_footer 1 footer.missing 'without its footer'

make_no_event() {
    version 21
    finish
}
bad no_event 1 trace.empty 'no event'

make_header_alone() {
    version 21
}
bad header_alone 1 trace.empty 'no event'

make_time_that_runs_back() {
    begin
    printf '\x51\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00'
    finish
}
bad time_that_runs_back 1 time.order '2 ticks .* before'

# ---- records -----------------------------------------------------------------------------------

make_unknown_event() {
    begin
    printf '\x3f\x01'
    finish
}
bad unknown_event 1 wire.type 'type 63'

make_event_of_a_later_version() {
    version 7
    printf '\x41\x00\x01\x29\x01\x01\x01' # GoStartLabel exists from 1.8 on
    finish
}
bad event_of_a_later_version 1 wire.type 'type 41'

make_batch_of_one_value() {
    begin
    printf '\x01\x00'
    finish
}
bad batch_of_one_value 1 event.arity 'Batch has 1 value, 2 expected'

make_sample_of_one_value() {
    begin
    printf '\x41\x07\x01\x31\x01' # in a batch of its own
    finish
}
bad sample_of_one_value 1 event.arity 'CPUSample has 1 value, 5 expected'

make_goroutine_that_never_was() {
    begin
    printf '\x8e\x01\x07\x09' # GoStart g=7 seq=9
    finish
}
bad goroutine_that_never_was 1 order.sequence 'goroutine 7 must be runnable at sequence number 9'

make_procs_that_wait_for_each_other() {
    begin
    printf '\x41\x01\x05\x8e\x01\x02\x05\xd5\x04\x01\x03\x06\x00' # starts 2 at 5, wakes 3 at 6
    printf '\x41\x02\x05\x8e\x01\x03\x07\xd5\x04\x01\x02\x04\x00' # starts 3 at 7, wakes 2 at 4
    finish
}
bad procs_that_wait_for_each_other 1 order.sequence 'no remaining event'

make_noise() {
    begin
    #     The same in each run.
    awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) printf "%c", int(rand() * 128) }'
}
bad noise 1 '[a-z]+\.[a-z]+' ''

# A flood of problems is truncated.
make_flood() {
    begin
    for ((i = 0; i < 5000; i++)); do printf '\x06\x01\x06\x01'; done
    finish
}
bad flood 1 proc.stop 'the proc is not running'
if is_wanted flood; then
    gotrace validate trace >out 2>log
    if [ "$(grep -c 'error:' log)" -le 20 ]; then
        passed=$((passed + 1))
    else
        fail 'flood: more than 20 problems were reported'
    fi
fi

# ---- a real trace, truncated and changed --------------------------------------------------------

cut_and_changed() {
    local whole=$traces/go1.21-chan.trace size at
    is_wanted cut_and_changed || return 0
    size=$(stat -c %s "$whole")
    #     Among the events: a cut in the table of stacks, after the frequency, may be undetectable.
    for ((at = 17; at < 1400; at += 97)); do
        head -c $at "$whole" >trace
        expect "cut at $at" 1 '\[(wire.truncated|footer.missing|trace.empty)\]' gotrace validate trace
        other_verbs "cut at $at" 1
    done
    for ((at = 16; at < size; at += 307)); do
        { head -c $at "$whole"; printf '\xff'; tail -c +$((at + 2)) "$whole"; } >trace
        end_well "byte $at is 255" '0 1' gotrace validate trace
        other_verbs "byte $at is 255" '0 1'
    done
}
cut_and_changed

# ---- the system --------------------------------------------------------------------------------

memory_refused() {
    is_wanted memory_refused || return 0
    if nm "$(command -v gotrace)" 2>/dev/null | grep -q __asan; then
        skip memory_refused 'a sanitizer needs its memory'
        return
    fi
    #     A million strings: more than fit in a process of 40 MB.
    {
        echo 'Trace Go1.21'
        seq 1000000 | sed 's/.*/String id=& data="abcdefghijklmnop&"/'
    } >script
    gotrace synth -o trace script 2>log || fail "memory_refused: the file could not be made"
    local verb
    for verb in validate print 'convert --to chrome -o out'; do
        # shellcheck disable=SC2086
        expect memory_refused 3 'memory' bash -c 'ulimit -v 40000; exec "$@"' - gotrace $verb trace
    done
}
memory_refused

# A disk with less space than the output needs.
small_disk() {
    local trace=$traces/go1.21-gc.trace
    is_wanted small_disk || return 0
    mkdir -p small
    if ! mount -t tmpfs -o size=16k tmpfs small 2>log; then
        skip small_disk 'no file system can be mounted here'
        return
    fi
    expect small_disk 3 'No space left' gotrace convert --to chrome -o small/out.json "$trace"
    expect small_disk 3 'No space left' gotrace dump -o small/out.txt "$trace"
    # shellcheck disable=SC2016
    TMPDIR=$PWD/small expect 'small_disk for temporary files' 3 'No space left' \
        bash -c 'cat "$1" "$1" | gotrace validate -' - "$trace"
    if [ -z "$(ls small)" ]; then
        passed=$((passed + 1))
    else
        fail "small_disk: left behind $(ls small)"
    fi
    umount small
}
small_disk

no_input() {
    is_wanted no_input || return 0
    expect no_input 3 'Bad file descriptor|cannot' bash -c 'gotrace validate - <&-'
    expect no_input 3 'directory' bash -c 'gotrace validate - <.'
    expect no_input 3 'No such file' gotrace validate missing
}
no_input
