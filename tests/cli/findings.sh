# shellcheck shell=bash
# Traces at which Go's readers panic or are wrong (testdata/findings/README.md): the correct verdict on each.
for file in "$TRACES"/../findings/*.trace; do
    cp "$file" .
    run gotrace validate "$(basename "$file")"
done
