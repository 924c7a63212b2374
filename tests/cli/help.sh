# shellcheck shell=bash
# Help is printed on standard output, however it is requested.
gotrace help
for verb in validate info print convert dump synth gen version help; do
    echo "---- $verb"
    gotrace "$verb" --help
    gotrace help "$verb" | cmp - <(gotrace "$verb" -h)
done
gotrace --help | cmp - <(gotrace help)
gotrace -h | cmp - <(gotrace help)
# It overrides excess arguments.
gotrace print a b c --help | cmp - <(gotrace help print)
