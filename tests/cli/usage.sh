# shellcheck shell=bash
# An invalid command line is rejected with status 2, on standard error, with a hint.
run gotrace
run gotrace valdate x
run gotrace weld a b
run gotrace frobnicate
run gotrace validate --jsn x
run gotrace validate --json=yes x
run gotrace validate -z x
run gotrace validate -qz x
run gotrace validate --max-errors
run gotrace validate --max-errors=many x
run gotrace validate --max-errors=-1 x
run gotrace validate --max-errors=18446744073709551616 x
run gotrace print --format txt x
run gotrace print --format nothing x
run gotrace print a b
run gotrace print --output
run gotrace print -o
run gotrace version now
run gotrace help vlidate
run gotrace help nothing
run gotrace help --completion fish
run gotrace convert x
# Unknown releases: newer ones, patch releases, and versions without "go".
run gotrace convert --to go1.28 x
run gotrace convert --to go99 x
run gotrace convert --to go1.24.5 x
run gotrace convert --to 1.19 x
run gotrace convert --to 1.28 -o x.json x
run gotrace convert --to 1.4 x
run gotrace convert --to go1.99999999999999999999 x
run gotrace gen --go 1.4
run gotrace gen --go 1.28 -o x
run gotrace gen --go go1.23.1 -o x
run gotrace merge --go 2 x
run gotrace merge --go 1.28 x
run gotrace merge --go 1.24 x
run gotrace convert --strict --to text x
run gotrace convert --to prefetto x
run gotrace convert --to nothing x
run gotrace convert -o x.unknown x
run gotrace convert --to
run gotrace split --by proc -o - x
run gotrace mutate -o - x
# Diagnostics are on standard error only.
gotrace validate --jsn 2>/dev/null
