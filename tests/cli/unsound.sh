# shellcheck shell=bash
# Each verdict there is, told with the rule and where it comes from.
cd "$TRACES/unsound" || exit 1
for trace in *.trace; do
    run gotrace validate "$trace"
done
