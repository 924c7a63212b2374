# shellcheck shell=bash
# A damaged trace gives a valid one.
for name in go1.26-gens go1.21-http go1.22-gens; do sample $name.trace; done

echo '== a sound trace comes out as it is'
run gotrace repair -o good.trace go1.26-gens.trace
cmp good.trace go1.26-gens.trace

echo '== cut off'
head -c 12000 go1.26-gens.trace >cut.trace
run gotrace repair -o good.trace cut.trace | grep -v placeholder
run gotrace validate good.trace
head -c 12000 go1.21-http.trace >cut.trace
run gotrace repair -o good.trace cut.trace | grep -v placeholder
run gotrace validate good.trace

echo '== something else within'
{ head -c 6000 go1.21-http.trace; head -c 500 /dev/zero; tail -c +6001 go1.21-http.trace; } >zeros.trace
run gotrace repair --json -o good.trace zeros.trace | grep -v placeholder
run gotrace validate -q good.trace

echo '== no header'
tail -c +17 go1.22-gens.trace >headless.trace
run gotrace repair -o good.trace headless.trace
cmp good.trace go1.22-gens.trace

echo '== several'
cat go1.26-gens.trace go1.21-http.trace go1.26-gens.trace >several.trace
run gotrace repair -o good.trace several.trace
run gotrace repair --all -o good.trace several.trace
ls good*
cmp good.trace go1.26-gens.trace
cmp good.2.trace go1.21-http.trace
cmp good.3.trace go1.26-gens.trace

echo '== what cannot be repaired'
rm good*
echo text >text
run gotrace repair -o good.trace text
run gotrace repair -o good.trace /dev/null
run gotrace repair --all cut.trace
run gotrace repair --json cut.trace
run gotrace repair -o good.trace missing.trace
ls
