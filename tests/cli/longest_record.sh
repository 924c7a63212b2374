# shellcheck shell=bash
# The longest possible record: a stack of the maximum number of frames, whose values all take
# ten bytes. One byte more is an error.
longest() {
    echo "Trace Go1.$1"
    echo 'Batch p=0 ticks=1'
    echo 'Frequency freq=1000'
    echo 'Stack id=18446744073709551615 nframes=1000 pad=2:10'
    for ((i = 0; i < 1000; i++)); do
        echo '	pc=18446744073709551615 func=18446744073709551615 file=18446744073709551615 line=18446744073709551615'
    done
}

for version in 7 11 19 21; do
    longest $version >script
    gotrace synth -o trace script
    #     The tab and the order of arguments are those of dump.
    gotrace dump trace | cmp - script && stat -c '%s bytes' trace
    run gotrace validate -q trace
done

# The length of the record, which takes ten bytes here, is raised from 40020 to 40021.
at=$(LC_ALL=C grep -obUaP '\xd4\xb8\x82\x80' trace | head -n 1 | cut -d : -f 1)
printf '\xd5' | dd of=trace bs=1 seek="$at" conv=notrunc status=none
printf 'x' >>trace
run gotrace dump -o out trace
