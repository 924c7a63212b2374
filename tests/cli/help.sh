# shellcheck shell=bash
# Help is on standard output, whichever way it is asked for.
gotrace help
for verb in validate info print convert dump synth gen version help; do
    echo "---- $verb"
    gotrace "$verb" --help
    gotrace help "$verb" | cmp - <(gotrace "$verb" -h)
done
gotrace --help | cmp - <(gotrace help)
gotrace -h | cmp - <(gotrace help)
# It wins over arguments that are too many.
gotrace print a b c --help | cmp - <(gotrace help print)
