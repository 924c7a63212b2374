# shellcheck shell=bash disable=SC2154
# Failing system calls: the n-th rename, link, unlink, mkdir, fsync, fchmod or ftruncate
# of a run (refuse.c). Part of tests/faults/run.sh.

# as_before: out contains exactly what it contained before the run.
as_before() { diff -r before out >/dev/null; }

# Each result in out is complete: either the new one or the previous one.
each_is_whole() {
    local file
    while read -r file; do
        cmp -s "out/$file" "whole/$file" || cmp -s "out/$file" "before/$file" || { echo "$file is not whole"; return; }
    done < <(find out -type f ! -name '.*.gotrace-*' -printf '%P\n')
}

# The name of the result that the failed call was for; empty if the call has no path.
refused_name() { sed -n 's/^[a-z]* \(.*\) refused$/\1/p' calls | sed -E 's|.*/||; s|^\.(.*)\.gotrace-.{6}$|\1|; s|^-$||'; }

# judge_call HOW CALL STATUS USUAL: whether this is a correct end after a failed call. HOW: together, if results appear all
# or none; singly, if each appears when it is complete.
judge_call() {
    local how=$1 call=$2 status=$3 usual=$4 name left
    left=$(find out tmp -name '.*.gotrace-*' -o -path 'tmp/*')
    each_is_whole
    if [ "$call" = unlink ]; then
        # A file that cannot be removed is left, and no other.
        [ "$status" -eq 3 ] || [ "$status" -eq "$usual" ] || echo "status $status"
        [ -z "$left" ] || grep -q "/${left##*/} refused\$" calls || echo "$left is left"
        return
    fi
    [ "$status" -eq 3 ] || { echo "status $status"; return; }
    [ -z "$left" ] || echo "$left is left"
    [ "$(grep -c ': error: cannot' log)" = 1 ] || echo 'not one error'
    grep -q ': error: cannot .*: Input/output error \[system\.write\]$' log || echo 'not the reason'
    name=$(refused_name)
    grep -F ': error: cannot' log | grep -qF "${name:-out/}" || echo "not the name of the file, $name"
    [ "$how" = singly ] || as_before || echo "some results and not others: $(diff -rq before out | head -n 1)"
}

# run_refusing CALL AT NAMELESS WORD...: run the command with that call failing; returns its status.
run_refusing() {
    local settings=(REFUSE_CALL="$1" REFUSE_CALL_AT="$2" REFUSE_LOG="$work/calls" LD_PRELOAD="$refuse")
    [ -z "$3" ] || settings+=(REFUSE_TMPFILE=1)
    shift 3
    rm -rf out tmp calls
    mkdir tmp
    cp -r before out
    env "${settings[@]}" "$gotrace" "$@" >/dev/null 2>log
}

# sweep_call HOW NAMELESS COMMAND...: let each of the calls of the command fail, one at a time.
sweep_call() {
    local how=$1 nameless=$2 call count at status usual why made
    shift 2
    run_refusing none 0 "$nameless" "$@"
    usual=$?
    made=$(cut -d ' ' -f 1 calls | sort | uniq -c)
    while read -r count call; do
        [[ $call != rmdir && $call != thread ]] || continue # without a thread nothing fails: sweep_threads
        for ((at = 1; at <= count; at++)); do
            run_refusing "$call" $at "$nameless" "$@"
            status=$?
            tried=$((tried + 1))
            why=$(judge_call "$how" "$call" $status $usual | head -n 1)
            if [ -n "$why" ]; then
                fail "gotrace $*: $call $at of $count${nameless:+, no O_TMPFILE}, $(find before -type f | wc -l) results before: $why"
                return
            fi
        done
    done <<<"$made"
}

# sweep_calls HOW COMMAND...: without previous results and with replaced ones, with and without unnamed
# files.
sweep_calls() {
    local how=$1 file nameless failures=$failed sum=$tried
    shift
    renew
    "$gotrace" "$@" >/dev/null 2>&1
    rm -rf whole before
    cp -r out whole
    mkdir before
    sweep_call "$how" '' "$@"
    sweep_call "$how" 1 "$@"
    rm -rf before
    cp -r whole before
    find before -type f -print | while read -r file; do echo "what $file was" >"$file"; done
    sweep_call "$how" '' "$@"
    sweep_call "$how" 1 "$@"
    rm -rf whole before calls
    renew
    [ "$failed" -eq "$failures" ] || return
    # Each result gets its name by one of these calls.
    [ "$tried" -gt "$sum" ] || { fail "gotrace $*: no call was refused"; return; }
    passed=$((passed + 1))
}

all_calls() {
    sweep_calls together split --force --by proc -o out/parts v1.trace
    sweep_calls together split --force --by generation --zstd -o out/parts v2.trace
    sweep_calls together convert --to perfetto -o out/out v2.cut
    sweep_calls together merge -o out/out of-v1/*
    sweep_calls together repair -o out/out v2.cut
    sweep_calls together repair -o out/out v1.trace
    sweep_calls singly mutate --force --count 2 -o out/variants v2.trace v1.trace
}
