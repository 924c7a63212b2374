# shellcheck shell=bash
# The time that the timeline of several critical paths has: stretches.py compares it with `convert` of each stretch.

# Tasks that are nested, overlap, touch, and are 150 with growing gaps; regions and tasks that begin in one stretch and end in
# another or between two; a region without a begin; goroutines that begin, and change their state, in one or between two.
awk '
function task(id, type, t) { print "UserTaskBegin t=" t " p=0 g=1 task=" id " parent_task=" (id > 50 ? 50 : 0) " name_string=\"" type "\"" }
function task_end(id, t) { print "UserTaskEnd t=" t " p=0 g=1 task=" id }
function region(what, name, t) { print "UserRegion" what " t=" t " p=0 g=1 task=0 name_string=\"" name "\"" }
BEGIN {
    print "Trace Go1.26 level=meaning procs=2"
    print "GoCreate t=1000 g=1 p=0 new_g=7\n\tnew_stack=\"main.worker /src/main.go:20\"\n\tstack=\"main.main /src/main.go:9\""
    task(1, "nested", 2000); task(2, "nested", 2500); region("End", "before", 2600); task_end(2, 3000); task_end(1, 4000)
    task(3, "overlap", 5000); region("Begin", "long", 5500); task(4, "overlap", 6000); task_end(3, 7000); task_end(4, 8000)
    task(5, "touch", 10000); task_end(5, 11000); task(6, "touch", 11001); task_end(6, 12000); task(7, "touch", 12002); task_end(7, 13000)
    task(50, "parent", 14000)
    for (n = 0; n < 150; n++) {
        t = 20000 + 1000 * n + n * n
        task(51 + n, "apart", t)
        if (n == 20) region("Begin", "inner", t + 10)
        if (n % 10 == 5) print "HeapAlloc t=" t + 11 " g=1 p=0 heapalloc_value=" 1000 * n
        if (n == 30) print "GoCreate t=" t + 12 " g=1 p=0 new_g=8\n\tnew_stack=\"main.late /src/main.go:30\""
        if (n == 40) region("End", "inner", t + 20)
        if (n % 7 == 4) print "GoBlock t=" t + 200 " g=7 p=1 reason_string=\"sync\"\n\tstack=\"main.worker /src/main.go:21\""
        if (n % 7 == 6) print "GoUnblock t=" t + 50 " p=0 on_g=1 g=7"
        task_end(51 + n, t + 400)
        if (n % 7 == 3) print "GoStart t=" t + 450 " p=1 g=7"
        if (n == 60) region("End", "long", t + 500)
        if (n == 70) task_end(50, t + 510)
        if (n == 80) region("Begin", "last", t + 520)
        if (n == 90) print "GoCreate t=" t + 530 " g=1 p=0 new_g=9\n\tnew_stack=\"main.later /src/main.go:40\""
        if (n == 100) print "GCBegin t=" t + 540 " g=1 p=0\n\tstack=\"main.alloc /src/main.go:50\""
        if (n == 110) print "GCEnd t=" t + 550 " g=1 p=0"
    }
}' >script
gotrace synth -q -o v2.trace script && gotrace convert -q --to go1.21 -o v1.trace v2.trace
head -c $(($(stat -c %s v2.trace) - 300)) v2.trace >cut2.trace
head -c $(($(stat -c %s v1.trace) - 300)) v1.trace >cut1.trace
mapfile -t samples < <(all_samples )
for group in v2.trace v1.trace cut2.trace cut1.trace "${samples[*]}"; do
    # shellcheck disable=SC2086 # several traces
    python3 -B "$TRACES/../../tests/cli/stretches.py" $group
done
