# shellcheck shell=bash
# Faults that Go's reader accepts in a trace of Go 1.22 and later, and that are reported as warnings.
sample go1.26-gens.trace gens.trace
sample go1.26-prof.trace prof.trace
gotrace dump gens.trace >gens
gotrace dump prof.trace >prof

# changed NAME SCRIPT SED-EXPRESSION: the output of validate for the changed script.
changed() {
    sed "$3" "$2" >"$1"
    cmp -s "$1" "$2" && echo "nothing was changed for $1"
    gotrace synth -o "$1.trace" "$1" && run gotrace validate -v "$1.trace" | grep -v ' s, '
}

changed left_out gens '724,1222d'
changed monotonic gens 's/mono=6559023576875/mono=6558023576875/'
changed wall gens '1226s/nsec=364850251/nsec=304850251/'
changed threads gens 's/m=16612 time=102484010124/m=16612 time=102484000000/'
changed no_name gens '73s/name_string=27/name_string=28/; 96s/name_string=27/name_string=28/'
changed sample prof 's/\(^CPUSample .*p=1 g=27 stack=\)52/\199/'

# That is an error: Go's reader stops there.
cat gens.trace prof.trace >two.trace
run gotrace validate two.trace
