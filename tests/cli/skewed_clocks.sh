# shellcheck shell=bash
# Until 1.21, where the clocks of processors differ a little, events have earlier times than those before them: within
# a batch the difference of times is negative. Repair and conversion raise these times and lose nothing.

# Makes every 16th event earlier than the one before it, by up to 9 ticks. The one after it keeps its time.
skew() {
    awk '
        function print_with(dt) { sub(/ dt=[0-9]+/, " dt=" dt); print }
        !/ dt=/ || /^CPUSample/ { owed = 0; print; next }
        {
            match($0, / dt=[0-9]+/)
            dt = substr($0, RSTART + 4, RLENGTH - 4) + owed
            owed = 0
        }
        ++n % 16 == 0 && dt < 1000 && !/GoSysExit/ {
            by = n / 16 % 9 + 1
            owed = dt + by
            # awk has no integers of 64 bits: 2^64 - by.
            print_with("184467440737095516" (16 - by < 10 ? "0" : "") 16 - by)
            next
        }
        { print_with(dt) }'
}

events() {
    gotrace info --json "$1" 2>/dev/null | jq '.events // empty'
}

for version in 1.5 1.7 1.9 1.11 1.19 1.21; do
    echo "== $version"
    gotrace gen --go "$version" --events 2000 -o sound.trace
    gotrace dump sound.trace | skew | gotrace synth -q -o skewed.trace
    gotrace validate skewed.trace 2>&1 | grep -v '0x' | sed 's/; [0-9]* error.*)/)/'
    run gotrace repair -o repaired.trace skewed.trace
    run gotrace validate repaired.trace
    gotrace convert -q --to go1.21 -o converted.trace skewed.trace 2>/dev/null
    echo "converted: $(events converted.trace) of $(events skewed.trace)"
done

echo '== the rest of a batch is found after damage'
head -c 64 /dev/zero | dd of=skewed.trace bs=1 seek=4000 conv=notrunc status=none
run gotrace repair -o repaired.trace skewed.trace
run gotrace validate repaired.trace
