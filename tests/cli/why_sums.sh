# shellcheck shell=bash
# What `gotrace why` prints adds up: the rows, as JSON and as text, and the sums, which are those of `gotrace stat`.

for version in 1.5 1.10 1.11 1.19 1.21 1.22 1.23 1.26; do
    for profile in http gc; do
        gotrace gen -q --go $version --profile $profile --events 2000 --procs 3 --goroutines 20 -o $version-$profile.trace
    done
done
python3 -B "$TRACES/../../tests/cli/why.py" ./*.trace
cd "$TRACES" || exit 1
python3 -B ../../tests/cli/why.py ./*-{user,net,lock,mutex,iter,gens}.trace
