# shellcheck shell=bash
# The sample traces, recorded by gccgo and Go 1.19 to 1.27, are sound.
cd "$TRACES" || exit 1
gotrace validate -- *.trace
