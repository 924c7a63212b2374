# shellcheck shell=bash
# Resource limits; the error names the limit and the option that raises it.
for trace in go1.19-http.trace go1.26-net.trace; do
    sample $trace
    echo "== $trace"
    for limit in max-memory=100K max-strings=3 max-stacks=3 max-goroutines=2 max-batches=1 \
        max-procs=1; do
        run gotrace validate --$limit $trace
    done
    # shellcheck disable=SC2094
    gotrace validate --max-input=1000 <$trace
    echo "=> $?"
    cat $trace | run gotrace validate --max-input=1000
    cat $trace | run gotrace validate -q --max-input=1G
    gotrace dump --zstd -o packed $trace
    echo "== output"
    for verb in 'print' 'dump' 'info' 'convert --to chrome' 'convert --to perfetto' 'repair'; do
        # shellcheck disable=SC2086
        run gotrace $verb --max-output 1K -o out $trace
        [ ! -e out ] || echo 'out is there'
    done
    run gotrace split --by "$([ $trace = go1.19-http.trace ] && echo proc || echo thread)" \
        --max-output 3K -o parts $trace
    [ ! -e parts ] || echo 'parts are there'
    gotrace print --max-output 20 $trace | head -c 100 | wc -c
done

echo '== what else reads'
run gotrace dump -o script go1.19-http.trace
run gotrace synth --max-memory 10K -o out script
run gotrace synth --max-output 10K -o out script
run gotrace split --by proc --max-string 20 -o parts go1.19-http.trace
run gotrace merge --max-memory 1K -o out go1.19-http.trace
run gotrace repair --max-goroutines 1 -o out go1.19-http.trace
run gotrace convert --to go1.21 --max-strings 2 -o out go1.19-http.trace

echo '== a string and a stack that are too long are damage'
gotrace validate --max-string 20 --max-errors 1 go1.19-http.trace 2>&1 | sed -n '1p;$p'
gotrace validate --max-stack 2 --max-errors 1 go1.19-http.trace 2>&1 | sed -n '1p;$p'

echo '== up to the limit, and above'
long=$(head -c 1500000 /dev/zero | tr '\0' x)
printf 'Trace Go1.21\nString id=1\n\tdata="%s"\n' "$long" | gotrace synth --max-string 2M -o long
gotrace validate long 2>&1 | cut -c 1-100 | head -n 1
gotrace validate --max-string 2M long 2>&1 | cut -c 1-100 | tail -n 1

echo '== how they are written'
for value in 0 0K 1X 12KB -1 '' 99999999999G; do
    run gotrace validate --max-memory=$value go1.19-http.trace
done
run gotrace validate --max-strings=0 go1.19-http.trace
run gotrace validate --max-strings=1K go1.19-http.trace
run gotrace gen --max-memory 1G
for value in 67108864 65536k 64M 1g; do
    gotrace validate -q --max-memory $value go1.19-http.trace
done

echo '== more start functions than fit into memory'
if command -v python3 >/dev/null && ! is_built_with asan tsan; then
    python3 "$TRACES/../../tests/scale/traps.py" v2-functions 500000 >functions.trace
    # The reader has enough; the report and the statistics together with it have not.
    gotrace validate -q --max-memory 40M functions.trace || echo "validate: $?"
    for verb in 'convert --to html' stat; do
        # shellcheck disable=SC2086
        gotrace $verb --max-memory 40M -j 1 -o out functions.trace 2>err.txt
        echo "=> $?"
        tail -n 2 err.txt
    done
else
    for verb in html stat; do
        printf '%s\n' '=> 3' 'gotrace: error: out of memory [system.memory]' 'gotrace: note: --max-memory SIZE raises the limit'
    done
fi
