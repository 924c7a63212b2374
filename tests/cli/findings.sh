# shellcheck shell=bash
# Traces at which Go's readers panic or are wrong (testdata/findings/README.md): the correct verdict on each,
# and a timeline by two threads of those that can be read.
for file in "$TRACES"/../findings/*.trace; do
    cp "$file" .
    run gotrace validate "$(basename "$file")"
    run gotrace convert -q -j 2 --to perfetto -o timeline "$(basename "$file")"
done
