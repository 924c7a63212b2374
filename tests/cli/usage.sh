# shellcheck shell=bash
# What cannot be understood is refused with status 2, on standard error, and a hint.
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
run gotrace convert --to go1.30 x
run gotrace gen --go 1.4
run gotrace merge --go 2 x
run gotrace convert --strict --to text x
run gotrace convert --to prefetto x
run gotrace convert --to nothing x
run gotrace convert -o x.unknown x
run gotrace convert --to
run gotrace split --by proc -o - x
run gotrace mutate -o - x
# Diagnostics go to standard error alone.
gotrace validate --jsn 2>/dev/null
