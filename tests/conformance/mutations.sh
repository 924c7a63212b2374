# mutations.sh - a trace damaged in many small ways is sound exactly where Go's reader takes it, and
# then holds the same events.
# shellcheck shell=bash

MUTATIONS=12 # of each kind a trace

# A record of the script dropped, doubled or changed places with its neighbour, or one of its numbers
# changed, as the seed has it.
mutate_script() { # SCRIPT SEED
    awk -v seed="$2" '
    NR == 1 { print; next }
    { line[++n] = $0 }
    function change(text, count, field, parts, pair, number) {
        count = split(text, parts, " ")
        field = parts[2 + int(rand() * (count - 1))]
        if (field !~ /^[a-z]+=[0-9]+$/) return text
        split(field, pair, "=")
        number = pair[2] + int(rand() * 7) - 3
        sub(field, pair[1] "=" (number < 0 ? 0 : number), text)
        return text
    }
    END {
        srand(seed)
        at = 1 + int(rand() * (n - 1))
        kind = int(rand() * 6)
        if (kind == 1) line[at] = line[at] "\n" line[at]
        if (kind == 2) { kept = line[at]; line[at] = line[at + 1]; line[at + 1] = kept }
        if (kind > 2) line[at] = change(line[at])
        for (i = 1; i <= n; i++)
            if (i != at || kind != 0) print line[i]
    }' "$1"
}

# One byte behind the header another one.
mutate_byte() { # FILE SEED
    local size at value
    size=$(stat -c %s "$1")
    read -r at value < <(awk -v seed="$2" -v size="$size" \
        'BEGIN { srand(seed); print 16 + int(rand() * (size - 16)), int(rand() * 256) }')
    head -c "$at" "$1"
    # shellcheck disable=SC2059
    printf "\\x$(printf %02x "$value")"
    tail -c +$((at + 2)) "$1"
}

# Whether the two readers agree; what they said is left in both.
agree_on() { # FILE
    local go ours
    "$GOREAD_V1" -print "$1" >"$WORK/go.mutated" 2>"$WORK/both"
    go=$?
    "$GOTRACE" print --format go "$1" >"$WORK/mutated" 2>>"$WORK/both"
    ours=$?
    # Go cuts numbers to 64 bits, and takes a sequence number of 2^64-1 for any: neither is what a
    # tracer writes.
    if [ $go -eq 0 ] && [ $ours -eq 1 ] &&
        grep -qE '\[wire.varint\]|18446744073709551615' "$WORK/both"; then
        return 0
    fi
    [ $go -le 1 ] || go=1 # it ended by a panic
    [ $go -eq $ours ] || return 1
    [ $go -ne 0 ] || cmp -s <(sort "$WORK/go.mutated") <(sort "$WORK/mutated")
}

check_mutations() { # FILE
    local file=$1 seed n kind
    [ -x "$GOREAD_V1" ] || { skip mutations "no $GOREAD_V1"; return; }
    # Until 1.6 Go leaves the order of equal sequence numbers to chance. Large traces take long.
    if [ "$(version_of "$file")" -lt 7 ] || [ "$(stat -c %s "$file")" -gt 8000 ]; then
        return
    fi
    seed=$(printf '%s' "$TRACE_NAME" | cksum | cut -d ' ' -f 1)
    "$GOTRACE" dump -o "$WORK/script" "$file" 2>/dev/null || return
    for ((n = 0; n < MUTATIONS; n++)); do
        for kind in script byte; do
            if [ $kind = script ]; then
                mutate_script "$WORK/script" $((seed + n)) >"$WORK/mutated.script"
                "$GOTRACE" synth -o "$WORK/mutated.trace" "$WORK/mutated.script" 2>/dev/null || continue
            else
                mutate_byte "$file" $((seed + n)) >"$WORK/mutated.trace"
            fi
            if ! agree_on "$WORK/mutated.trace"; then
                fail "mutation of the $kind, number $n" 'Go and gotrace disagree' "$WORK/both"
                return
            fi
        done
    done
    ok "$((2 * MUTATIONS)) mutations"
}
