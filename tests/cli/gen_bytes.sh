# shellcheck shell=bash
# gen: the same options give the same bytes on every machine, in larger traces than those of gen.sh.
for version in 5 7 8 9 10 11 19 21 22 23 25 26; do
    for profile in mixed http pipeline gc syscalls; do
        gotrace gen --go "1.$version" --profile "$profile" --seed "$version" --events 15000 | cksum
    done | cksum | sed "s/^/1.$version: /"
done

# Few and many procs and goroutines.
for size in '2 16' '2 60' '3 20' '40 4000'; do
    read -r procs goroutines <<<"$size"
    for version in 10 21 22 26; do
        gotrace gen --go "1.$version" --procs "$procs" --goroutines "$goroutines" --events 15000 --cover | cksum
    done | cksum | sed "s/^/$procs procs, $goroutines goroutines: /"
done
