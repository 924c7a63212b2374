# shellcheck shell=bash
# dump and synth reproduce the bytes, in each encoding of scripts and for each sample trace.
mapfile -t samples < <(all_samples)
for trace in "${samples[@]}" "$TRACES"/unsound/*.trace; do
    for how in text json jsonl cbor; do
        gotrace dump -q --format $how -o script "$trace" 2>/dev/null
        gotrace synth script | cmp - "$trace"
        gotrace dump -q --format $how "$trace" 2>/dev/null | gotrace synth -o again
        cmp again "$trace"
    done
done
