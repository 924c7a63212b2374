# shellcheck shell=bash
# What Go's readers panic at, or are wrong about (testdata/findings/README.md): the right verdict on each.
for file in "$TRACES"/../findings/*.trace; do
    cp "$file" .
    run gotrace validate "$(basename "$file")"
done
