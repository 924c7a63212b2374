# shellcheck shell=bash
# Each possible verdict, with the rule and its source.
cd "$TRACES/unsound" || exit 1
for trace in *.trace; do
    run gotrace validate "$trace"
done
