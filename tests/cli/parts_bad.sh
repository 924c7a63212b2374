# shellcheck shell=bash
# Parts that are missing, do not belong together, or are damaged; and outputs that are not written.
for name in go1.26-gens go1.21-http go1.19-http go1.25-empty go1.26-user; do sample $name.trace; done
gotrace split --by thread -o threads go1.26-gens.trace
gotrace split --by generation -o generations go1.26-gens.trace
gotrace split --by proc -o procs go1.21-http.trace

echo '== missing'
mv threads/*.m16613.trace missing.trace
run gotrace merge -q -o one.trace threads/* | tail -n 4
mv missing.trace threads/go1.26-gens.m16613.trace
run gotrace merge -q -o one.trace procs/*.p{-1,0}.trace | tail -n 3
run gotrace merge -q -o one.trace generations/*.gen{1,4}.trace | head -n 1

echo '== not belonging'
rm -f one.trace
run gotrace merge -o one.trace procs/* go1.19-http.trace
run gotrace merge -o one.trace procs/*.p0.trace go1.25-empty.trace
run gotrace merge -o one.trace go1.26-gens.trace go1.26-user.trace
run gotrace merge -o one.trace generations/*.gen1.trace generations/*.gen[12].trace
run gotrace merge -o one.trace procs/* procs/*.p1.trace
gotrace dump procs/*.p1.trace | sed 's/^Frequency freq=/&1/' | gotrace synth -o faster.trace
run gotrace merge -o one.trace faster.trace procs/*.p{-1,0}.trace
run gotrace merge --frequency 7 -o one.trace procs/*.p{-1,0}.trace
gotrace split --by generation -o other go1.25-empty.trace
run gotrace merge -o one.trace generations/*.gen2.trace go1.26-user.trace
run gotrace merge -o one.trace procs/*.p0.trace threads
echo text >text
run gotrace merge -o one.trace procs/*.p0.trace text
run gotrace merge -o one.trace /dev/null
ls one.trace 2>&1

echo '== damaged'
for cut in 100 5000; do
    for by in thread generation; do
        head -c -$cut go1.26-gens.trace >cut.trace
        run gotrace split -q --by $by -o cut-$by cut.trace
    done
    head -c -$cut go1.21-http.trace >cut.trace
    run gotrace split -q --by proc -o cut-proc cut.trace
    ls cut-*
    gotrace merge -q -o one.trace cut-proc/* 2>/dev/null
    echo "=> $?"
    gotrace merge -q -o one.trace cut-thread/* 2>/dev/null
    echo "=> $?"
    rm -r cut-*
done
head -c 16 go1.26-gens.trace >empty.trace
run gotrace split --by thread -o none empty.trace
run gotrace split --by thread -o none text
run gotrace split --by thread -o none missing
ls none 2>&1

echo '== not split that way'
run gotrace split --by proc -o none go1.26-gens.trace
run gotrace split --by thread -o none go1.21-http.trace
run gotrace split --by generation -o none go1.21-http.trace
run gotrace split --by goroutine -o none go1.21-http.trace
run gotrace split -o none go1.21-http.trace
run gotrace split --by proc go1.21-http.trace
run gotrace merge
ls none 2>&1

echo '== all or none'
run gotrace split --by generation -o generations go1.26-gens.trace
rm generations/*.gen[123].trace
run gotrace split --by generation -o generations go1.26-gens.trace
ls -A generations
run gotrace split --force --by generation -o generations go1.26-gens.trace
ls -A generations
run gotrace split --by generation -o text go1.26-gens.trace
run gotrace split --by generation -o no/where go1.26-gens.trace
