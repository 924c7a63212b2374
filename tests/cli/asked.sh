# shellcheck shell=bash
# A name or reason that no trace has: a note lists the most similar ones that there are.
gotrace synth -q -o 1.26.trace - <<'END'
Trace Go1.26 level=meaning procs=1
UserTaskBegin t=2000 g=1 p=0 task=1 parent_task=0 name_string="checkout"
UserTaskBegin t=2100 g=1 p=0 task=2 parent_task=0 name_string="pay \x1b[31m\"now\""
UserRegionBegin t=2200 g=1 p=0 task=1 name_string="parse"
UserRegionEnd t=2600 g=1 p=0 task=1 name_string="parse"
UserRegionBegin t=2700 g=1 p=0 task=1 name_string="render"
UserTaskEnd t=2800 g=1 p=0 task=1
UserTaskEnd t=2900 g=1 p=0 task=2
END
gotrace convert -q --to go1.19 -o 1.19.trace 1.26.trace
gotrace synth -q -o many.trace - <<'END'
Trace Go1.26 level=meaning procs=1
UserTaskBegin t=2000 g=1 p=0 task=1 parent_task=0 name_string="checkin"
UserTaskBegin t=2100 g=1 p=0 task=2 parent_task=0 name_string="a name that is much longer than any message should be, because nobody would read it"
UserTaskBegin t=2200 g=1 p=0 task=3 parent_task=0 name_string="c"
UserTaskBegin t=2300 g=1 p=0 task=4 parent_task=0 name_string="d"
UserTaskBegin t=2400 g=1 p=0 task=5 parent_task=0 name_string="e"
UserTaskBegin t=2500 g=1 p=0 task=6 parent_task=0 name_string=""
END
sample go1.26-user.trace v2.trace
sample go1.19-user.trace v1.trace
sample go1.26-empty.trace none.trace

echo '== the nearest first, of all files'
for trace in 1.19.trace 1.26.trace many.trace; do
    run gotrace find 'task("chekout")' $trace
done
for threads in 1 2; do
    run gotrace find -j $threads 'task("chekout")' 1.19.trace many.trace v1.trace v2.trace
done
run gotrace find 'region("prase")' 1.26.trace
for trace in v1.trace v2.trace; do
    run gotrace find --count 'wait("slep")' $trace
    run gotrace find 'wait("slep") > 1s' $trace
    run gotrace find --count 'stw("start trase")' $trace
    run gotrace find 'wait("chan recieve") and goroutine == 1' $trace
    run gotrace find 'wait and during (task("x"))' - <$trace
done
run gotrace find 'task("x") or region("x") or gc' none.trace
run gotrace print --where 'task("chekout")' 1.26.trace

echo '== not of what exists, nor if reading ended early, nor with -q'
run gotrace find 'task("checkout") > 1s' 1.26.trace
run gotrace find 'task("checkout")' 1.19.trace none.trace
run gotrace find --max 1 'task("checkout") or task("x")' 1.26.trace
run gotrace find -q 'task("chekout")' 1.26.trace
run gotrace find 'task("")' 1.26.trace
run gotrace find 'task("checkout") or task("x")' 1.26.trace

echo '== JSON has only results'
gotrace find --json 'task("chekout")' 1.26.trace 2>err
cat err

echo '== options that select a part'
for verb in print stat 'cut -o part' 'convert --to perfetto -o out' 'convert --to folded -o out' 'convert --to html -o out'; do
    for options in '--task chekout,checkin --region x' '--task 7' '--task chekout' '--region prase'; do
        # shellcheck disable=SC2086
        gotrace $verb $options 1.26.trace 2>&1 >output | sed "s/^/$verb: /"
    done
done
run gotrace print -q --task chekout 1.19.trace
