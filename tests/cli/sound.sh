# shellcheck shell=bash
# The sample traces, recorded by gccgo, Go 1.19 and Go 1.21, are sound.
cd "$TRACES" || exit 1
gotrace validate -- *.trace
