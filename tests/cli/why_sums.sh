# shellcheck shell=bash
# What `gotrace why` prints adds up: the rows, as JSON and as text, and the sums, which are those of `gotrace stat`.

for version in $(all_versions); do
    for profile in http gc; do
        gotrace gen -q --go "$version" --profile $profile --events 2000 --procs 3 --goroutines 20 -o "$version-$profile.trace"
    done
done
python3 -B "$TRACES/../../tests/cli/why.py" ./*.trace
cd "$TRACES" || exit 1
samples=(./*-user.trace)
[ -z "${ALL:-}" ] || samples=(./*-{user,net,lock,mutex,iter,gens}.trace)
python3 -B ../../tests/cli/why.py "${samples[@]}"
