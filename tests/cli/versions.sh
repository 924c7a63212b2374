# shellcheck shell=bash
# Versions that do not exist, and all that do.
for version in 1.0 1.4 1.6 1.12 1.20 1.24 1.27 1.99 2.0 1.256 1.1000; do
    printf 'go %s trace\000\000\000\000\000' "$version" | head -c 16 >"$version"
    printf '\001\000\000\000' >>"$version"
    run gotrace validate "$version"
done
for version in 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21; do
    printf 'go %s trace\000\000\000\000\000' "$version" | head -c 16 >"$version"
    run gotrace validate -q "$version"
done
for version in 1.22 1.23 1.25 1.26; do
    printf 'go %s trace\000\000\000\000\000' "$version" | head -c 16 >"$version"
    run gotrace dump "$version"
done

# Until 1.6 a goroutine's start is a program counter.
gotrace gen --go 1.5 --events 100 | run gotrace print - | grep -m 2 start=
